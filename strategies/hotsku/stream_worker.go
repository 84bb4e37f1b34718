package hotsku

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/tap"
)

const (
	// workEvery is how long an entry may lie whose buyer has gone.
	workEvery = time.Second
	// workAgain is when to look again after a buyer who leads: they stop when
	// their own order is written.
	workAgain = 20 * time.Millisecond
	// searchEvery is how often to look for streams of processes that died.
	searchEvery = time.Minute
)

// Work writes entries whose buyers do not wait for them, until ctx ends: those
// of this process, and those that it finds in Redis. What it leaves at the end
// stays in the stream, for others and for the next start.
func (s *redisStream) Work(ctx context.Context) {
	tick, again := time.NewTicker(workEvery), time.NewTimer(0)
	defer tick.Stop()
	defer again.Stop()
	for searched := (time.Time{}); ; {
		if time.Since(searched) > searchEvery {
			searched = time.Now()
			s.search(ctx)
		}
		select {
		case <-ctx.Done():
			s.finish(ctx)
			return
		case <-s.woken:
		case <-again.C:
		case <-tick.C:
		}
		if s.drainAll(ctx) {
			again.Reset(workAgain)
		}
	}
}

// wake has the worker look now.
func (s *redisStream) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// finish writes what this process has accepted last.
func (s *redisStream) finish(ctx context.Context) {
	ctx, cancel := tap.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer cancel()
	s.drainAll(ctx)
}

// noted leaves a SKU to the worker of this process.
func (s *redisStream) noted(sku int64) {
	s.waiting.mu.Lock()
	defer s.waiting.mu.Unlock()
	if s.waiting.used == nil {
		s.waiting.used = map[int64]bool{}
	}
	s.waiting.used[sku] = true
}

// drainAll visits the SKUs that were noted, and keeps those with entries left.
// led: a buyer of this process is writing for one of them.
func (s *redisStream) drainAll(ctx context.Context) (led bool) {
	s.waiting.mu.Lock()
	used := slices.Collect(maps.Keys(s.waiting.used))
	clear(s.waiting.used)
	s.waiting.mu.Unlock()
	for _, sku := range used {
		left, err := s.drain(ctx, sku)
		if left && !errors.Is(err, errForgotten) {
			s.noted(sku)
		}
		switch {
		case errors.Is(err, errLed):
			led = true
		case errors.Is(err, errForeign): // found by a search
		case err != nil && ctx.Err() == nil:
			s.deps.Log.WarnContext(ctx, "entries are not written",
				"sku", sku, "error", err)
		}
	}
	return led
}

// errLed: a buyer of this process leads.
var errLed = errors.New("a buyer writes for all")

// drain writes what can be read, unless a buyer does. left: there is more.
func (s *redisStream) drain(ctx context.Context, sku int64) (left bool, err error) {
	ws := s.waiting.enter(sku)
	defer s.waiting.leave(sku)
	for moved := true; moved; {
		if !ws.leadIdle() {
			return true, errLed
		}
		moved, err = s.round(ctx, ws, sku)
		ws.pass(nil)
		if err != nil {
			return true, err
		}
	}
	n, err := s.redis.XLen(ctx, beside(sku, "orders")).Result()
	return n > 0, err
}

// search notes every stream that Redis has.
func (s *redisStream) search(ctx context.Context) {
	scan := func(ctx context.Context, c *redis.Client) error {
		keys := c.Scan(ctx, 0, "{seckill:stream:*}:orders", 1000).Iterator()
		for keys.Next(ctx) {
			if sku, ok := skuOf(keys.Val()); ok {
				s.noted(sku)
			}
		}
		return keys.Err()
	}
	var err error
	switch c := s.redis.(type) {
	case *redis.ClusterClient:
		err = c.ForEachMaster(ctx, scan)
	case *redis.Ring:
		err = c.ForEachShard(ctx, scan)
	case *redis.Client:
		err = scan(ctx, c)
	}
	if err != nil && ctx.Err() == nil {
		s.deps.Log.WarnContext(ctx, "look for streams", "error", err)
	}
}

// skuOf reads the name of a stream's key.
func skuOf(key string) (sku int64, ok bool) {
	number, _ := strings.CutPrefix(key, "{seckill:stream:")
	number, ok = strings.CutSuffix(number, "}:orders")
	sku, err := strconv.ParseInt(number, 10, 64)
	return sku, ok && err == nil && key == beside(sku, "orders")
}
