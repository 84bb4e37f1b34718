package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// zkOnWire has a session that outlasts every test.
func zkOnWire(t *testing.T) (*locktest.Process, *labtest.Wire) {
	t.Helper()
	return inZooKeeper(t, zklock.ZK).Wire(t, settings(time.Minute))
}

func queued(t *testing.T, p *locktest.Process, n int) {
	t.Helper()
	locktest.Soon(t, fmt.Sprintf("%d nodes in the queue", n), func() bool { return len(contenders(t, p.In.ZooKeeper, p.Key)) == n })
}

// The connection breaks, the session does not: every waiter keeps its place.
func TestZooKeeperConnectionBreaks(t *testing.T) {
	b, wire := zkOnWire(t)
	l := b.Take(t, lock.Options{})
	next := b.Contend(t)
	wire.Cut()
	locktest.Soon(t, "the client notices", func() bool { return !b.In.ZooKeeper.Connected() })
	if l.Context().Err() != nil {
		t.Error("a lost connection ended the lease")
	}
	err := l.Release(t.Context())
	wire.Pass()
	if err != nil && !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("releasing without a connection gave %v", err)
	}
	locktest.Free(t, locktest.In(t, next))
	queued(t, b, 0)
}

// Nodes that an operator removes: those who wait queue
// again, and the holder finds out when they release.
func TestZooKeeperNodesRemovedByHand(t *testing.T) {
	for _, info := range []catalog.Info{zklock.ZK, zklock.ZKHerd, zklock.ZKFenced} {
		t.Run(info.Name, func(t *testing.T) {
			b, other := zkLock(t, info), zkLock(t, info)
			holder := b.Take(t, lock.Options{})
			waiter := other.Contend(t)
			for _, node := range slices.Backward(contenders(t, b.In.ZooKeeper, b.Key)) { // or one would be let in first
				labtest.Must(t, b.In.ZooKeeper.Delete(t.Context(), node))
			}
			next := locktest.In(t, waiter) // they queued again
			if err := holder.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
				t.Errorf("releasing what was cleared gave %v", err)
			}
			if next.Fence() <= holder.Fence() {
				t.Errorf("the fencing token %d follows %d", next.Fence(), holder.Fence())
			}
			locktest.Free(t, next)
		})
	}
}

// A buyer gives up while their create is on its way: the node goes when it has come.
func TestZooKeeperCreateComesAfterItsBuyerHasLeft(t *testing.T) {
	for _, info := range []catalog.Info{zklock.ZK, zklock.ZKNode} {
		t.Run(info.Name, func(t *testing.T) {
			b, wire := inZooKeeper(t, info).Wire(t, settings(time.Minute))
			locktest.Free(t, b.Take(t, lock.Options{})) // the folder is there
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
			if _, err := b.Acquire(tap.With(ctx, late), b.Key, lock.Options{}); !errors.Is(err, context.Canceled) {
				t.Errorf("a buyer who left was told %v", err)
			}
			_, err := b.In.ZooKeeper.Exists(t.Context(), "/") // the server answers in order
			labtest.Must(t, err)
			if left := contenders(t, b.In.ZooKeeper, b.Key); len(left) > 0 {
				t.Errorf("%q are left", left)
			}
		})
	}
}

// One release costs zk one look at the queue, and zk-herd one for everybody
// who waits.
func TestZooKeeperHerdWakesEverybody(t *testing.T) {
	const waiters = 5
	looks := func(info catalog.Info) int {
		b := zkLock(t, info)
		b.Key += info.Name
		holder := b.Take(t, lock.Options{})
		var woken atomic.Int32
		settled := make(chan struct{}, 100)
		var released atomic.Bool
		ctx, leave := context.WithCancel(tap.With(t.Context(), &taptest.Tap{OnBefore: func(c *tap.Command) error {
			switch {
			case c.Backend == tap.Waiting:
				settled <- struct{}{}
			case c.Name == "getChildren" && released.Load():
				woken.Add(1)
			}
			return nil
		}}))
		defer leave()
		in := make(chan lock.Lease, waiters)
		var all sync.WaitGroup
		for i := range waiters {
			all.Go(func() {
				if l, err := b.Acquire(ctx, b.Key, lock.Options{Wait: -1}); err == nil {
					in <- l
				}
			})
			queued(t, b, i+2)
			<-settled
			for range i { // zk-herd's waiters are woken by the newcomer as well
				if info.Name == zklock.ZKHerd.Name {
					<-settled
				}
			}
		}
		released.Store(true)
		locktest.Free(t, holder)
		first := <-in
		if info.Name == zklock.ZKHerd.Name {
			for range waiters - 1 {
				<-settled
			}
		}
		n := int(woken.Load())
		released.Store(false)
		leave()
		all.Wait()
		locktest.Free(t, first)
		return n
	}
	if n := looks(zklock.ZK); n != 1 {
		t.Errorf("zk: %d looks at the queue for one release, want 1", n)
	}
	if n := looks(zklock.ZKHerd); n != waiters {
		t.Errorf("zk-herd: %d looks at the queue for one release, want %d", n, waiters)
	}
}
