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

func TestContract(t *testing.T) {
	const can = locktest.Tells | locktest.Undoes | locktest.Decides
	const queue = can | locktest.Queues | locktest.Reenters | locktest.Fences
	for _, c := range []struct {
		info   catalog.Info
		can    locktest.Can
		breaks []locktest.Promise
	}{
		{ZK, queue, nil},
		{ZKNoRecheck, can | locktest.Reenters, []locktest.Promise{locktest.GivingUp}},
		{ZKHerd, queue, nil},
		{ZKNode, can, []locktest.Promise{locktest.Owner}},
		{ZKFenced, queue, nil},
	} {
		t.Run(c.info.Name, func(t *testing.T) {
			operator := labtest.Instance(t, backend.ZooKeeper).ZooKeeper
			h := locktest.Harness{
				Key: "/test/locks/" + c.info.Name, Can: c.can, Breaks: c.breaks, Lease: 100 * time.Millisecond,
				Open: func(t testing.TB, s catalog.Settings) *locktest.Process {
					return session(t, c.info, labtest.Instance(t, backend.ZooKeeper).Config.ZooKeeperAddrs[0], s.LockLease)
				},
				Wire: func(t testing.TB, s catalog.Settings) (*locktest.Process, *backendtest.Wire) {
					return wired(t, c.info, s.LockLease)
				},
				Seen: func(t testing.TB, key string) []string { return contenders(t, operator, key) },
				End: func(t testing.TB, key string, _ lock.Lease) func() {
					return func() {
						if names := contenders(t, operator, key); len(names) > 0 {
							_ = operator.Delete(context.Background(), names[0])
						}
					}
				},
				Foreign: []locktest.Foreign{{Name: "another client", Take: func(t testing.TB, key string) (func(), bool) {
					return takeNode(t, operator, key, c.info.Name == ZKNode.Name)
				}}},
			}
			if c.info.Name == ZK.Name {
				h.Commands = []string{"CREATE", "GETCHILDREN", "DELETE"}
			}
			t.Parallel()
			locktest.Run(t, h)
		})
	}
}

// session is a process with a session of that length, within what the server
// allows.
func session(t testing.TB, info catalog.Info, address string, length time.Duration) *locktest.Process {
	t.Helper()
	in, err := open(t, address, length)
	if err != nil {
		t.Fatal(err)
	}
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

// takeNode locks as another client would: a name of its own in the queue, or
// the node itself.
func takeNode(t testing.TB, c *backend.ZooKeeperClient, key string, single bool) (free func(), ok bool) {
	t.Helper()
	ctx := context.Background()
	node, parent, flag := key+"/x-216-", key, int32(zk.FlagEphemeralSequential)
	if single {
		node, parent, flag = key, key[:strings.LastIndex(key, "/")], zk.FlagEphemeral
	}
	if err := c.EnsurePath(ctx, parent); err != nil {
		t.Fatal(err)
	}
	node, err := c.Create(ctx, node, nil, flag)
	if errors.Is(err, zk.ErrNodeExists) {
		return nil, false
	}
	if err != nil {
		t.Fatal(err)
	}
	free = func() { _ = c.Delete(ctx, node) }
	if contenders(t, c, key)[0] != node {
		free()
		return nil, false
	}
	return free, true
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
