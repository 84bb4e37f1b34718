package loadtest

import (
	"context"
	"math"
	"net/http"
	"slices"
	"testing"

	"seckill/internal/ledger"
)

// Values as R's binom::binom.wilson has them.
func TestWilson(t *testing.T) {
	for _, test := range []struct {
		k, n      int
		low, high float64
	}{
		{0, 10, 0, 0.2775328}, {1, 10, 0.0178762, 0.4041500}, {5, 10, 0.2365931, 0.7634069}, {10, 10, 0.7224672, 1},
		{0, 100, 0, 0.0369935}, {81, 263, 0.2552738, 0.3662068}, {0, 0, 0, 1},
	} {
		low, high := wilson(test.k, test.n)
		if math.Abs(low-test.low) > 1e-4 || math.Abs(high-test.high) > 1e-4 {
			t.Errorf("%d of %d: %.7f to %.7f, want %.7f to %.7f", test.k, test.n, low, high, test.low, test.high)
		}
	}
}

// Every run has a reset and buyers of its own; the worst one decides.
func TestRepeat(t *testing.T) {
	f := &fake{}
	users := map[int64]bool{}
	f.purchase = func(n int, p asked, w http.ResponseWriter) bool {
		users[p.User] = true
		if f.stock.Run != 3 || f.stock.Num > 0 {
			return false
		}
		respond(w, f.take(p)) // the third run oversells
		return true
	}
	c := serve(t, f)
	c.Ledger = f
	var seen []int
	a, err := Repeat(t.Context(), c, 4, func(i int, _ *Result) { seen = append(seen, i) })
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Runs) != 4 || len(users) != 4*testBuyers || f.stock.Run != 4 || a.Exit != ExitOversold {
		t.Errorf("%d runs, %d users, %d resets, exit status %d", len(a.Runs), len(users), f.stock.Run, a.Exit)
	}
	if v := a.Verdicts; v[0].Verdict != ledger.Held || v[0].Runs != 3 || v[1].Verdict != ledger.Oversold || v[1].Runs != 1 || v[1].Of != 4 {
		t.Errorf("%+v", v)
	}
	if !slices.Equal(seen, []int{0, 1, 2, 3}) {
		t.Errorf("%v", seen)
	}
	if v := a.Verdicts[1]; math.Abs(v.Low-.0456) > .0001 || math.Abs(v.High-.699) > .001 {
		t.Errorf("%+v", v)
	}
	again, err := Repeat(t.Context(), c, 2, nil)
	if err != nil || again.Runs[1].Settings.Seed != a.Runs[1].Settings.Seed {
		t.Errorf("%v: another seed in the second run", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cut, err := Repeat(ctx, c, 5, func(int, *Result) { cancel() })
	if err != nil || len(cut.Runs) != 1 || cut.Exit != ExitNotValid {
		t.Errorf("%v: %d runs after an interrupt, exit status %d, want 1, %d", err, len(cut.Runs), cut.Exit, ExitNotValid)
	}
	proven := &Repeats{Asked: 3, Runs: []*Result{{Verdict: ledger.Oversold}, {Verdict: ledger.NotValid}}}
	if proven.conclude(); proven.Exit != ExitOversold {
		t.Errorf("one run oversold, one is not valid, one was not made: exit status %d, want %d", proven.Exit, ExitOversold)
	}
}
