package lab

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"seckill/internal/backend"
)

// A caller whose context ends does not wait for another caller's start. A failed start leaves no server behind, and the
// next start succeeds.
func TestAStartThatFails(t *testing.T) {
	l := empty(t)
	begun, goOn := make(chan struct{}), make(chan struct{})
	l.topology.start = map[string]startFunc{backend.NameRedis: func(l *Lab, ctx context.Context, k kind, program Program) (*Ensemble, error) {
		_, err := k.start(ctx, program, 2)
		close(begun)
		<-goOn
		return nil, errors.Join(err, errors.New("they elect no leader"))
	}}
	failed := make(chan error, 1)
	go func() { failed <- l.Add(t.Context(), backend.NameRedis) }()
	<-begun
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := l.Add(gone, backend.NameEtcd); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has gone: %v, want %v", err, context.Canceled)
	}
	servers := l.Processes()
	close(goOn)
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "they elect no leader") || len(servers) != 2 {
		t.Errorf("%d servers were started, and then: %v", len(servers), err)
	}
	for _, p := range servers {
		if p.Alive() {
			t.Errorf("%s is left", p.Name)
		}
	}
	l.topology.start = nil
	if err := l.Add(t.Context(), backend.NameRedis); err != nil || len(l.Processes()) != 1 || !l.Backends()[0].OK {
		t.Errorf("the next start: %v, %+v", err, l.Backends())
	}
}

// A lab chooses no port that the system may give to outgoing connections, because such a connection could connect to
// itself while the server is down. It chooses no port of another lab.
func TestPortsOfALab(t *testing.T) {
	seen := map[int]bool{}
	for range 2 {
		l := empty(t)
		many, err := l.freePorts(300)
		check(t, err)
		for _, port := range many {
			if port < 1024 || port >= 32768 || seen[port] {
				t.Fatalf("port %d: want one below 32768 that neither lab has yet", port)
			}
			seen[port] = true
		}
	}
}

// empty returns a lab without servers.
func empty(t *testing.T) *Lab {
	t.Helper()
	folder, err := os.MkdirTemp("", "lab") // short, unlike t.TempDir, for sockets
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	l, err := Start(t.Context(), Options{Host: Host{Temp: folder}, Backends: []string{}})
	check(t, err)
	t.Cleanup(func() { l.Stop(context.Background()) })
	return l
}

// check ends a test if err is not nil. This package cannot use labtest.Must, because labtest imports it.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
