package compare

import (
	"fmt"
	"testing"

	"seckill/internal/ledger"
)

func withRounds(name string, verdict ledger.Verdict, rates ...float64) *Entry {
	e := &Entry{Strategy: name, Verdict: verdict}
	for i, rate := range rates {
		e.Rounds = append(e.Rounds, Round{Round: i + 1, Sales: 1, SalesRate: rate, Verdict: verdict})
	}
	e.Sales = e.series(func(r Round) float64 { return r.SalesRate }).Spread()
	return e
}

// A machine that is slower in a round is slower for both, so pairs that differ
// less than the rounds do are told apart all the same.
func TestPairs(t *testing.T) {
	r := &Result{Strategies: []*Entry{
		withRounds("broken", ledger.Oversold, 900, 450, 700), withRounds("quick", ledger.Held, 400, 200, 300),
		withRounds("near", ledger.Held, 390, 220, 270), withRounds("slow", ledger.Held, 200, 101, 149), withRounds("silent", ledger.Held),
	}}
	if fastest := r.Fastest(); fastest != "quick" {
		t.Errorf("the fastest that held is %q, not quick", fastest)
	}
	says := ""
	for _, p := range r.Pairs("quick") {
		says += fmt.Sprintf("%s %.2f %s %t; ", p.Faster, p.Times, p.Slower, p.Apart)
	}
	if want := "quick 1.01 near false; quick 2.00 slow true; broken 2.28 quick true; "; says != want {
		t.Errorf("got  %s\nwant %s", says, want)
	}
	if got := r.Pairs("nobody"); len(got) != 0 {
		t.Errorf("pairs of a strategy that did not run: %v", got)
	}
	if got := (&Result{Strategies: []*Entry{withRounds("silent", ledger.Held)}}).Fastest(); got != "" {
		t.Errorf("%q sold nothing and is the fastest", got)
	}
	if got := (&Result{Strategies: []*Entry{withRounds("a", ledger.Oversold, 1), withRounds("b", ledger.Lost, 2)}}).Fastest(); got != "b" {
		t.Errorf("%q is the fastest of those that broke", got)
	}
}
