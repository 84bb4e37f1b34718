package zklock

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// variant is a bench for another lock than zk; its key is one node for zk-node.
func variant(t *testing.T, info catalog.Info, in *backend.Instance) *bench {
	t.Helper()
	b := benchOn(t, in)
	var err error
	if b.Locker, err = info.Locker(catalog.Deps{Instance: in}); err != nil {
		t.Fatal(err)
	}
	return b
}

func fresh(t *testing.T, info catalog.Info) *bench {
	t.Helper()
	return variant(t, info, labtest.Instance(t, backend.ZooKeeper))
}

func each(t *testing.T, f func(t *testing.T, info catalog.Info)) {
	for _, info := range []catalog.Info{ZKNoRecheck, ZKHerd, ZKNode} {
		t.Run(info.Name, func(t *testing.T) { f(t, info) })
	}
}

// free reports whether nobody's node is left.
func (b *bench) free(t *testing.T) bool {
	t.Helper()
	stat, err := b.zk.Exists(context.Background(), b.key)
	if err != nil {
		t.Fatal(err)
	}
	return stat == nil || stat.EphemeralOwner == 0 && stat.NumChildren == 0
}

func TestVariantsExcludeWhileNobodyGivesUp(t *testing.T) {
	each(t, func(t *testing.T, info catalog.Info) {
		benches := []*bench{fresh(t, info), fresh(t, info)}
		var inside atomic.Int32
		var count int // guarded by the lock alone: the race detector looks on
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				b := benches[i%2]
				for range 5 {
					l, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: -1})
					if err != nil {
						t.Error(err)
						return
					}
					if n := inside.Add(1); n != 1 {
						t.Errorf("%d holders at once", n)
					}
					count++
					inside.Add(-1)
					release(t, l)
				}
			})
		}
		all.Wait()
		if count != 40 || !benches[0].free(t) {
			t.Errorf("counted to %d, want 40; nothing left: %v", count, benches[0].free(t))
		}
	})
}

func TestVariantsWaitHasALimit(t *testing.T) {
	each(t, func(t *testing.T, info catalog.Info) {
		b, other := fresh(t, info), fresh(t, info)
		holder := b.acquire(t, 0)
		for _, wait := range []time.Duration{0, 50 * time.Millisecond} {
			begin := time.Now()
			_, err := other.Acquire(t.Context(), b.key, lock.Options{Wait: wait})
			if took := time.Since(begin); !errors.Is(err, seckill.ErrBusy) || took < wait {
				t.Errorf("waiting %v gave %v after %v, want busy", wait, err, took)
			}
		}
		release(t, holder)
		if err := holder.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("releasing twice gave %v", err)
		}
		if !b.free(t) {
			t.Error("somebody's node is left")
		}
		release(t, other.acquire(t, 0))
	})
}

func TestVariantsHolderDies(t *testing.T) {
	each(t, func(t *testing.T, info catalog.Info) {
		dead, alive := func() *bench { b, _ := shortLived(t); return variant(t, info, b.in) }(), fresh(t, info)
		l := dead.acquire(t, 0)
		got := make(chan error, 1)
		watching := make(chan struct{}, 1)
		ctx := tap.With(t.Context(), &meddler{before: func(c *tap.Command) error {
			if c.Backend == tap.Waiting {
				watching <- struct{}{}
			}
			return nil
		}})
		go func() {
			next, err := alive.Acquire(ctx, alive.key, lock.Options{Wait: long})
			if err == nil {
				err = next.Release(context.Background())
			}
			got <- err
		}()
		<-watching
		dead.in.Kill()
		if err := ended(t, l); !errors.Is(err, lock.ErrLost) {
			t.Errorf("the lease ended with %v", err)
		}
		if err := <-got; err != nil {
			t.Errorf("the next got %v", err)
		}
		if err := l.Release(t.Context()); !errors.Is(err, seckill.ErrUnavailable) {
			t.Errorf("the dead released and got %v", err)
		}
	})
}

// Whatever command's reply is lost, and whenever the buyer leaves, nothing is
// left behind.
func TestVariantsLeaveNothing(t *testing.T) {
	each(t, func(t *testing.T, info catalog.Info) {
		b, other := fresh(t, info), fresh(t, info)
		release(t, b.acquire(t, 0)) // the parents are there
		for n := range 8 {
			for what, after := range map[string]func(context.CancelFunc, error) error{
				"reply lost":   func(context.CancelFunc, error) error { return errLostReply },
				"buyer leaves": func(leave context.CancelFunc, err error) error { leave(); return err },
			} {
				ctx, leave := context.WithCancel(t.Context())
				seen := 0
				l, err := b.Acquire(tap.With(ctx, &meddler{after: func(c *tap.Command, err error) error {
					if c.Backend == tap.Waiting {
						return err
					}
					if seen++; seen == n+1 {
						return after(leave, err)
					}
					return err
				}}), b.key, lock.Options{})
				if err == nil {
					_ = l.Release(context.WithoutCancel(l.Context()))
				}
				leave()
				soon(t, "nothing is left after: "+what, func() bool { return other.free(t) })
			}
		}
	})
}

