package labtest

import (
	"context"
	"slices"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// NewLab starts a lab with a topology for one test only, so that the test may kill servers.
func NewLab(t testing.TB, topology string, backends ...string) *lab.Lab {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	l, err := lab.Start(ctx, lab.Options{Host: Host(), Backends: backends, Topology: topology})
	if err != nil {
		t.Fatalf("start %v with topology %s: %v (run: deploy/deps.sh)", backends, topology, err)
	}
	t.Cleanup(func() {
		if err := l.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}

// Nodes returns one configuration for each node of a lab's database. Clients with this configuration use this node.
func Nodes(t testing.TB, l *lab.Lab) []backend.Config {
	t.Helper()
	var each []backend.Config
	e := Value(l.Ensemble(t.Context(), backend.NameMySQL)).Must(t)
	for _, p := range e.Nodes {
		each = append(each, e.Config(l.Config(), p))
	}
	return each
}

// WithRedisOf returns the configuration of the shared lab with these capabilities, but with the Redis of the lab l.
func WithRedisOf(t testing.TB, l *lab.Lab, needs ...backend.Capability) backend.Config {
	t.Helper()
	others := slices.DeleteFunc(needs, func(c backend.Capability) bool { return c == backend.Redis })
	c, own := Config(t, others...), l.Config()
	c.RedisAddrs, c.RedisSentinels, c.RedisRing = own.RedisAddrs, own.RedisSentinels, own.RedisRing
	return c
}
