package backend_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
)

// ringOf starts so many shards, and opens an instance on them.
func ringOf(t *testing.T, n int) (*backend.Instance, backend.Config, map[string]*miniredis.Miniredis) {
	t.Helper()
	shards, c := map[string]*miniredis.Miniredis{}, backend.Config{}
	for i := range n {
		m := miniredis.RunT(t)
		m.RequireAuth("hidden")
		shards[m.Addr()] = m
		c.RedisRing = append(c.RedisRing, fmt.Sprintf("shard-%d=redis://:hidden@%s", i+1, m.Addr()))
	}
	in, err := backend.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in, c, shards
}

// Each key is on one shard, the one that ShardOf says, and keys of a SKU with a tag
// are together. All shards are used.
func TestAKeyIsOnOneShard(t *testing.T) {
	in, c, shards := ringOf(t, 3)
	used := map[string]int{}
	for sku := range 100 {
		key := fmt.Sprint("seckill:stock:", sku)
		beside := "{" + key + "}:buyers"
		for _, k := range []string{key, beside} {
			if err := in.Redis.Set(t.Context(), k, 1, 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		at, err := backend.ShardOf(c, key)
		if err != nil {
			t.Fatal(err)
		}
		used[at]++
		for host, m := range shards {
			if m.Exists(key) != (host == at) || m.Exists(beside) != (host == at) {
				t.Errorf("%s is of the shard at %s; that at %s has it: %t, and its companion: %t", key, at, host, m.Exists(key), m.Exists(beside))
			}
		}
	}
	if len(used) != 3 {
		t.Errorf("100 SKUs are on %v, want all three", used)
	}
	s := in.Status(t.Context())[0]
	if !s.OK || strings.Contains(s.Address, "hidden") || strings.Contains(s.Address, "redis://") || strings.Count(s.Address, "=") != 3 {
		t.Errorf("the status is %+v", s)
	}
}

// What spans shards is refused before anything is sent. By itself go-redis' Ring
// would answer, and wrongly: a script finds nothing under its second key, and a
// transaction becomes two.
func TestKeysOfSeveralShardsAreRefused(t *testing.T) {
	in, c, shards := ringOf(t, 3)
	first, other := "seckill:stock:1", ""
	at, _ := backend.ShardOf(c, first)
	for i := 2; other == ""; i++ {
		if key := fmt.Sprint("seckill:stock:", i); must(backend.ShardOf(c, key)) != at {
			other = key
		}
	}
	script := redis.NewScript("redis.call('INCR', KEYS[1]); return redis.call('INCR', KEYS[2])")
	for name, send := range map[string]func(a, b string) error{
		"script": func(a, b string) error { return script.Eval(t.Context(), in.Redis, []string{a, b}).Err() },
		"MULTI/EXEC": func(a, b string) error {
			_, err := in.Redis.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
				p.Incr(t.Context(), a)
				p.Incr(t.Context(), b)
				return nil
			})
			return err
		},
		"DEL":   func(a, b string) error { return in.Redis.Del(t.Context(), a, b).Err() },
		"BLPOP": func(a, b string) error { return in.Redis.BLPop(t.Context(), 1, a, b).Err() },
	} {
		if err := send(first, other); err == nil || !strings.Contains(err.Error(), "on different shards") {
			t.Errorf("%s on two shards: %v", name, err)
		}
	}
	for host, m := range shards {
		if m.Exists(first) || m.Exists(other) {
			t.Errorf("something was written at %s", host)
		}
	}
	if err := script.Eval(t.Context(), in.Redis, []string{first, "{" + first + "}:2"}).Err(); err != nil {
		t.Errorf("a script whose keys have the same tag: %v", err)
	}
}

func must(text string, err error) string {
	if err != nil {
		panic(err)
	}
	return text
}

// A service with another idea of the ring would look for locks elsewhere: it does
// not start. Another address of the same shard is no other ring.
func TestServicesAgreeAboutTheRing(t *testing.T) {
	_, c, _ := ringOf(t, 3)
	named := func(names ...string) backend.Config {
		other := c
		other.RedisRing = nil
		for i, name := range names {
			_, address, _ := strings.Cut(c.RedisRing[i], "=")
			other.RedisRing = append(other.RedisRing, name+"="+address)
		}
		return other
	}
	for _, wrong := range []backend.Config{named("shard-1", "shard-2"), named("shard-1", "shard-2", "c"), named("shard-2", "shard-1", "shard-3")} {
		in, err := backend.Open(t.Context(), wrong)
		if err == nil {
			in.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "all services must give the same --redis-ring") {
			t.Errorf("%v beside %v: %v", backend.ShowAddresses(wrong.RedisRing), backend.ShowAddresses(c.RedisRing), err)
		}
	}
	in, err := backend.Open(t.Context(), c)
	if err != nil {
		t.Fatalf("the same ring again: %v", err)
	}
	in.Close()
}

// A shard that is gone has its keys with it: they are refused, those of the others
// are served, and nothing is sent elsewhere.
func TestAShardThatIsGoneIsRefused(t *testing.T) {
	in, c, shards := ringOf(t, 3)
	key := "seckill:stock:1"
	gone := must(backend.ShardOf(c, key))
	shards[gone].Close()
	err := in.Redis.Incr(t.Context(), key).Err()
	if err == nil || !strings.Contains(err.Error(), "connect") {
		t.Errorf("a key of the shard that is gone: %v, want that it cannot be reached", err)
	}
	served := 0
	for i := range 20 {
		key := fmt.Sprint("seckill:stock:", i)
		if must(backend.ShardOf(c, key)) == gone {
			continue
		}
		served++
		if err := in.Redis.Incr(t.Context(), key).Err(); err != nil {
			t.Errorf("%s is of another shard: %v", key, err)
		}
	}
	if served == 0 {
		t.Error("no other shard was asked")
	}
	if s := in.Status(t.Context())[0]; s.OK || !strings.Contains(s.Error, "shard shard-") || !strings.Contains(s.Error, gone) {
		t.Errorf("the status is %+v, want that a shard does not answer", s)
	}
}