// threeContenders has one hold the lock, and another wait behind a third who
// gives up. It returns when the last has been told.
func threeContenders(t *testing.T, info catalog.Info) (holder lock.Lease, last *contender, told func()) {
	b := fresh(t, info)
	holder = b.acquire(t, 0)
	middle := b.contend(t, 1)
	last = b.contend(t, 2)
	return holder, last, func() {
		middle.leave()
		if err := <-middle.err; !errors.Is(err, context.Canceled) {
			t.Errorf("a buyer who left was told %v", err)
		}
	}
}

// The counterexample of the catalogue: being told is not having the lock.
func TestNoRecheckLetsTwoIn(t *testing.T) {
	holder, last, tell := threeContenders(t, ZKNoRecheck)
	tell()
	select {
	case second := <-last.in:
		if holder.Context().Err() != nil {
			t.Error("the holder was told something")
		}
		release(t, second)
	case <-time.After(long):
		t.Error("zk-norecheck is shipped as broken, and the last waited for the holder")
	}
	release(t, holder)
}

func TestHerdLooksAgain(t *testing.T) {
	holder, last, tell := threeContenders(t, ZKHerd)
	tell()
	release(t, holder)
	release(t, <-last.in)
}

// One release costs zk one look at the queue, and zk-herd one for everybody
// who waits.
func TestHerdWakesEverybody(t *testing.T) {
	const waiters = 5
	looks := func(info catalog.Info) int {
		b := fresh(t, info)
		b.key += info.Name
		holder := b.acquire(t, 0)
		var woken atomic.Int32
		settled := make(chan struct{}, 100)
		var released atomic.Bool
		ctx, leave := context.WithCancel(tap.With(t.Context(), &meddler{before: func(c *tap.Command) error {
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
				if l, err := b.Acquire(ctx, b.key, lock.Options{Wait: -1}); err == nil {
					in <- l
				}
			})
			b.queued(t, i+2)
			<-settled
			for range i { // zk-herd's waiters are woken by the newcomer as well
				if info.Name == ZKHerd.Name {
					<-settled
				}
			}
		}
		released.Store(true)
		release(t, holder)
		first := <-in
		if info.Name == ZKHerd.Name {
			for range waiters - 1 {
				<-settled
			}
		}
		n := int(woken.Load())
		released.Store(false)
		leave()
		all.Wait()
		release(t, first)
		return n
	}
	if n := looks(ZK); n != 1 {
		t.Errorf("zk: %d looks at the queue for one release, want 1", n)
	}
	if n := looks(ZKHerd); n != waiters {
		t.Errorf("zk-herd: %d looks at the queue for one release, want %d", n, waiters)
	}
}

// Whoever lost the node without hearing of it looks before he deletes.
func TestNodeIsNotReleasedByWhoLostIt(t *testing.T) {
	b, other := fresh(t, ZKNode), fresh(t, ZKNode)
	l := b.acquire(t, 0)
	if err := other.zk.Delete(t.Context(), b.key); err != nil {
		t.Fatal(err)
	}
	next := other.acquire(t, 0)
	if err := l.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("releasing a lock that is another's gave %v", err)
	}
	if other.free(t) {
		t.Fatal("and deleted his node")
	}
	release(t, next)
}

// The hole that is left: the node changes hands between the two commands of a
// release.
func TestNodeDeletesAnothersInTheWindow(t *testing.T) {
	b, other := fresh(t, ZKNode), fresh(t, ZKNode)
	l := b.acquire(t, 0)
	var next lock.Lease
	ctx := tap.With(t.Context(), &meddler{before: func(c *tap.Command) error {
		if c.Name == "delete" {
			if err := other.zk.Delete(t.Context(), b.key); err != nil {
				t.Error(err)
			}
			next = other.acquire(t, 0)
		}
		return nil
	}})
	if err := l.Release(ctx); err != nil {
		t.Error(err)
	}
	if err := next.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("the next released and got %v: say in zk-node that it holds", err)
	}
}

// A foreign client's node of that name is a lock that somebody holds.
func TestNodeOfAnybody(t *testing.T) {
	b, other := fresh(t, ZKNode), fresh(t, ZKNode)
	release(t, b.acquire(t, 0)) // the parents are there
	if _, err := other.zk.Create(t.Context(), b.key, nil, zk.FlagEphemeral); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Acquire(t.Context(), b.key, lock.Options{}); !errors.Is(err, seckill.ErrBusy) {
		t.Errorf("a foreign client holds the lock, and we were told %v", err)
	}
	if err := other.zk.Delete(t.Context(), b.key); err != nil {
		t.Fatal(err)
	}
	release(t, b.acquire(t, 0))
}
