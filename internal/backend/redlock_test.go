package backend_test

import (
	"testing"

	"github.com/alicebob/miniredis/v2"

	"seckill/internal/backend"
)

// A process starts with a majority of the nodes, and not with less.
func TestRedlockOpensWithAMajority(t *testing.T) {
	var addrs []string
	var nodes []*miniredis.Miniredis
	for range 5 {
		m := miniredis.RunT(t)
		nodes, addrs = append(nodes, m), append(addrs, m.Addr())
	}
	config := backend.Config{SQLitePath: t.TempDir() + "/ledger.db", RedlockAddrs: addrs}
	for down := range 4 {
		if down > 0 {
			nodes[down-1].Close()
		}
		in, err := backend.Open(t.Context(), config)
		if (err == nil) != (down <= 2) {
			t.Errorf("%d of five nodes down: %v", down, err)
		}
		if err != nil {
			continue
		}
		if ok, why := in.Config.Has(backend.RedisQuorum); !ok {
			t.Errorf("%d of five nodes down: %s", down, why)
		}
		in.Close()
	}
}
