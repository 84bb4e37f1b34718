package etcdlock

import (
	"context"
	"math"
	"testing"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// etcd remembers every name until somebody compacts it: one contender at a
// time uses one name. One of whom nobody knows whether something of his is
// still on its way keeps his name for himself.
func TestNamesAreUsedAgain(t *testing.T) {
	b := newBench(t, long)
	held := func(ctx context.Context) string {
		l, err := b.Acquire(ctx, b.Key, lock.Options{Wait: long})
		labtest.Must(t, err)
		defer locktest.Free(t, l)
		return b.keys(t)[0]
	}
	first := held(t.Context())
	for range 5 {
		if key := held(t.Context()); key != first {
			t.Errorf("the key is %s, want %s again", key, first)
		}
	}
	commands := 0
	lost := tap.With(t.Context(), &taptest.Tap{OnAfter: func(c *tap.Command, err error) error {
		if commands++; err == nil && commands == 1 {
			return taptest.ErrLostReply
		}
		return err
	}})
	if l, err := b.Acquire(lost, b.Key, lock.Options{Wait: long}); err == nil {
		t.Fatalf("acquired without a reply: %v", l)
	}
	second := held(t.Context())
	if second == first {
		t.Errorf("%s is used again, though its put may still come", first)
	}
	l := b.Take(t, lock.Options{})
	commands = 0
	labtest.Must(t, l.Release(lost))
	if held(t.Context()) == second {
		t.Errorf("%s is used again, though its delete may still come", second)
	}
}

// The key ahead goes, and comes again under the same name, before we watch it: it is behind us.
func TestKeyAheadComesAgain(t *testing.T) {
	a, b := newBench(t, long), newBench(t, long)
	holder := a.Take(t, lock.Options{})
	var behind *locktest.Waiter
	ctx := tap.With(t.Context(), &taptest.Tap{OnAfter: func(c *tap.Command, err error) error {
		if c.Backend != tap.Waiting && behind == nil {
			locktest.Free(t, holder)
			behind = a.Contend(t)
		}
		return err
	}})
	l, err := b.Acquire(ctx, b.Key, lock.Options{Wait: 10 * time.Second})
	labtest.Must(t, err)
	locktest.Free(t, l)
	locktest.Free(t, locktest.In(t, behind))
}

// What a server knows that lags behind what we were told is not enough: the
// majority is asked.
func TestLookAsksTheMajorityWhenItsServerLags(t *testing.T) {
	b := newBench(t, long)
	l := b.Locker.(*etcdLock)
	s, err := l.get(t.Context())
	labtest.Must(t, err)
	for told, want := range map[int64]int{1: 1, math.MaxInt64: 2} {
		asked := 0
		ctx := tap.With(t.Context(), &taptest.Tap{OnBefore: func(*tap.Command) error {
			asked++
			return nil
		}})
		me := s.contender(ctx, ctx)
		me.key = b.Key + "/" + me.name
		if _, err := l.look(me, b.Key+"/", 1, told); err != nil {
			t.Fatal(err)
		}
		if asked != want {
			t.Errorf("told at revision %d it asked %d times, want %d", told, asked, want)
		}
	}
}
