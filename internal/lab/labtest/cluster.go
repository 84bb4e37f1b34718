package labtest

import (
	"context"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// Cluster gives a lab whose Redis is a Cluster of six, beside the shared one
// and shared in the same way.
func Cluster(t testing.TB) *lab.Lab {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.cluster == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		l, err := lab.Start(ctx, lab.Options{Host: Host(), Backends: []string{backend.NameRedis}, Topology: lab.Cluster})
		if err != nil {
			t.Fatalf("start a Redis Cluster: %v (run: seckill deps)", err)
		}
		shared.cluster = l
	}
	return shared.cluster
}

// OnCluster is Config with the Cluster for its Redis.
func OnCluster(t testing.TB, needs ...backend.Capability) backend.Config {
	t.Helper()
	var others []backend.Capability
	for _, need := range needs {
		if need != backend.Redis {
			others = append(others, need)
		}
	}
	c := Config(t, others...)
	c.RedisAddrs = Cluster(t).Config().RedisAddrs
	return c
}
