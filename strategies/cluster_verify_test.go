//go:build verify

package strategies_test

import (
	"slices"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

// The suite once more, with a Redis Cluster of six in place of the one server.
func TestConformanceOnACluster(t *testing.T) {
	for i, info := range strategies.All() {
		if !slices.Contains(info.Needs, backend.Redis) {
			continue
		}
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			conform(t, info, labtest.OnCluster(t, info.Uses()...), int64(92_000+2*i))
		})
	}
}

// And with three shards of Redis: what a strategy keeps of a SKU in several keys
// must be on one of them.
func TestConformanceOnARing(t *testing.T) {
	l := labtest.Own(t, lab.Ring, backend.NameRedis)
	for i, info := range strategies.All() {
		if !slices.Contains(info.Needs, backend.Redis) {
			continue
		}
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			conform(t, info, labtest.On(t, l, info.Uses()...), int64(93_000+2*i))
		})
	}
}
