package strategies_test

import (
	"slices"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

// On a real Redis Cluster, too, the strategies that use Redis hold what they promise
// over two processes, and what is shipped to break breaks: what a strategy keeps of
// a SKU in several keys is on one node.
func TestLoadRunOnACluster(t *testing.T) {
	processes := openTwo(t, labtest.On(t, labtest.Own(t, lab.Cluster, backend.NameRedis), backend.SQL, backend.Redis))
	for _, info := range strategies.All() {
		if !slices.Contains(info.Needs, backend.Redis) || len(info.Missing(processes[0])) > 0 {
			continue
		}
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel() // most of the time is waiting
			h := newHarness(t, info, processes, calm(info))
			h.loadRun(t, 2, h.expected(t))
		})
	}
}
