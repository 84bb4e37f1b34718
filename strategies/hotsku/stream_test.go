package hotsku

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// A streamed sale is a sale whose two processes share a stream.
type streamed struct {
	*sale
	of [2]*redisStream
}

func openStream(t *testing.T, info catalog.Info, stock int64) *streamed {
	t.Helper()
	s := &streamed{sale: open(t, info, stock)}
	for n, built := range s.Processes {
		s.of[n] = built.(*redisStream)
	}
	return s
}

// accepted leaves an entry in the stream for which no buyer waits.
func (s *streamed) accepted(t *testing.T, user, quantity int64) {
	t.Helper()
	if state, err := s.of[0].accept(t.Context(), s.Purchase(user, quantity)); state != "accepted" || err != nil {
		t.Fatalf("user %d: %q, %v", user, state, err)
	}
}

// drain makes a process write all entries that it can read.
func (s *streamed) drain(t *testing.T, process int) {
	t.Helper()
	for read := true; read; {
		var err error
		read, err = s.of[process].runRound(t.Context(), s.SKU, &round{states: map[string]string{}})
		labtest.Check(t, err, nil, "write the entries")
	}
}

// open returns the number of entries that are not settled.
func (s *streamed) open(t *testing.T) int64 {
	t.Helper()
	return labtest.Value(s.of[0].redis.XLen(t.Context(), companionKey(s.SKU, "orders")).Result()).Must(t)
}

// age makes all entries as old as a lease since they were read.
func (s *streamed) age(t *testing.T) {
	t.Helper()
	for _, p := range s.of {
		p.deps.Settings.LockLease = 0
	}
}

func (s *streamed) order(t *testing.T, user int64) (judge.Order, bool) {
	t.Helper()
	o, err := s.Store.FindRequest(t.Context(), s.SKU, user, s.Purchase(user, 1).RequestID)
	if err != nil && !errors.Is(err, seckill.ErrUnknownOrder) {
		t.Fatal(err)
	}
	return o, err == nil && o.Status != judge.Refused
}

// A process lives but cannot reach its database, so it keeps trying. After a lease, and not before,
// another process writes the entries that it has read.
func TestStreamTakesOverFromTheCutOff(t *testing.T) {
	s := openStream(t, RedisStream, 5)
	const lease = 500 * time.Millisecond
	for _, p := range s.of {
		p.deps.Settings.LockLease = lease
	}
	s.accepted(t, 1, 2)
	begun := time.Now()
	tries := 0
	for left := true; left; tries++ {
		if time.Since(begun) > 20*lease {
			t.Fatalf("no process took the entry over in %s, and %d tries", time.Since(begun), tries)
		}
		if _, err := s.of[0].runRound(cutOff(t.Context()), s.SKU, &round{}); err == nil && tries == 0 {
			t.Fatal("the one that was cut off could write")
		}
		s.drain(t, 1)
		left = s.open(t) > 0
	}
	if took := time.Since(begun); took < lease || tries < 3 {
		t.Errorf("it was taken over after %s and %d tries, the lease is %s", took, tries, lease)
	}
	if o, ok := s.order(t, 1); !ok || o.Quantity != 2 {
		t.Errorf("the order is %+v, %v", o, ok)
	}
	s.Held(t)
}

// cutOff makes every transaction fail.
func cutOff(ctx context.Context) context.Context {
	cut := false
	return tap.With(ctx, &taptest.Tap{OnBefore: func(c *tap.Command) error {
		if cut = cut || c.Name == "BEGIN"; cut {
			return errors.New("cut off")
		}
		return nil
	}})
}

