package zklock

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
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
)

func TestPredecessor(t *testing.T) {
	const max = "lock-2147483647"
	for name, c := range map[string]struct {
		own   string
		names []string
		ahead string
		here  bool
	}{
		"alone":              {"lock-0000000000", []string{"lock-0000000000"}, "", true},
		"first":              {"lock-0000000003", []string{"lock-0000000004", "lock-0000000003"}, "", true},
		"the nearest":        {"lock-0000000007", []string{"lock-0000000002", "lock-0000000006", "lock-0000000007", "lock-0000000008"}, "lock-0000000006", true},
		"not in the list":    {"lock-0000000007", []string{"lock-0000000008"}, "", false},
		"any prefix":         {"_c_ffff-lock-0000000009", []string{"_c_ffff-lock-0000000009", "x-99-0000000008", "a__lock__0000000001"}, "x-99-0000000008", true},
		"prefix with digits": {"lock-0000000009", []string{"lock-0000000009", "n1230000000008"}, "n1230000000008", true},
		"strangers":          {"lock-0000000009", []string{"config", "lock-0000000009", "v1", "x-99999999999"}, "", true},
		"counter overflows":  {"lock--2147483648", []string{"lock--2147483648", max, "lock--2147483647"}, max, true},
		"before it":          {max, []string{max, "lock--2147483648"}, "", true},
		"below zero":         {"lock--000000001", []string{"lock--000000002", "lock--000000001", "lock-0000000000"}, "lock--000000002", true},
		"long below zero":    {"lock--1234567890", []string{"lock--1234567891", "lock--1234567890"}, "lock--1234567891", true},
	} {
		t.Run(name, func(t *testing.T) {
			if ahead, here := predecessor(c.names, c.own); ahead != c.ahead || here != c.here {
				t.Errorf("ahead of %s in %q is %q, %v, want %q, %v", c.own, c.names, ahead, here, c.ahead, c.here)
			}
		})
	}
}

func TestNameAsCuratorHasIt(t *testing.T) {
	b := newBench(t, ZK)
	defer locktest.Free(t, b.acquire(t, 0))
	name := contenders(t, b.zk, b.key)[0]
	guid, ok := strings.CutPrefix(name, b.key+"/_c_")
	guid, number, cut := strings.Cut(guid, "-lock-")
	if !ok || !cut || len(guid) != 32 || len(number) != 10 {
		t.Errorf("the node is called %q", name)
	}
}

func TestSessionEndsUnderAWaiter(t *testing.T) {
	b, wire := shortLived(t)
	other := newBench(t, ZK)
	holder := other.acquire(t, 0)
	got := make(chan error, 1)
	go func() {
		l, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: locktest.Patience})
		if err == nil {
			err = l.Release(t.Context())
		}
		got <- err
	}()
	other.queued(t, 2) // b's own session may end at any moment
	wire.Cut()
	other.queued(t, 1)
	wire.Pass()
	// He queues again, or was told that ZooKeeper could not be asked.
	locktest.Free(t, holder)
	if err := <-got; err != nil && !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("the waiter was told %v", err)
	}
	other.queued(t, 0)
}

// A command that was left while the server was silent still arrives.
func TestBuyerLeavesWhileTheServerIsSilent(t *testing.T) {
	b, wire := longLived(t)
	other := newBench(t, ZK)
	holder := b.acquire(t, 0)
	wire.Freeze()
	ctx, leave := context.WithCancel(t.Context())
	m := &locktest.Tap{OnBefore: func(c *tap.Command) error {
		if c.Name == "create" {
			time.AfterFunc(20*time.Millisecond, leave)
		}
		return nil
	}}
	if _, err := b.Acquire(tap.With(ctx, m), b.key, lock.Options{Wait: -1}); !errors.Is(err, context.Canceled) {
		t.Errorf("a buyer who left was told %v", err)
	}
	ctx, leave = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer leave()
	if err := holder.Release(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a release without an answer gave %v", err)
	}
	wire.Pass()
	// The holder's node and the buyer's: two came, two go.
	locktest.Soon(t, "both nodes are gone", func() bool {
		stat, err := other.zk.Exists(t.Context(), b.key)
		return err == nil && stat != nil && stat.Cversion >= 4 && stat.NumChildren == 0
	})
}

