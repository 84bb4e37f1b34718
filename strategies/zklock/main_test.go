package zklock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"seckill/internal/backend"
	"seckill/internal/backend/backendtest"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// session is a process with a session of that length, within what the server
// allows.
func session(t testing.TB, info catalog.Info, address string, length time.Duration) *locktest.Process {
	t.Helper()
	in, err := open(t, address, length)
	labtest.Must(t, err)
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
	return locktest.On(t, in, info, catalog.Settings{})
}

// open tries again where the session of 100 ms ends before a busy server has
// answered.
func open(t testing.TB, address string, length time.Duration) (in *backend.Instance, err error) {
	for range 100 {
		in, err = backend.Open(t.Context(), backend.Config{ZooKeeperAddrs: []string{address}, ZooKeeperSession: length})
		if err == nil || t.Context().Err() != nil {
			break
		}
	}
	return in, err
}

func wired(t testing.TB, info catalog.Info, length time.Duration) (*locktest.Process, *backendtest.Wire) {
	t.Helper()
	w := backendtest.NewWire(t, labtest.Instance(t, backend.ZooKeeper).Config.ZooKeeperAddrs[0])
	return session(t, info, w.Addr, length), w
}

// contenders lists the nodes of those who hold a lock or wait for it, the
// first who came first.
func contenders(t testing.TB, c *backend.ZooKeeperClient, key string) (nodes []string) {
	t.Helper()
	stat, err := c.Exists(context.Background(), key)
	if err == nil && stat != nil && stat.EphemeralOwner != 0 {
		return []string{key}
	}
	names, _, err := c.Children(context.Background(), key)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		t.Fatal(err)
	}
	slices.SortFunc(names, func(a, b string) int {
		m, _ := sequence(a)
		n, _ := sequence(b)
		return int(m - n)
	})
	for _, name := range names {
		nodes = append(nodes, key+"/"+name)
	}
	return nodes
}

// A bench is a lock on an instance, and the ZooKeeper behind it.
type bench struct {
	*locktest.Process
	zk  *backend.ZooKeeperClient
	key string
}

func newBench(t *testing.T, info catalog.Info) *bench {
	t.Helper()
	return benchOn(t, locktest.Open(info)(t, catalog.Settings{}))
}

func benchOn(t *testing.T, p *locktest.Process) *bench {
	return &bench{p, p.In.ZooKeeper, "/test/locks/" + strings.ReplaceAll(t.Name(), "/", "-")}
}

// shortLived has the shortest session that the server allows, longLived one
// that outlasts every test.
func shortLived(t *testing.T) (*bench, *backendtest.Wire) {
	return throughWire(t, 100*time.Millisecond)
}
func longLived(t *testing.T) (*bench, *backendtest.Wire) { return throughWire(t, time.Minute) }

func throughWire(t *testing.T, length time.Duration) (*bench, *backendtest.Wire) {
	t.Helper()
	p, w := wired(t, ZK, length)
	return benchOn(t, p), w
}

func (b *bench) acquire(t *testing.T, wait time.Duration) lock.Lease {
	t.Helper()
	return locktest.Take(t, b, b.key, lock.Options{Wait: wait})
}

func (b *bench) contend(t *testing.T) *locktest.Waiter {
	t.Helper()
	return locktest.Contend(t, b, b.key, nil)
}

func (b *bench) queued(t *testing.T, n int) {
	t.Helper()
	locktest.Soon(t, fmt.Sprintf("%d nodes in the queue", n), func() bool { return len(contenders(t, b.zk, b.key)) == n })
}
