package hotsku

import (
	"context"
	"errors"
	"slices"
	"testing"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// The explorer finds each guard that is missing, and the original clean.
func TestMutantsOfMergedAreCaught(t *testing.T) {
	three := func(does ...explore.Does) []explore.Buyer {
		list := []explore.Buyer{{Name: "A", Quantity: 2, Does: explore.Buys}, {Name: "B", Quantity: 1, Does: explore.Buys},
			{Name: "C", Quantity: 2, Does: explore.Buys}}
		for _, d := range does {
			list = append(list, explore.Buyer{Name: "D", Quantity: 1, Does: d, Process: 1})
		}
		return list
	}
	crowd := &explore.Scenario{Name: "three share a process", Stock: 6, Next: true, Buyers: three()}
	beside := &explore.Scenario{Name: "a fourth buys elsewhere", Stock: 5, Next: true, Buyers: three(explore.Buys)}
	anew := &explore.Scenario{Name: "the sale is set anew", Stock: 6, Next: true, Buyers: three(explore.Resets)}
	copied := &explore.Scenario{Name: "B comes twice", Stock: 9, Next: true, Buyers: three()}
	copied.Buyers[2].Same, copied.Buyers[2].Quantity = "B", 1
	dies := &explore.Scenario{Name: "the process may die", Stock: 6, Next: true, Buyers: three(),
		Faults: []explore.Fault{explore.Dies}, MaxFaults: 1}
	leaves := &explore.Scenario{Name: "one may leave", Stock: 6, Next: true, Buyers: three(),
		Faults: []explore.Fault{explore.Leaves}, MaxFaults: 1}

	clean := map[*explore.Scenario]bool{}
	for _, m := range []struct {
		without  string
		scenario *explore.Scenario
		rule     string
		commit   func(*merged, context.Context, *batch) error
		quick    bool // in make test, too
	}{
		{"the COMMIT before the answers", dies, ledger.RuleMissingOrder, (*merged).tellThenCommit, false},
		{"a life of its own, without its leader", leaves, explore.RuleError, (*merged).leavesWithItsLeader, true},
		{"the last one's units in the sum", crowd, "", (*merged).forgetsTheLast, true},
		{"the condition", beside, "", (*merged).takesAnyway, true},
		{"the run in the condition", anew, "", (*merged).takesOfAnyRun, false},
		{"a look at what the unique keys refused", copied, "", (*merged).countsTheRefused, true},
	} {
		if !m.quick && !labtest.Verify {
			continue
		}
		t.Run("without "+m.without, func(t *testing.T) {
			if !clean[m.scenario] {
				if r := explored(t, Merged, m.scenario); r.First != nil || !r.Exhausted() {
					t.Fatalf("the original: %+v", r)
				}
				clean[m.scenario] = true
			}
			mutant := Merged
			mutant.New = func(d catalog.Deps) (seckill.Strategy, error) {
				s := &merged{oneTrip: oneTrip{d.Ledger}}
				s.commit = func(ctx context.Context, b *batch) error { return m.commit(s, ctx, b) }
				return s, nil
			}
			r := explored(t, mutant, m.scenario)
			if r.First == nil {
				t.Fatalf("the mutant passes: %+v", r)
			}
			if m.rule != "" && r.Rules[m.rule] == nil {
				t.Errorf("the mutant broke %+v, want %s", r.First.Problems, m.rule)
			}
		})
	}
}

func explored(t *testing.T, info catalog.Info, s *explore.Scenario) explore.Result {
	t.Helper()
	w, err := explore.Open(t.Context(), info, labtest.Config(t, info.Uses()...), explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	stops := explore.LedgerRule
	if slices.Contains(s.Faults, explore.Leaves) { // who stays sees no error
		stops = nil
	}
	r, err := w.Search(t.Context(), s, explore.Limits{Preemptions: -1, Reduce: true, Stop: stops})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (s *merged) leavesWithItsLeader(_ context.Context, b *batch) error {
	return s.commitThenTell(b.buyers[0].ctx, b)
}

func (s *merged) forgetsTheLast(ctx context.Context, b *batch) error {
	b.sum -= b.orders[len(b.orders)-1].Purchase.Quantity
	return s.commitThenTell(ctx, b)
}

func (s *merged) takesAnyway(ctx context.Context, b *batch) error {
	return s.commitBy(ctx, b, true, "num - ? WHERE id = ? AND run = ?", b.sum, b.sku(), b.run)
}

func (s *merged) takesOfAnyRun(ctx context.Context, b *batch) error {
	return s.commitBy(ctx, b, true, "num - ? WHERE id = ? AND num - ? >= 0", b.sum, b.sku(), b.sum)
}

func (s *merged) countsTheRefused(ctx context.Context, b *batch) error {
	b.orders, b.sum = nil, 0
	for _, m := range b.buyers { // and has no look of its own
		b.orders, b.sum = append(b.orders, &m.Entry), b.sum+m.Purchase.Quantity
	}
	return s.commitBy(ctx, b, false, "num - ? WHERE id = ? AND run = ? AND num - ? >= 0", b.sum, b.sku(), b.run, b.sum)
}

func (b *batch) sku() int64 { return b.buyers[0].Purchase.SKU }

// commitBy takes the units by another UPDATE.
func (s *merged) commitBy(ctx context.Context, b *batch, heedsRefused bool, num string, args ...any) error {
	err := s.store.Tx(ctx, func(tx *gorm.DB) error {
		ok, err := s.store.PlaceAll(tx, b.run, b.num, b.orders)
		if err != nil || !ok && heedsRefused {
			return errors.Join(err, errAgain)
		}
		rows, _, err := s.store.Exec(tx, "UPDATE stock SET num = "+num, args...)
		if err == nil && rows == 0 {
			err = errAgain
		}
		return err
	})
	if err == nil {
		b.sold(b.num - b.sum)
	}
	return err
}
