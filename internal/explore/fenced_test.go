package explore_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/fault"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/strategies/etcdlock"
	"seckill/strategies/redislock"
	"seckill/strategies/zklock"
)

// A looseFence is the fenced purchase of package lock, with guards to remove.
type looseFence struct {
	*lock.Guarded
	unchecked bool // the write does not compare the fence
	afterRead bool // the fence is raised when the stock was read already
	atWrite   bool // the fence is raised by the write, and not before
	orEqual   bool // the fence may be there already
}

func (s *looseFence) Deduct(ctx context.Context, p seckill.Purchase) (r seckill.Receipt, err error) {
	lease, err := s.Locker.Acquire(ctx, s.Key(p.SKU), s.Options)
	if err != nil {
		return r, err
	}
	defer func() { _ = lease.Release(context.WithoutCancel(ctx)) }()
	ctx = lease.Context()
	raise := func() error {
		higher := "fence < ?"
		if s.orEqual {
			higher = "fence <= ?"
		}
		n, err := s.Ledger.Write(ctx, "UPDATE stock SET fence = ? WHERE id = ? AND "+higher, lease.Fence(), p.SKU, lease.Fence())
		if err == nil && n == 0 {
			err = seckill.ErrConflict
		}
		return err
	}
	if !s.afterRead && !s.atWrite {
		if err := raise(); err != nil {
			return r, err
		}
	}
	var now struct{ Num, Run int64 }
	if err := s.Ledger.Read(ctx, &now, "SELECT num, run FROM stock WHERE id = ?", p.SKU); err != nil {
		return r, err
	}
	if now.Num < p.Quantity {
		return r, seckill.ErrSoldOut
	}
	if s.afterRead {
		if err := raise(); err != nil {
			return r, err
		}
	}
	left := now.Num - p.Quantity
	query, args := "UPDATE stock SET num = ? WHERE id = ? AND fence = ?", []any{left, p.SKU, lease.Fence()}
	switch {
	case s.unchecked:
		query, args = "UPDATE stock SET num = ? WHERE id = ?", []any{left, p.SKU}
	case s.atWrite:
		query = "UPDATE stock SET num = ?, fence = ? WHERE id = ? AND fence <= ?"
		args = []any{left, lease.Fence(), p.SKU, lease.Fence()}
	}
	err = s.Ledger.Tx(ctx, func(tx *gorm.DB) error {
		n, _, err := s.Ledger.Exec(tx, query, args...)
		if err == nil && n == 0 {
			err = seckill.ErrConflict
		}
		if err != nil {
			return err
		}
		r, err = s.Ledger.Record(tx, p, now.Run, left)
		return err
	})
	return r, err
}

// oneToken is a lock that gives every holder the same token: Redis counts on
// from what it knows, and its data are lost each time.
type oneToken struct{ lock.Locker }

func (l *oneToken) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, key, o)
	if err != nil {
		return nil, err
	}
	return tokenOne{lease}, nil
}

type tokenOne struct{ lock.Lease }

func (tokenOne) Fence() uint64 { return 1 }

// unfencedRestore buys behind the fence, and gives back as other locks do.
type unfencedRestore struct{ *lock.Guarded }

func (s *unfencedRestore) Restore(ctx context.Context, orderID string) error {
	plain := *s.Guarded
	plain.Fenced = false
	return plain.Restore(ctx, orderID)
}

