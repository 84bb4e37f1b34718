package redislock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
	"seckill/strategies/saletest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// A turn takes over the lock that an earlier turn of the same process did not give back. A command of an earlier turn
// that arrives late takes nothing from a later turn.
func TestRegistryTurns(t *testing.T) {
	l := locktest.Open(t, RedisRegistry, catalog.Deps{})
	left := l.Take(t, lock.Options{Lease: locktest.Long})
	lost := &taptest.Tap{OnBefore: func(*tap.Command) error { return taptest.ErrLostReply }}
	labtest.Check(t, left.Release(tap.With(t.Context(), lost)), seckill.ErrUnavailable, "a release that was not sent")
	held := l.Take(t, lock.Options{Lease: locktest.Long})
	defer locktest.Free(t, held)
	registry := l.Locker.(*registryLock)
	took := registryScript.Run(t.Context(), registry.redis, []string{l.Key}, registry.client+"-1", locktest.Long.Milliseconds())
	labtest.Value(took.Int64()).Same(t, 0, "turn 1 took the lock from turn 2")
}

// The renewal finds a key of another type in the lock's place. The lock is lost at once.
func TestWatchdogRenewsNothingElse(t *testing.T) {
	l := locktest.Open(t, RedisWatchdog, catalog.Deps{})
	labtest.Must(t, l.In.Redis.LPush(t.Context(), l.Key, "another's").Err())
	labtest.Value(watchdogRenew.Run(t.Context(), l.In.Redis, []string{l.Key}, "mine", 1000).Int64()).Same(t, 0,
		"the renewer is told")
}

// A buyer's turn in the process comes when the buyer's time is up. The buyer asks Redis once.
func TestRegistryTurnComesTooLate(t *testing.T) {
	a, b := locktest.Open(t, RedisRegistry, catalog.Deps{}), locktest.Open(t, RedisRegistry, catalog.Deps{})
	defer locktest.Free(t, a.Take(t, lock.Options{Lease: locktest.Long}))
	first, asked := b.Contend(t), 0
	end := time.Now().Add(100 * time.Millisecond)
	ctx, cancel := context.WithTimeout(tap.With(t.Context(), &taptest.Tap{OnBefore: func(c *tap.Command) error {
		if c.Backend != tap.Waiting {
			asked++
		} else if asked == 0 {
			first.Leave()
		}
		return nil
	}, OnAfter: func(c *tap.Command, err error) error {
		if asked == 0 {
			time.Sleep(time.Until(end)) // the wait for the turn uses up all of the buyer's time
		}
		return err
	}}), locktest.Patience)
	defer cancel()
	if _, err := b.Acquire(ctx, b.Key, lock.Options{Wait: time.Until(end)}); !errors.Is(err, seckill.ErrBusy) || asked > 1 {
		t.Errorf("told %v after asking Redis %d times, want busy and at most once", err, asked)
	}
}

// Of the buyers of one process, only one asks Redis or listens to it. The others wait for their turn.
func TestOneOfAProcessAsks(t *testing.T) {
	for _, info := range []catalog.Info{RedisBLPOP, RedisRegistry, RedisWatchdog} {
		a, b := locktest.Open(t, info, catalog.Deps{}), locktest.Open(t, info, catalog.Deps{})
		b.Waiting = func(c *tap.Command) bool { return locktest.PassesTap(c) || c.Name == "BLPOP" }
		holder := a.Take(t, lock.Options{Lease: locktest.Long})
		first := b.Contend(t)
		ctx, leave := context.WithCancel(t.Context())
		ctx = taptest.EachBefore(ctx, func(c *tap.Command) {
			if c.Backend != tap.Waiting {
				t.Errorf("%s: a second waiter sends %s", info.Name, c.Text)
			}
			leave()
		})
		labtest.Value(b.Acquire(ctx, b.Key, lock.Options{Wait: -1})).Check(t, context.Canceled,
			"%s: one who left", info.Name)
		locktest.Free(t, holder)
		locktest.Free(t, locktest.In(t, first))
	}
}

// The connection on which a waiter listens breaks. The waiter listens on another one, and closes it at the end.
func TestWatchdogListensAgain(t *testing.T) {
	a, b := locktest.Open(t, RedisWatchdog, catalog.Deps{}), locktest.Open(t, RedisWatchdog, catalog.Deps{})
	holder := a.Take(t, lock.Options{Lease: locktest.Long})
	var subscribed atomic.Int32
	b.Waiting = func(c *tap.Command) bool {
		if c.Name == "SUBSCRIBE" {
			subscribed.Add(1)
		}
		return locktest.PassesTap(c)
	}
	waiter := b.Contend(t)
	labtest.Must(t, a.In.Redis.ClientKillByFilter(t.Context(), "TYPE", "pubsub").Err())
	labtest.Soon(t, "the waiter subscribes again", func() bool { return subscribed.Load() == 2 })
	locktest.Free(t, holder)
	locktest.Free(t, locktest.In(t, waiter))
	labtest.Soon(t, "nobody listens any more", func() bool {
		return a.In.Redis.PubSubNumSub(t.Context(), watchdogChannel(a.Key)).Val()[watchdogChannel(a.Key)] == 0
	})
}

// wired opens a redlock on the lab's five nodes. Each node is behind a wire.
func wired(t *testing.T) (*locktest.Process, []*labtest.Wire) {
	var wires []*labtest.Wire
	c := labtest.Config(t, backend.RedisQuorum)
	c.RedlockAddrs = slices.Clone(c.RedlockAddrs)
	for i, node := range c.RedlockAddrs {
		a := labtest.Value(backend.ParseRedis(node)).Must(t)
		wires = append(wires, labtest.NewWire(t, a.Addr))
		a.Addr = wires[i].Addr()
		c.RedlockAddrs[i] = "redis://:" + a.Password + "@" + a.Addr
	}
	return locktest.Open(t, Redlock, catalog.Deps{Instance: labtest.Open(t, c)}), wires
}

