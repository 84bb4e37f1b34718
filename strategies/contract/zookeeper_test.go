package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
	"seckill/strategies/zklock"
)

// What ZooKeeper's locks do beyond the contract.

func zkLock(t *testing.T, info catalog.Info) *locktest.Process {
	t.Helper()
	return locktest.Open(t, info, catalog.Deps{})
}

// zkOnWire returns a process with a session that outlasts every test, behind a wire.
func zkOnWire(t *testing.T) (*locktest.Process, *labtest.Wire) {
	t.Helper()
	return inZooKeeper(t, zklock.ZK).Wire(t, settings(time.Minute))
}

func queued(t *testing.T, p *locktest.Process, n int) {
	t.Helper()
	labtest.Soon(t, fmt.Sprintf("%d nodes in the queue", n), func() bool { return len(contenders(t, p.In.ZooKeeper, p.Key)) == n })
}

// The connection breaks but the session does not end. Every waiter keeps its place.
func TestZooKeeperConnectionBreaks(t *testing.T) {
	b, wire := zkOnWire(t)
	l := b.Take(t, lock.Options{})
	next := b.Contend(t)
	wire.Cut()
	labtest.Soon(t, "the client notices", func() bool { return !b.In.ZooKeeper.Connected() })
	labtest.Check(t, l.Context().Err(), nil, "the lease, after a lost connection")
	err := l.Release(t.Context())
	wire.Pass()
	if err != nil && !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("releasing without a connection gave %v", err)
	}
	locktest.Free(t, locktest.In(t, next))
	queued(t, b, 0)
}

// An operator removes nodes. The waiters queue again, and the holder notices at its release.
func TestZooKeeperNodesRemovedByHand(t *testing.T) {
	for _, info := range []catalog.Info{zklock.ZK, zklock.ZKHerd, zklock.ZKFenced} {
		t.Run(info.Name, func(t *testing.T) {
			b, other := zkLock(t, info), zkLock(t, info)
			holder := b.Take(t, lock.Options{})
			waiter := other.Contend(t)
			// in this order no waiter becomes the first one
			for _, node := range slices.Backward(contenders(t, b.In.ZooKeeper, b.Key)) {
				labtest.Must(t, b.In.ZooKeeper.Delete(t.Context(), node))
			}
			next := locktest.In(t, waiter) // the waiters have queued again
			labtest.Check(t, holder.Release(t.Context()), lock.ErrNotHeld, "releasing what was cleared")
			if next.Fence() <= holder.Fence() {
				t.Errorf("the fencing token %d follows %d", next.Fence(), holder.Fence())
			}
			locktest.Free(t, next)
		})
	}
}

// A buyer gives up while the create is still on its way. The node is removed once it exists.
func TestZooKeeperCreateComesAfterItsBuyerHasLeft(t *testing.T) {
	for _, info := range []catalog.Info{zklock.ZK, zklock.ZKNode} {
		t.Run(info.Name, func(t *testing.T) {
			b, wire := inZooKeeper(t, info).Wire(t, settings(time.Minute))
			locktest.Free(t, b.Take(t, lock.Options{})) // makes the queue's directory
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			late := &taptest.Tap{OnBefore: func(c *tap.Command) error {
				if c.Name == "create" {
					wire.Freeze()
					time.AfterFunc(100*time.Millisecond, leave)
				}
				return nil
			}, OnAfter: func(_ *tap.Command, err error) error {
				wire.Pass()
				return err
			}}
			labtest.Value(b.Acquire(tap.With(ctx, late), b.Key, lock.Options{})).Check(t, context.Canceled,
				"a buyer who left")
			// this reply comes after all earlier ones: the server answers in order
			labtest.Value(b.In.ZooKeeper.Exists(t.Context(), "/")).Must(t)
			labtest.Same(t, len(contenders(t, b.In.ZooKeeper, b.Key)), 0, "the nodes that are left")
		})
	}
}

// The session ends while the answer that grants the lock is on its way. The buyer queues again in the next session.
func TestZooKeeperSessionEndsBeforeTheAnswer(t *testing.T) {
	for _, info := range []catalog.Info{zklock.ZK, zklock.ZKNode} {
		b, wire := inZooKeeper(t, info).Wire(t, settings(300*time.Millisecond))
		b.Key += info.Name
		labtest.Must(t, b.In.ZooKeeper.EnsurePath(t.Context(), b.Key[:strings.LastIndex(b.Key, "/")]))
		session := labtest.Value(b.In.ZooKeeper.Session(t.Context())).Must(t)
		created := 0
		ends := &taptest.Tap{OnAfter: func(c *tap.Command, err error) error {
			if c.Name == "create" && strings.Contains(c.Text, " ephemeral") && err == nil {
				created++
			}
			if created == 1 && (c.Name == "getChildren" || info.Name == zklock.ZKNode.Name) {
				wire.Freeze()
				<-session.Alive().Done()
				wire.Pass()
				labtest.Soon(t, "the next session", func() bool {
					next, err := b.In.ZooKeeper.Session(t.Context())
					return err == nil && next != session
				})
			}
			return err
		}}
		l, err := b.Acquire(tap.With(t.Context(), ends), b.Key, lock.Options{Wait: locktest.Patience})
		if err != nil || created < 2 {
			t.Errorf("%s: granted by node %d, %v; the session of the first has ended", info.Name, created, err)
			continue
		}
		_ = l.Release(t.Context()) // on a busy machine this session may have ended, too
	}
}

