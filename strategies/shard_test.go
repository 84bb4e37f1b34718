package strategies_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/probe"
	"seckill/strategies/counter"
	"seckill/strategies/redislock"
)

// A shard that comes back empty has forgotten its locks and counters. One that
// stands still has not, but where clients send its keys to other shards meanwhile,
// those know nothing of them either. Both ways a held lock is granted again, and
// the row has to refuse its first holder. A counter that is gone is not made up:
// nothing is sold from it.
func TestALostShardForgets(t *testing.T) {
	for _, c := range []struct {
		topology string
		fault    fault.Name
		moves    bool // keys go to other shards while the fault lasts
	}{{lab.Ring, fault.LoseShard, false}, {lab.RingRehash, fault.PauseShard, true}} {
		t.Run(c.topology, func(t *testing.T) {
			l := labtest.Own(t, c.topology, backend.NameRedis)
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

			happened, err := fault.In(l).Inject(t.Context(), c.fault, fault.Aim{Shard: lost})
			if err != nil {
				t.Fatal(err)
			}
			undo := func() {
				if effect, err := happened.Undo(t.Context()); err != nil || !effect.Took {
					t.Fatalf("%s came to %+v, %v", c.fault, effect, err)
				}
			}
			if !c.moves {
				undo()
			}
			for _, in := range processes {
				writable(t, in, fmt.Sprint("seckill:stock:", alone.sku, "-not"), lost, config)
			}
			for _, f := range locks {
				f.sell(t, 2) // the lock is free, and its holder has not let go
				if !slices.ContainsFunc(f.heard, sold) {
					t.Errorf("%s: after the loss the next buyer was told %v, want that they buy", f.info.Name, f.heard)
				}
				close(f.pause.end)
				f.heard = append(f.heard, <-f.late)
				f.judged(t, stock, f.info.Name == redislock.RedisLua.Name, ledger.RuleLostUpdate)
			}

			before := soldTo(alone)
			alone.sell(t, 10)
			if soldTo(alone) != before {
				t.Errorf("%s sold from a number that is gone: %+v", alone.info.Name, alone.heard)
			}
			withRow.sell(t, 10)
			if c.moves {
				undo()
				for _, in := range processes {
					home(t, in, lost, config)
				}
			}
			for _, f := range []*forgetting{alone, withRow} {
				for user := range int64(stock) {
					f.sell(t, user+20)
				}
				if n, want := soldTo(f), stock; f == withRow && n != want || n > want {
					t.Errorf("%s sold %d of %d: %+v", f.info.Name, n, want, f.heard)
				}
			}
			if n := soldTo(alone); (n == stock) != c.moves { // its number comes back with the shard that stood still
				t.Errorf("%s sold %d of %d afterwards", alone.info.Name, n, stock)
			}
		})
	}
}

func shardOf(t *testing.T, c backend.Config, key string) string {
	t.Helper()
	host, err := backend.ShardOf(c, key)
	if err != nil {
		t.Fatal(err)
	}
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
	until(t, "keys of the lost shard can be written", func(ctx context.Context) bool {
		return in.Redis.Set(ctx, key, 1, 0).Err() == nil
	})
}

// home waits until the keys of the shard that was lost are looked for there.
func home(t *testing.T, in *backend.Instance, lost string, c backend.Config) {
	t.Helper()
	key := "seckill:ring:home"
	for i := 0; shardOf(t, c, key) != lost; i++ {
		key = fmt.Sprint("seckill:ring:home", i)
	}
	direct, err := backend.Open(t.Context(), backend.Config{RedisAddrs: []string{addressOf(c, lost)}})
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	if err := direct.Redis.Set(t.Context(), key, "home", 0).Err(); err != nil {
		t.Fatal(err)
	}
	until(t, "keys are looked for at the shard that is back", func(ctx context.Context) bool {
		return in.Redis.Get(ctx, key).Val() == "home"
	})
}

// until waits for what other goroutines bring about.
func until(t *testing.T, what string, so func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !so(ctx) {
		if ctx.Err() != nil {
			t.Fatalf("a minute later it is not so that %s", what)
		}
	}
}

// addressOf is the address of a shard, with its password.
func addressOf(c backend.Config, host string) string {
	for _, shard := range c.RedisRing {
		if _, address, _ := strings.Cut(shard, "="); strings.HasSuffix(address, host) {
			return address
		}
	}
	return host
}
