package loadtest

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"seckill/internal/ledger"
)

// joined is a run that joins a sale in which others have bought two units, and
// given one back.
func joined(t *testing.T, plant func(*fake)) (*fake, *Result) {
	t.Helper()
	f := &fake{}
	f.resetTo(testStock)
	for _, user := range []int64{-1, -2} {
		f.take(asked{SKU: 1, User: user, Quantity: 1, key: "by hand", strategy: "zk"})
	}
	f.orders[1].Status = ledger.Cancelled
	f.stock.Num++
	if plant != nil {
		plant(f)
	}
	c := serve(t, f)
	c.Joins = true
	r := ran(t, c)
	return f, r
}

func TestJoinLeavesTheSaleAsItIs(t *testing.T) {
	f, r := joined(t, nil)
	if r.Verdict != ledger.Held || f.stock.Run != 1 || len(f.orders) != testStock+1 || r.Audit.Sold != testStock ||
		r.Counts[ledger.OutcomeSold] != testStock-1 || r.Linearizable.Answer != LinearNotChecked || r.Linearizable.Why == "" {
		t.Errorf("verdict %s, run %d, %d orders, %d sold, told sold %d, linearizable %v; problems %v, violations %v",
			r.Verdict, f.stock.Run, len(f.orders), r.Audit.Sold, r.Counts[ledger.OutcomeSold], r.Linearizable, r.Problems, r.Audit.Violations)
	}
}

// The orders of others excuse nothing that happens to the buyers of the run: here its
// own service sells once more, under a key like theirs.
func TestJoinJudgesItsOwn(t *testing.T) {
	_, r := joined(t, func(f *fake) {
		f.purchase = func(n int, p asked, _ http.ResponseWriter) bool {
			if n == 5 {
				p.User, p.key = 99, "load-1-1-1-4711"
				f.take(p)
			}
			return false
		}
	})
	if got := rules(r); !slices.Equal(got, []string{ledger.RuleInvented}) {
		t.Errorf("verdict %s, violated %v", r.Verdict, got)
	}
}

func TestJoinOfASaleThatWasReset(t *testing.T) {
	f := &fake{}
	f.resetTo(testStock + 1)
	c := serve(t, f)
	c.Joins = true
	if _, err := Run(t.Context(), c); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "was reset meanwhile") || f.seen > 0 {
		t.Errorf("%v after %d purchases", err, f.seen)
	}
}