// The connection breaks, the session does not: every waiter keeps its place.
func TestConnectionBreaks(t *testing.T) {
	b, wire := longLived(t)
	l := b.acquire(t, 0)
	next := b.contend(t)
	wire.Cut()
	locktest.Soon(t, "the client notices", func() bool { return !b.zk.Connected() })
	if l.Context().Err() != nil {
		t.Error("a lost connection ended the lease")
	}
	err := l.Release(t.Context())
	wire.Pass()
	if err != nil && !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("releasing without a connection gave %v", err)
	}
	locktest.Free(t, locktest.In(t, next))
	b.queued(t, 0)
}

// Nodes that an operator removes: those who wait queue
// again, and the holder finds out when they release.
func TestRemovedByHand(t *testing.T) {
	b, other := newBench(t, ZK), newBench(t, ZK)
	holder := b.acquire(t, 0)
	waiter := other.contend(t)
	for _, node := range slices.Backward(contenders(t, b.zk, b.key)) { // or one would be let in first
		labtest.Must(t, b.zk.Delete(t.Context(), node))
	}
	next := locktest.In(t, waiter) // they queued again
	if err := holder.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("releasing what was cleared gave %v", err)
	}
	if next.Fence() <= holder.Fence() {
		t.Errorf("the fencing token %d follows %d", next.Fence(), holder.Fence())
	}
	locktest.Free(t, next)
}

func TestNoGoroutineIsLeft(t *testing.T) {
	before := goroutines()
	t.Run("closed in mid-wait", func(t *testing.T) {
		b, wire := longLived(t)
		l := b.acquire(t, 0)
		waiter := b.contend(t)
		wire.Cut()
		_ = l.Release(t.Context())
		if err := b.In.Close(); err != nil {
			t.Error(err)
		}
		select {
		case err := <-waiter.Err:
			if !errors.Is(err, seckill.ErrUnavailable) {
				t.Errorf("the client was closed, and a waiter was told %v", err)
			}
		case <-time.After(locktest.Patience):
			t.Error("the client was closed, and a waiter was told nothing")
		}
	})
	locktest.Soon(t, "no goroutine is left", func() bool { return goroutines() <= before })
}

func goroutines() (n int) {
	all := make([]byte, 1<<20)
	for one := range strings.SplitSeq(string(all[:runtime.Stack(all, true)]), "\n\n") {
		if strings.Contains(one, "zklock.(*zk") || strings.Contains(one, "go-zookeeper") ||
			strings.Contains(one, "ZooKeeperClient") {
			n++
		}
	}
	return n
}

// One release costs zk one look at the queue, and zk-herd one for everybody
// who waits.
func TestHerdWakesEverybody(t *testing.T) {
	const waiters = 5
	looks := func(info catalog.Info) int {
		b := newBench(t, info)
		b.key += info.Name
		holder := b.acquire(t, 0)
		var woken atomic.Int32
		settled := make(chan struct{}, 100)
		var released atomic.Bool
		ctx, leave := context.WithCancel(tap.With(t.Context(), &locktest.Tap{OnBefore: func(c *tap.Command) error {
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
		locktest.Free(t, holder)
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
		locktest.Free(t, first)
		return n
	}
	if n := looks(ZK); n != 1 {
		t.Errorf("zk: %d looks at the queue for one release, want 1", n)
	}
	if n := looks(ZKHerd); n != waiters {
		t.Errorf("zk-herd: %d looks at the queue for one release, want %d", n, waiters)
	}
}