// limited fails its test if a command to ZooKeeper has no time limit.
type limited struct{ *testing.T }

func (l limited) Before(ctx context.Context, c *tap.Command) error {
	if _, has := ctx.Deadline(); !has && c.Backend == tap.ZooKeeper {
		l.Errorf("%s may take for ever", c.Text)
	}
	return nil
}

func (limited) After(_ context.Context, _ *tap.Command, err error) error { return err }

// If the server is silent, a wait with a limit ends no later than a moment after its limit.
func TestZooKeeperCommandsOfAWaitHaveALimit(t *testing.T) {
	for _, info := range []catalog.Info{zklock.ZK, zklock.ZKNode} {
		b := zkLock(t, info)
		b.Key += info.Name
		l, err := b.Acquire(tap.With(t.Context(), limited{t}), b.Key, lock.Options{Wait: locktest.Patience})
		labtest.Must(t, err)
		locktest.Free(t, l)
	}
}

// The node ahead goes before it can be watched, more often than a connection may break. The
// contender must list the queue again each time.
func TestZooKeeperNodeAheadGoesBeforeItIsWatched(t *testing.T) {
	for info, atOnce := range map[*catalog.Info]int{&zklock.ZK: 5, &zklock.ZKNode: 1} {
		b := zkLock(t, *info)
		b.Key += info.Name
		others, node, flag := b.In.ZooKeeper, b.Key, int32(zk.FlagEphemeral)
		if atOnce > 1 {
			node, flag = b.Key+"/x-", zk.FlagEphemeralSequential
		}
		labtest.Must(t, others.EnsurePath(t.Context(), node[:strings.LastIndex(node, "/")]))
		var ahead []string
		left := 5
		goes := &taptest.Tap{OnBefore: func(c *tap.Command) error {
			switch {
			case c.Name == "create":
				for range min(left, atOnce) {
					made := labtest.Value(others.Create(t.Context(), node, nil, flag)).Must(t)
					ahead, left = append(ahead, made), left-1
				}
			case c.Name == "getData":
				last := len(ahead) - 1
				labtest.Must(t, others.Delete(t.Context(), ahead[last]))
				ahead = ahead[:last]
			}
			return nil
		}}
		l, err := b.Acquire(tap.With(t.Context(), goes), b.Key, lock.Options{Wait: locktest.Patience})
		if err != nil || left+len(ahead) > 0 {
			t.Fatalf("%s: with %d others to come and %d there: %v", info.Name, left, len(ahead), err)
		}
		locktest.Free(t, l)
	}
}

// One release makes one waiter of zk list the queue, and every waiter of zk-herd.
func TestZooKeeperHerdWakesEverybody(t *testing.T) {
	const waiters = 5
	for info, want := range map[*catalog.Info]int32{&zklock.ZK: 1, &zklock.ZKHerd: waiters} {
		b := zkLock(t, *info)
		b.Key += info.Name
		var looks, waits atomic.Int32
		b.Waiting = func(c *tap.Command) bool {
			if c.Name == "getChildren" {
				looks.Add(1)
			}
			if locktest.PassesTap(c) {
				waits.Add(1)
			}
			return locktest.PassesTap(c)
		}
		wait := func(n int32) {
			labtest.Soon(t, fmt.Sprint(n, " waits"), func() bool { return waits.Load() == n })
		}
		holder, begun := b.Take(t, lock.Options{}), int32(0)
		var line []*locktest.Waiter
		for i := range int32(waiters) {
			line = append(line, b.Contend(t))
			begun += 1 + i*(want-1)/(waiters-1) // a new contender also wakes the waiters of zk-herd
			wait(begun)
		}
		before := looks.Load()
		locktest.Free(t, holder)
		first := locktest.In(t, line[0])
		wait(begun + want - 1)
		labtest.Same(t, looks.Load()-before, want, "%s: looks at the queue for one release", info.Name)
		for _, w := range line[1:] {
			w.Leave()
		}
		locktest.Free(t, first)
	}
}
