package lab

import (
	"context"
	"os"
	"testing"
)

// A port that the system may give to an outgoing connection can connect to itself while
// its server is down; one that another lab has chosen is its own.
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

// empty is a lab without servers.
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

// check ends a test of this package, which labtest imports, if what it needs has failed.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
