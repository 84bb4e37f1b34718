package strategies_test

import (
	"slices"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

// On a real Redis Cluster, too, the strategies that use Redis hold what they promise over
// two processes, and what is shipped to break breaks: what a strategy keeps of a SKU in
// several keys is on one node. make verify has the whole suite there, and on three shards.
func TestSeveralRedis(t *testing.T) {
	topologies := []string{lab.Cluster}
	if labtest.Verify {
		topologies = append(topologies, lab.Ring)
	}
	for _, topology := range topologies {
		l := labtest.NewLab(t, topology, backend.NameRedis)
		for _, info := range strategies.All() {
			if !slices.Contains(info.Needs, backend.Redis) {
				continue
			}
			t.Run(topology+"/"+info.Name, func(t *testing.T) {
				t.Parallel() // most of the time is waiting
				config := labtest.WithRedisOf(t, l, info.Uses()...)
				if labtest.Verify {
					conform(t, info, config)
					return
				}
				h := newHarness(t, info, openTwo(t, config), calm(info))
				h.loadRun(t, 2, h.expected(t))
			})
		}
	}
}