// A writer sleeps before its transaction. Another writer takes its entries over, and the database refuses them, because
// Redis had admitted too many buyers. When the first writer wakes, units are there again. It must not write entries
// that were refused, nor read some entries again and write one of those.
func TestStreamRefusalsHoldAgainstASleeper(t *testing.T) {
	s := openStream(t, RedisStream, 2)
	s.write(t, "UPDATE stock SET num = 0, initial = 0 WHERE id = ?")
	s.accepted(t, 2, 1)
	ctx := taptest.Before(t.Context(), "BEGIN", func() {
		s.age(t)
		s.drain(t, 1)
		if s.open(t) > 0 {
			t.Error("the entry was not taken over")
		}
		s.write(t, "UPDATE stock SET num = 2, initial = 2 WHERE id = ?")
	})
	labtest.Value(s.of[0].Deduct(ctx, s.Purchase(1, 1))).Check(t, seckill.ErrSoldOut, "what the stream remembers")
	if o, ok := s.order(t, 1); ok {
		t.Errorf("the request was refused and has an order: %+v", o)
	}
	s.Held(t)
	labtest.Value(s.of[0].Deduct(t.Context(), s.Purchase(1, 1))).Check(t, seckill.ErrSoldOut, "a copy")
	labtest.Value(s.of[0].Deduct(t.Context(), s.another(1, 1))).Check(t, nil, "another request of the user")
}

// A writer refuses an entry that another writer has taken over meanwhile. The other must not sell
// it, although the reason has passed. The same request may be accepted and sold afterwards.
func TestStreamRefusalsHoldAgainstASuccessor(t *testing.T) {
	s := openStream(t, RedisStream, 2)
	start := judge.MomentOf(time.Now().Add(time.Hour))
	s.Start = &start
	s.Reset(t, 2)
	s.accepted(t, 1, 1)
	s.age(t)
	var read [2]streamBatch
	for i, p := range s.of {
		read[i] = labtest.Value(p.readEntries(t.Context(), s.SKU, &round{states: map[string]string{}})).Must(t)
	}
	for i, p := range s.of {
		did, err := p.decideEntries(t.Context(), read[i])
		if err != nil || len(did) != 1 || did[0].state != "refused not_started" {
			t.Errorf("writer %d decided %+v, %v, want that the sale has not started", i, did, err)
		}
		p.settleEntries(t.Context(), read[i], did)
		s.write(t, "UPDATE stock SET starts_at = 1 WHERE id = ?")
	}
	s.accepted(t, 1, 1)
	// this process reads the entries and dies
	labtest.Value(s.of[0].readEntries(t.Context(), s.SKU, &round{states: map[string]string{}})).Must(t)
	s.drain(t, 1)
	if _, ok := s.order(t, 1); !ok {
		t.Error("the request was accepted after the start and has no order")
	}
	s.Held(t)
}

func (s *streamed) write(t *testing.T, statement string) {
	t.Helper()
	labtest.Value(s.Store.Write(t.Context(), statement, s.SKU)).Must(t)
}

// Redis has forgotten everything. The database decides, refusals bring units back, and no other
// purchase of the batch suffers.
func TestStreamOverAForgetfulRedis(t *testing.T) {
	s := openStream(t, RedisStream, 4)
	for user := range int64(3) {
		labtest.Value(s.Buy(t.Context(), user+1, 1)).Must(t)
	}
	labtest.Must(t, s.of[0].redis.Del(t.Context(), scriptKeys(s.SKU)...).Err())
	labtest.Must(t, s.of[0].seedStream(t.Context(), s.SKU))
	if err := s.of[0].redis.Set(t.Context(), streamKey(s.SKU), 4, 0).Err(); err != nil { // Redis has an old number
		t.Fatal(err)
	}
	var g errgroup.Group
	told := make([]error, 4)
	for i, user := range []int64{1, 4, 5, 6} {
		g.Go(func() error {
			_, told[i] = s.of[i%2].Deduct(t.Context(), s.another(user, 1))
			return nil
		})
	}
	_ = g.Wait()
	labtest.Check(t, told[0], seckill.ErrDuplicate, "user 1, who has an order")
	sold := 0
	for _, err := range told[1:] {
		if err == nil {
			sold++
		} else if !errors.Is(err, seckill.ErrSoldOut) {
			t.Error(err)
		}
	}
	labtest.Same(t, sold, 1, "how many of three bought the last unit")
	labtest.Same(t, s.of[0].redis.Get(t.Context(), streamKey(s.SKU)).Val(), "3", "the number (three of four came back)")
}

