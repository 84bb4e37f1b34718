package redislock

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/backend/backendtest"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/tap"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

func TestContract(t *testing.T) {
	const leased, told = locktest.Expires, locktest.Expires | locktest.Tells | locktest.Undoes
	nobody := []locktest.Promise{locktest.Exclusion}
	anybody := []locktest.Promise{locktest.Owner} // DEL frees whoever's lock it is
	for _, c := range []struct {
		info   catalog.Info
		can    locktest.Can
		breaks []locktest.Promise
	}{
		{RedisGetSet, locktest.Clears, nobody},
		{RedisRandomKey, 0, nobody},
		{RedisSetNX, locktest.Clears, append(anybody, locktest.Death, locktest.LostReply)},
		{RedisSetNXExpire, leased | locktest.Clears, append(anybody, locktest.LostReply)},
		{RedisSetEX, leased, nobody},
		{RedisSetNXTimestamp, leased | locktest.Clears, append(anybody, locktest.Overtaking)},
		{RedisGETSET, leased | locktest.Clears, anybody},
		{RedisSetNXPX, leased, anybody},
		{RedisRenew, leased | locktest.Renews | locktest.Limits,
			append(anybody, locktest.RenewalLost, locktest.RenewalFails)},
		{RedisToken, leased, anybody},
		{RedisLua, told | locktest.Decides, nil},
		{RedisRegistry, told | locktest.Reenters, nil},
		{RedisWatchdog, told | locktest.Renews | locktest.Limits | locktest.Reenters, nil},
		// Renewed at two thirds, so one renewal that fails is one too many.
		{RedisBLPOP, told | locktest.Renews | locktest.Limits, []locktest.Promise{locktest.RenewalFails}},
		{Redsync, told | locktest.Renews | locktest.Decides, nil},
		{Redlock, leased | locktest.Tells, nil},
		{RedisMultiLock, leased, anybody},
		{RedisFenced, told | locktest.Fences | locktest.Decides, nil},
	} {
		if c.info.Name == Redlock.Name && !labtest.Verify {
			continue // its time-outs are short for a machine that is busy with other tests
		}
		t.Run(c.info.Name, func(t *testing.T) {
			h := harness(t, c.info)
			h.Can, h.Breaks = c.can, c.breaks
			if !h.Alone {
				t.Parallel()
			}
			locktest.Run(t, h)
		})
	}
}

func harness(t *testing.T, info catalog.Info) locktest.Harness {
	in := labtest.Instance(t, info.Needs...)
	nodes := []redis.UniversalClient{in.Redis}
	h := locktest.Harness{Key: "test:" + info.Name, Open: locktest.Open(info), Lease: 300 * time.Millisecond}
	switch info.Name {
	case Redlock.Name:
		nodes, h.Lease, h.Alone = nil, 4*time.Second, true // of which a node gets a twentieth
		for _, n := range in.RedisNodes {
			nodes = append(nodes, n)
		}
	case RedisBLPOP.Name:
		h.Waiting = func(c *tap.Command) bool { return c.Backend == tap.Waiting || strings.EqualFold(c.Name, "BLPOP") }
	case Redsync.Name:
		h.Lease = 2 * time.Second // of which an attempt gets a quarter
		h.Commands, h.Wire = []string{"SET", "EVALSHA"}, wired
	case RedisSetNX.Name:
		h.Lease = 0
	}
	h.Seen = func(t testing.TB, key string) (seen []string) {
		for _, n := range nodes {
			value, err := n.Dump(context.Background(), key).Result()
			if err == nil {
				seen = append(seen, value)
			} else if !errors.Is(err, redis.Nil) {
				t.Fatal(err)
			}
		}
		return seen
	}
	h.End = func(_ testing.TB, key string, _ lock.Lease) func() {
		return func() {
			for _, n := range nodes {
				if info.Name == RedisSetNXTimestamp.Name || info.Name == RedisGETSET.Name {
					n.Set(context.Background(), key, 1, 0) // an end long past
				} else {
					n.Del(context.Background(), key)
				}
			}
		}
	}
	h.Foreign = []locktest.Foreign{
		{Name: "a key of another type", Take: takeOn(nodes, func(n redis.UniversalClient, key string) bool {
			return n.LPush(context.Background(), key, "waiter").Err() == nil
		})},
		{Name: "another program's text", Take: takeOn(nodes, func(n redis.UniversalClient, key string) bool {
			return n.SetNX(context.Background(), key, "another's", 0).Val()
		})},
	}
	return h
}