// A lease ends under a holder at any moment. The fenced locks come through;
// each guard that is removed is missed by the very search that finds the
// original clean.
func TestFenceMutationsAreCaught(t *testing.T) {
	buys := withFault(two(explore.Buys), fault.LeaseEnds)
	cancels := withFault(two(explore.Buys), fault.LeaseEnds)
	cancels.Name, cancels.Buyers[1].Does = "one buys, one cancels", explore.Cancels
	loose := func(i catalog.Info, f looseFence) catalog.Info {
		return guarded(i, func(g *lock.Guarded) seckill.Strategy {
			f := f
			f.Guarded = g
			return &f
		})
	}
	forgetful := redislock.RedisFenced
	forgetful.Locker = func(d catalog.Deps) (lock.Locker, error) {
		l, err := redislock.RedisFenced.Locker(d)
		return &oneToken{l}, err
	}
	clean := map[string]bool{}
	for _, m := range []struct {
		original catalog.Info
		fault    string
		mutant   catalog.Info
		scenario *explore.Scenario
	}{
		{redislock.RedisFenced, "the write does not check the fence", loose(redislock.RedisFenced, looseFence{unchecked: true}), buys},
		{redislock.RedisFenced, "raised after the read", loose(redislock.RedisFenced, looseFence{afterRead: true}), buys},
		{redislock.RedisFenced, "raised by the write", loose(redislock.RedisFenced, looseFence{atWrite: true}), buys},
		{redislock.RedisFenced, "cancels without the fence", guarded(redislock.RedisFenced, func(g *lock.Guarded) seckill.Strategy {
			g.Fenced = true
			return &unfencedRestore{g}
		}), cancels},
		{loose(forgetful, looseFence{}), "an equal fence will do", loose(forgetful, looseFence{orEqual: true}), buys},
		{zklock.ZKFenced, "the write does not check the fence", loose(zklock.ZKFenced, looseFence{unchecked: true}), buys},
		{etcdlock.EtcdFenced, "raised after the read", loose(etcdlock.EtcdFenced, looseFence{afterRead: true}), buys},
	} {
		if !labtest.Verify && m.original.Name != redislock.RedisFenced.Name {
			continue // make verify asks all three locks
		}
		t.Run(m.original.Name+" "+m.fault, func(t *testing.T) {
			limits := explore.Limits{Preemptions: 1, Stop: fromLedger}
			if !labtest.Verify {
				limits.Schedules = 120 // the mutants need 52 to 96
			}
			original := m.original.Name + m.scenario.Name
			if m.original.New != nil {
				original = m.fault
			}
			if !clean[original] {
				limits.All = true
				first := search(t, open(t, m.original), m.scenario, limits)
				if first.Broken > 0 || first.Schedules == 0 || first.Diverged > 0 || first.Faulty == 0 {
					t.Fatalf("the original: %+v, want that it is clean:\n%s", first, table(first.First))
				}
				t.Logf("the original passes %d orders, %d of them with a lease that ends", first.Schedules, first.Faulty)
				limits.All, clean[original] = false, true
			}
			res := search(t, open(t, m.mutant), m.scenario, limits)
			if res.First == nil {
				t.Fatalf("the mutant passes: %+v", res)
			}
			t.Logf("caught in %d orders: %v", res.Schedules, res.First.Problems)
		})
	}
}

var update = flag.Bool("update", false, "write the story of the fenced lock anew")

// The story that chapter 11 plays beside the counterexample of zk: the same
// happens to zk-fenced, and the stock row refuses the sleeper.
const heldStory = "../../web/static/lessons/held.zk-fenced.lease-end.json"

func TestTheStoryOfTheFencedLock(t *testing.T) {
	w := open(t, zklock.ZKFenced)
	if *update {
		writeStory(t, w)
	}
	text, err := os.ReadFile(heldStory)
	if err != nil {
		t.Fatal(err)
	}
	e, err := explore.ReadExample(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	o, err := w.Replay(t.Context(), e)
	if err != nil {
		t.Fatalf("%v (go test ./internal/explore -run Story -update writes it anew)", err)
	}
	if len(e.Problems)+len(o.Problems) > 0 || !o.Faulty() {
		t.Errorf("it is %+v, and breaks %+v now; want a lease that ends and no harm", e.Problems, o.Problems)
	}
	if a := o.Buyers[0]; !errors.Is(a.Err, seckill.ErrConflict) || o.Buyers[1].Err != nil {
		t.Errorf("A was told %v, B %v; want a conflict and a sale", a.Err, o.Buyers[1].Err)
	}
	if refused := slices.IndexFunc(o.Steps, func(s explore.Step) bool {
		return s.Who == "A" && strings.HasPrefix(s.Command, "UPDATE stock SET num")
	}); refused < 0 {
		t.Errorf("A never comes to write:\n%s", table(o))
	}
}

func writeStory(t *testing.T, w *explore.World) {
	s := withFault(two(explore.Buys), fault.LeaseEnds)
	s.Name, s.Stock, s.Next = "two buyers, the holder's lease ends", 2, true
	whole := len(sent(again(t, w, s), "A", 0)) // of a purchase: B's is as long
	choices := happens(before(t, w, s, "BEGIN"), "", fault.LeaseEnds)
	o := again(t, w, s, append(choices, turns(strings.Repeat("B", whole))...)...)
	if len(o.Problems) > 0 {
		t.Fatalf("this is no story of a lock that holds:\n%s", table(o))
	}
	var text bytes.Buffer
	if err := explore.NewExample(zklock.ZKFenced.Name, "lease-end", o).Write(&text); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(heldStory, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