// One of five nodes does not answer. The lock is taken and released all the same. In the end that
// node also executes the releases that were kept for it, and its key is gone.
func TestRedlockDoesNotWaitForOneNode(t *testing.T) {
	l, _ := wired(t)
	answers := make(chan struct{})
	ctx := taptest.EachAfter(t.Context(), func(c *tap.Command, _ error) {
		if c.Node == "node 5" {
			<-answers
		}
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 3 {
			lease, err := l.Acquire(ctx, l.Key, lock.Options{Lease: locktest.Long})
			if err != nil {
				t.Errorf("one node is silent, and a buyer is told %v", err)
				return
			}
			labtest.Check(t, lease.Release(ctx), nil, "one node is silent, and the release")
		}
	}()
	select {
	case <-done:
	case <-time.After(locktest.Patience):
		t.Error("a buyer waits for one node of five")
	}
	close(answers)
	freedEverywhere(t, l)
}

// freedEverywhere waits until no node has the key, long before a lease ends.
func freedEverywhere(t *testing.T, l *locktest.Process) {
	labtest.Soon(t, "no node has the key", func() bool {
		for _, node := range l.In.RedisNodes {
			if node.Exists(t.Context(), l.Key).Val() > 0 {
				return false
			}
		}
		return true
	})
}

// Nodes hang. Once a node has left a command unanswered, nothing is sent to it until it answers again; then the keys
// that it set are deleted. If a majority of nodes hangs, nothing is sold, and nobody waits.
func TestRedlockLeavesSilentNodesAlone(t *testing.T) {
	l, wires := wired(t)
	// asked counts which of the first nodes are asked for the lock, and returns the buyer's error.
	overdue := make(chan error, 100)
	asked := func(first int) (nodes int32, told error) {
		var count atomic.Int32
		ctx := tap.With(t.Context(), &taptest.Tap{OnBefore: func(c *tap.Command) error {
			if c.Name == "SET" && c.Node <= fmt.Sprint("node ", first) {
				count.Add(1)
			}
			return nil
		}, OnAfter: func(c *tap.Command, err error) error {
			if c.Name == "SET" && err != nil {
				overdue <- err
			}
			return err
		}})
		lease, err := l.Acquire(ctx, l.Key, lock.Options{Wait: locktest.Patience, Lease: locktest.Long})
		if err == nil {
			err = lease.Release(ctx)
		}
		return count.Load(), err
	}
	for hung := 1; hung <= 3; hung++ {
		wires[hung-1].Freeze()
		_, _ = asked(hung)
		<-overdue
		labtest.Soon(t, "the node that hangs is not asked", func() bool {
			nodes, _ := asked(hung)
			return nodes == 0
		})
		for range 20 {
			nodes, err := asked(hung)
			if nodes > 0 || hung < 3 && err != nil || hung == 3 && !errors.Is(err, seckill.ErrUnavailable) {
				t.Errorf("%d nodes hang: %d of them are asked, and a buyer is told %v", hung, nodes, err)
			}
		}
	}
	for _, w := range wires {
		w.CloseConnections() // not Pass: a SET that the wire still holds could overtake its release
	}
	labtest.Soon(t, "all nodes are asked again", func() bool {
		nodes, err := asked(5)
		return nodes == 5 && err == nil
	})
	freedEverywhere(t, l)
}

// One node hangs when the lock is released, and it never reads this release. The release is sent again.
func TestRedlockRepeatsALostRelease(t *testing.T) {
	l, wires := wired(t)
	voted, overdue := make(chan int), make(chan error, 10)
	ctx := taptest.EachAfter(t.Context(), func(c *tap.Command, err error) {
		if c.Node == "node 1" && c.Name == "SET" {
			close(voted)
		} else if isOverdue(err) {
			overdue <- err
		}
	})
	lease := labtest.Value(l.Acquire(ctx, l.Key, lock.Options{Lease: locktest.Long})).Must(t)
	<-voted
	wires[0].Freeze()
	labtest.Check(t, lease.Release(ctx), nil, "one node hangs, and the release")
	<-overdue
	wires[0].CloseConnections()
	freedEverywhere(t, l)
}

// BenchmarkRedlockHungNode compares purchases with one of five nodes stopped and with none stopped, in turn.
func BenchmarkRedlockHungNode(b *testing.B) {
	s := saletest.Open(b, Redlock, 1_000_000, catalog.Deps{Settings: catalog.DefaultSettings()})
	node := labtest.Value(labtest.Start(b).Process("redlock-3")).Must(b)
	took, user := map[bool][]float64{}, int64(0)
	for b.Loop() {
		for _, hung := range []bool{false, true} {
			if hung {
				labtest.Must(b, node.Pause())
			}
			for range 20 {
				user++
				begun := time.Now()
				labtest.Value(s.Buy(b.Context(), user, 1)).Must(b)
				took[hung] = append(took[hung], time.Since(begun).Seconds())
			}
			if hung {
				labtest.Must(b, node.Resume())
			}
		}
	}
	median := func(hung bool) float64 {
		slices.Sort(took[hung])
		return took[hung][len(took[hung])/2]
	}
	b.ReportMetric(1000*median(false), "ms-none")
	b.ReportMetric(1000*median(true), "ms-hung")
	b.ReportMetric(median(true)/median(false), "ratio")
}
