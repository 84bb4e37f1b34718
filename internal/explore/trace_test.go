package explore_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/strategies"
	"seckill/strategies/sqlrow"
)

func record(t *testing.T, name string, buyers int) *explore.Trace {
	t.Helper()
	info := strategies.Named(name)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := explore.RecordTrace(ctx, labtest.Start(t, info.Uses()...).Config(), info, buyers)
	if err != nil {
		t.Fatalf("trace %s: %v", name, err)
	}
	return got
}

// anySKU matches a SKU in texts that are not normalized.
var anySKU = regexp.MustCompile(`\d{13}`)

func TestTraceOfOnePurchase(t *testing.T) {
	tr := record(t, "conditional", 1)
	if len(tr.Problems) > 0 || tr.Told[0].Answer != "sold 1, 1 left" || tr.Cut {
		t.Errorf("told %v, problems %v", tr.Told, tr.Problems)
	}
	labtest.Same(t, tr.Before[0].Value+" "+tr.After[0].Value, "2 1", "the row before and after")
	last, sent := int64(0), ""
	for _, s := range tr.Steps {
		sent += strings.Fields(s.Text)[0] + " "
		if s.At < last || s.Took <= 0 || anySKU.MatchString(s.Text) || strings.Contains(s.Text, "?") {
			t.Errorf("step %+v after %d µs", s, last)
		}
		last = s.At
	}
	if !strings.HasPrefix(sent, "BEGIN UPDATE") || !strings.HasSuffix(sent, "INSERT COMMIT ") {
		t.Errorf("conditional sends %s", sent)
	}
}

// The strategy naive does nothing between its read and its write. If both buyers start at once,
// both nearly always read before either writes.
func TestTracedRaceIsLost(t *testing.T) {
	for range 20 {
		tr := record(t, "naive", 2)
		if slices.ContainsFunc(tr.Problems, func(p explore.Problem) bool { return p.Rule == judge.RuleLostUpdate }) {
			return
		}
	}
	t.Error("naive lost no update in 20 races")
}

// Each buyer holds the lock alone, and writes only while it holds the lock.
func TestTracedLocksAreHeldInTurn(t *testing.T) {
	for _, name := range []string{"redis-lua", "get-lock", "mutex", "zk", "etcd", "redlock"} {
		tr := record(t, name, 2)
		if len(tr.Problems) > 0 {
			t.Errorf("%s: %v", name, tr.Problems)
		}
		if len(tr.After) > 6 || name == "zk" && len(tr.After) != 2 {
			t.Errorf("%s: what it does not use is looked into: %v", name, tr.After)
		}
		if len(tr.Held) != 2 || tr.Held[0].To > tr.Held[1].From || tr.Held[0].From >= tr.Held[0].To {
			t.Errorf("%s is held %+v", name, tr.Held)
			continue
		}
		for _, s := range tr.Steps {
			if !strings.HasPrefix(s.Text, "UPDATE stock") {
				continue
			}
			if !slices.ContainsFunc(tr.Held, func(h explore.HeldPeriod) bool {
				return h.Who == s.Who && h.From <= s.At && s.At+s.Took <= h.To+1
			}) {
				t.Errorf("%s: %+v outside of %+v", name, s, tr.Held)
			}
		}
	}
}

// A shop would list the SKU of a trace. So the rows of the SKU are removed, even if the strategy cannot open the sale.
func TestTracedSKUIsRemoved(t *testing.T) {
	in := labtest.Instance(t, backend.SQL)
	rows := func() (n int) {
		labtest.Must(t, in.DB.Raw("SELECT (SELECT COUNT(*) FROM stock) + (SELECT COUNT(*) FROM orders)").Scan(&n).Error)
		return n
	}
	before := rows()
	record(t, "naive", 2)
	failing := sqlrow.Naive
	failing.New = func(catalog.Deps) (seckill.Strategy, error) { return neverReset{}, nil }
	labtest.Value(explore.RecordTrace(t.Context(), labtest.Start(t, backend.SQL).Config(), failing, 1)).Check(t,
		errNeverReset, "the trace of a sale that cannot be opened")
	labtest.Same(t, rows(), before, "the rows afterwards")
}

var errNeverReset = errors.New("the sale cannot be opened")

type neverReset struct{ seckill.Strategy }

func (neverReset) Reset(context.Context, int64, int64) error { return errNeverReset }
