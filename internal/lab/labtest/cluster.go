package labtest

import (
	"context"
	"slices"
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
			t.Fatalf("start a Redis Cluster: %v (run: deploy/deps.sh)", err)
		}
		shared.cluster = l
	}
	return shared.cluster
}

// OnCluster is Config with the Cluster for its Redis.
func OnCluster(t testing.TB, needs ...backend.Capability) backend.Config {
	t.Helper()
	return On(t, Cluster(t), needs...)
}

// Own starts a lab for one test, with a backend of several servers. What the test
// loses changes it, so it is not shared.
func Own(t testing.TB, topology, name string) *lab.Lab {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	l, err := lab.Start(ctx, lab.Options{Host: Host(), Backends: []string{name}, Topology: topology})
	if err != nil {
		t.Fatalf("start %s with topology %s: %v (run: deploy/deps.sh)", name, topology, err)
	}
	t.Cleanup(func() {
		if err := l.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}

// Nodes are the configurations of clients at each node of a lab's database.
func Nodes(t testing.TB, l *lab.Lab) (each []backend.Config) {
	t.Helper()
	e, err := l.Ensemble(t.Context(), backend.NameMySQL)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range e.Nodes {
		each = append(each, e.Config(l.Config(), p))
	}
	return each
}

// On is what is needed, with the Redis of another lab.
func On(t testing.TB, l *lab.Lab, needs ...backend.Capability) backend.Config {
	t.Helper()
	return l.Config().Or(Config(t, slices.DeleteFunc(needs, func(c backend.Capability) bool { return c == backend.Redis })...))
}
