package strategies_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/probe"
	"seckill/strategies/counter"
	"seckill/strategies/redislock"
)

// A shard that comes back empty has forgotten its locks and counters: a held lock is
// granted again, and the row has to refuse its first holder. A counter that is gone is
// not made up: nothing is sold from it.
func TestALostShardForgets(t *testing.T) {
	l := labtest.Own(t, lab.Ring, backend.NameRedis)
	config := labtest.On(t, l, backend.SQL, backend.Redis)
	config.RedisTimeout = 2 * time.Second
	processes := openTwo(t, config)
	patient := catalog.Settings{LockTimes: catalog.LockTimes{LockWait: time.Minute, LockLease: 2 * time.Minute, LockPoll: 10 * time.Millisecond}}
	const stock = 5
	lost, sku := shardOf(t, config, "seckill:stock:97101"), int64(97_100)
	made := func(info catalog.Info) *forgetting {
		for sku++; shardOf(t, config, fmt.Sprint("seckill:stock:", sku)) != lost || shardOf(t, config, probe.Key(info, sku)) != lost; {
			sku++
		}
		f := &forgetting{harness: newHarness(t, info, processes, patient, sku)}
		f.reset(t, stock)
		return f
	}
	alone, withRow := made(counter.RedisCounter), made(counter.RedisCounterMySQL)
	locks := []*forgetting{made(redislock.RedisLua), made(redislock.RedisFenced)}
	for _, f := range []*forgetting{alone, withRow} {
		for user := range int64(3) {
			f.sell(t, user+1)
		}
	}
	for _, f := range locks {
		f.hold(t)
	}

	happened, err := fault.In(l).Inject(t.Context(), fault.LoseShard, fault.Aim{Shard: lost})
	labtest.Must(t, err)
	if effect, err := happened.Undo(t.Context()); err != nil || !effect.Took {
		t.Fatalf("the loss came to %+v, %v", effect, err)
	}
	for _, in := range processes {
		writable(t, in, fmt.Sprint("seckill:stock:", alone.sku, "-not"), lost, config)
	}
	for _, f := range locks {
		f.grantedAgain(t, stock)
	}

	before := soldTo(alone)
	for _, f := range []*forgetting{alone, withRow} {
		f.sell(t, 10)
		for user := range int64(stock) {
			f.sell(t, user+20)
		}
	}
	if soldTo(alone) != before {
		t.Errorf("%s sold from a number that is gone: %+v", alone.info.Name, alone.heard)
	}
	if n := soldTo(withRow); n != stock {
		t.Errorf("%s sold %d of %d: %+v", withRow.info.Name, n, stock, withRow.heard)
	}
}

func shardOf(t *testing.T, c backend.Config, key string) string {
	t.Helper()
	host, err := backend.ShardOf(c, key)
	labtest.Must(t, err)
	return host
}

func soldTo(f *forgetting) (n int) {
	for _, told := range f.heard {
		if sold(told) {
			n++
		}
	}
	return n
}

// writable waits until a key that was on the lost shard can be written.
func writable(t *testing.T, in *backend.Instance, like, lost string, c backend.Config) {
	t.Helper()
	key := like
	for i := 0; shardOf(t, c, key) != lost; i++ {
		key = fmt.Sprint(like, i)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for in.Redis.Set(ctx, key, 1, 0).Err() != nil {
		if ctx.Err() != nil {
			t.Fatal("a minute later keys of the lost shard cannot be written")
		}
	}
}