// takeOn takes a key on the majority of nodes.
func takeOn(nodes []redis.UniversalClient, take func(n redis.UniversalClient, key string) bool) func(testing.TB, string) (func(), bool) {
	return func(_ testing.TB, key string) (free func(), ok bool) {
		var taken []redis.UniversalClient
		for _, n := range nodes {
			if take(n, key) {
				taken = append(taken, n)
			}
		}
		return func() {
			for _, n := range taken {
				n.Del(context.Background(), key)
			}
		}, len(taken) > len(nodes)/2
	}
}

func wired(t testing.TB, s catalog.Settings) (*locktest.Process, *backendtest.Wire) {
	wire, address := backendtest.NewRedisWire(t, labtest.Instance(t, backend.Redis).Config.RedisAddrs[0])
	in, err := backend.Open(t.Context(), backend.Config{RedisAddrs: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return locktest.On(t, in, Redsync, s), wire
}

// A renewer that finds the key gone does not set it anew, and ends.
func TestRenewerEnds(t *testing.T) {
	before := goroutines()
	p := locktest.Open(Redsync)(t, catalog.Settings{LockTimes: catalog.LockTimes{LockLease: 300 * time.Millisecond}})
	l := locktest.Take(t, p, "test:renewer", lock.Options{})
	if err := p.In.Redis.Del(t.Context(), "test:renewer").Err(); err != nil {
		t.Fatal(err)
	}
	if err := locktest.Lost(t, l); !errors.Is(err, lock.ErrLost) {
		t.Errorf("the renewer found the key gone, and the holder was told %v", err)
	}
	if p.In.Redis.Exists(t.Context(), "test:renewer").Val() != 0 {
		t.Error("the renewer set a key that was gone")
	}
	if err := l.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("releasing what is lost gave %v", err)
	}
	locktest.Soon(t, "no goroutine is left", func() bool { return goroutines() <= before })
}

func goroutines() (n int) {
	all := make([]byte, 1<<20)
	for one := range strings.SplitSeq(string(all[:runtime.Stack(all, true)]), "\n\n") {
		if strings.Contains(one, "redislock.(*redsync") {
			n++
		}
	}
	return n
}

// A Redis that comes back without its data has forgotten the lock: two hold it.
func TestRedisForgets(t *testing.T) {
	const key = "test:forgotten"
	p := locktest.Open(Redsync)(t, catalog.Settings{LockTimes: catalog.LockTimes{LockLease: time.Minute}})
	first := locktest.Take(t, p, key, lock.Options{Lease: time.Minute})
	process, err := labtest.Start(t, backend.Redis).Process(backend.NameRedis)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	var second lock.Lease
	locktest.Soon(t, "the lock is there again", func() bool {
		second, err = p.Acquire(t.Context(), key, lock.Options{Lease: time.Minute})
		return err == nil
	})
	if err := first.Context().Err(); err != nil {
		t.Errorf("the first holder's lease ended with %v, which Redis cannot have said", err)
	}
	if err := first.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("releasing what Redis forgot gave %v", err)
	}
	locktest.Free(t, second)
}

func BenchmarkRedsync(b *testing.B) {
	p := locktest.Open(Redsync)(b, catalog.Settings{LockTimes: catalog.LockTimes{LockLease: time.Minute}})
	locktest.Benchmark(b, p, "test:bench", tap.Redis)
}
