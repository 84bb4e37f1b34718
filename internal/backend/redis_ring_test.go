package backend_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
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
	labtest.Must(t, err)
	t.Cleanup(func() { in.Close() })
	return in, c, shards
}

// Each key is on one shard, and keys of a SKU with a tag are together. All shards are used.
func TestAKeyIsOnOneShard(t *testing.T) {
	in, _, shards := ringOf(t, 3)
	used := map[string]int{}
	for sku := range 100 {
		key := fmt.Sprint("seckill:stock:", sku)
		beside := "{" + key + "}:buyers"
		for _, k := range []string{key, beside} {
			labtest.Must(t, in.Redis.Set(t.Context(), k, 1, 0).Err())
		}
		var at []string
		for host, m := range shards {
			if m.Exists(key) != m.Exists(beside) {
				t.Errorf("the shard at %s has %s: %t, and its companion: %t", host, key, m.Exists(key), m.Exists(beside))
			}
			if m.Exists(key) {
				at = append(at, host)
			}
		}
		if len(at) != 1 {
			t.Fatalf("%s is on the shards %v, want one", key, at)
		}
		used[at[0]]++
	}
	if len(used) != 3 {
		t.Errorf("100 SKUs are on %v, want all three", used)
	}
	s := in.Status(t.Context())[0]
	if !s.OK || strings.Contains(s.Address, "hidden") || strings.Contains(s.Address, "redis://") || strings.Count(s.Address, "=") != 3 {
		t.Errorf("the status is %+v", s)
	}
}
