package labtest

import (
	"context"
	"slices"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// Own starts a lab for one test, with backends of several servers. What the test
// loses changes it, so it is not shared.
func Own(t testing.TB, topology string, backends ...string) *lab.Lab {
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

// Nodes are the configurations of clients at each node of a lab's database.
func Nodes(t testing.TB, l *lab.Lab) (each []backend.Config) {
	t.Helper()
	e, err := l.Ensemble(t.Context(), backend.NameMySQL)
	Must(t, err)
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