// If the order is not written in time, the outcome is unknown. The order comes later.
func TestStreamTimeIsUp(t *testing.T) {
	s := openStream(t, RedisStream, 2)
	readElsewhere := func() { // another consumer reads the entries and does not write them
		_, err := s.of[1].redis.XReadGroup(t.Context(), &redis.XReadGroupArgs{Group: "writers", Consumer: "another",
			Streams: []string{companionKey(s.SKU, "orders"), ">"}}).Result()
		labtest.Must(t, err)
	}
	s.accepted(t, 1, 1)
	readElsewhere()
	s.of[0].deps.Settings.LockWait = 30 * time.Millisecond
	labtest.Value(s.Buy(t.Context(), 1, 1)).Check(t, seckill.ErrUnknown, "the purchase")
	labtest.Value(s.of[0].Deduct(t.Context(), s.another(1, 1))).Check(t, seckill.ErrBusy,
		"the next request of the user")
	lease := s.of[0].deps.Settings.LockLease
	s.age(t)
	s.drain(t, 1)
	o, ok := s.order(t, 1)
	if !ok {
		t.Fatal("the order is not written")
	}
	s.of[0].deps.Settings.LockLease = lease
	_, err := s.of[0].runScript(t.Context(), streamCancel, s.SKU, o.Run, o.UserID, o.RequestID, o.Quantity, o.PublicID, true)
	labtest.Must(t, err)
	readElsewhere()
	labtest.Check(t, s.of[0].Restore(t.Context(), o.PublicID), seckill.ErrUnknown, "a cancellation")
	s.drain(t, 1)
	o, _ = s.order(t, 1)
	labtest.Same(t, o.Status, judge.Cancelled, "the order that was cancelled")
	s.Held(t)
}

// The worker writes entries for which no buyer waits, even those that a dead process had accepted.
func TestStreamWorker(t *testing.T) {
	s := openStream(t, RedisStream, 5)
	s.accepted(t, 1, 1) // accepted by a process that died before it could tell its worker
	var working sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	working.Go(func() { s.of[1].Work(ctx) })
	s.written(t, 1)
	s.accepted(t, 2, 1)
	s.of[1].leaveToWorker(s.SKU)
	s.written(t, 2)
	stop()
	working.Wait()
	s.Held(t)
}

// written waits until a user has an order.
func (s *streamed) written(t *testing.T, user int64) {
	t.Helper()
	labtest.Soon(t, fmt.Sprint("the order of user ", user), func() bool {
		_, ok := s.order(t, user)
		return ok
	})
}

// Redis loses everything, or only the epoch, or its number becomes a text. The missing keys are set again from the row.
func TestStreamIsRebuilt(t *testing.T) {
	s := openStream(t, RedisStream, 3)
	r := labtest.Value(s.Buy(t.Context(), 1, 1)).Must(t)
	lose := func() {
		labtest.Must(t, s.of[0].redis.Del(t.Context(), scriptKeys(s.SKU)...).Err())
	}
	s.write(t, "UPDATE stock SET fence = fence + 1 WHERE id = ?") // Redis has lost a takeover
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	labtest.Value(s.Buy(ctx, 2, 1)).Must(t)
	s.of[0].redis.Set(t.Context(), streamKey(s.SKU), "many", 0)
	labtest.Same(t, labtest.Value(s.Buy(ctx, 3, 1)).Must(t).Remaining, 0, "what remains of one in the row")
	labtest.Value(s.of[0].runScript(t.Context(), streamSeed, s.SKU, 3, s.Run-1, 0)).Same(t, int64(-1),
		"a late reset of the run before")
	s.Held(t)
	lose()
	for range 2 { // the second time, Redis does not know the first request any more
		labtest.Must(t, s.of[1].Restore(t.Context(), r.OrderID))
		s.Held(t)
		lose()
	}
}
