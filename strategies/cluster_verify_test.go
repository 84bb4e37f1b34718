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

// The suite once more, with a Redis Cluster of six in place of the one server, and with
// three shards: what a strategy keeps of a SKU in several keys must be on one of them.
func TestConformanceOnSeveralRedis(t *testing.T) {
	for _, topology := range []string{lab.Cluster, lab.Ring} {
		l := labtest.Own(t, topology, backend.NameRedis)
		for _, info := range strategies.All() {
			if !slices.Contains(info.Needs, backend.Redis) {
				continue
			}
			t.Run(topology+"/"+info.Name, func(t *testing.T) {
				t.Parallel()
				conform(t, info, labtest.On(t, l, info.Uses()...))
			})
		}
	}
}
