package compare

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/loadtest"
)

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func entryAt(rate, ratio float64, v ledger.Verdict, breaks bool) *Entry {
	e := &Entry{Strategy: "a", Verdict: v, Breaks: breaks, Sales: spreadOf(rate, rate, rate), Ratios: map[string]measure.Spread{}}
	if ratio > 0 {
		e.Ratios[BaselineTransaction] = spreadOf(ratio, ratio, ratio)
	}
	e.Expected = e.Broken() == breaks
	return e
}

func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name    string
		was, is *Entry
		by      string
		percent float64
		failed  bool
	}{
		{"as fast", entryAt(100, .5, ledger.Held, false), entryAt(100, .5, ledger.Held, false), BaselineTransaction, 0, false},
		{"a slower machine", entryAt(100, .5, ledger.Held, false), entryAt(50, .5, ledger.Held, false), BaselineTransaction, 0, false},
		{"slower on a faster machine", entryAt(100, .5, ledger.Held, false), entryAt(150, .25, ledger.Held, false), BaselineTransaction, -50, true},
		{"slower within the limit", entryAt(100, .5, ledger.Held, false), entryAt(100, .45, ledger.Held, false), BaselineTransaction, -10, false},
		{"without a baseline", entryAt(100, .5, ledger.Held, false), entryAt(75, 0, ledger.Held, false), "sales_per_second", -25, true},
		{"faster", entryAt(100, 0, ledger.Held, false), entryAt(300, 0, ledger.Held, false), "sales_per_second", 200, false},
		{"oversells now", entryAt(100, .5, ledger.Held, false), entryAt(100, .5, ledger.Oversold, false), BaselineTransaction, 0, true},
		{"not valid now", entryAt(100, .5, ledger.Held, false), entryAt(100, .5, ledger.NotValid, false), BaselineTransaction, 0, true},
		{"broken in another way", entryAt(100, .5, ledger.Oversold, true), entryAt(100, .5, ledger.Lost, true), BaselineTransaction, 0, false},
		{"nothing is sold", entryAt(100, 0, ledger.Held, false), entryAt(0, 0, ledger.Held, false), "sales_per_second", -100, true},
	} {
		r := &Result{Strategies: []*Entry{c.is}}
		r.CompareWith(&Result{Strategies: []*Entry{c.was}}, 20)
		got := r.Against.Changes[0]
		if got.By != c.by || got.Percent < c.percent-1e-9 || got.Percent > c.percent+1e-9 || got.Failed != c.failed || r.Against.Failed() != c.failed {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestGoneAndAdded(t *testing.T) {
	held := func(name string) *Entry {
		e := entryAt(1, 1, ledger.Held, false)
		e.Strategy = name
		return e
	}
	r := &Result{Strategies: []*Entry{held("new"), held("both")}}
	r.CompareWith(&Result{Strategies: []*Entry{held("both"), held("old")}}, 20)
	a := r.Against
	if strings.Join(a.Gone, ",") != "old" || strings.Join(a.Added, ",") != "new" || len(a.Changes) != 1 || r.ExitStatus() != ExitChanged {
		t.Errorf("%+v, exit status %d", a, r.ExitStatus())
	}
}

func TestReadWhatWasWritten(t *testing.T) {
	var data bytes.Buffer
	r := fixed(t)
	if err := r.WriteJSON(&data); err != nil {
		t.Fatal(err)
	}
	again, err := Read(&data)
	if err != nil {
		t.Fatal(err)
	}
	again.CompareWith(r, 0)
	if again.Against.Failed() || len(again.Against.Changes) != len(r.Strategies) {
		t.Errorf("a result differs from itself: %+v", again.Against)
	}
	same := again.Settings
	if d := again.Differences(same); d != nil {
		t.Errorf("a sale differs from itself: %v", d)
	}
	same.Buyers++
	if d := again.Differences(same); len(d) != 1 || !strings.Contains(d[0].Error(), "give --buyers 50") {
		t.Errorf("another number of buyers: %v", d)
	}
	same.Stock, same.Quantity, same.Concurrency = 1, 2, 3
	if d := again.Differences(same); len(d) != 4 {
		t.Errorf("another sale: %v", d)
	}
	for _, other := range []struct {
		change func(*loadtest.Scenario)
		says   string
	}{
		{func(s *loadtest.Scenario) { s.Async = true }, "without --async"},
		{func(s *loadtest.Scenario) { s.Reserve = 2 * time.Second }, "--reserve 0s, not 2s"},
		{func(s *loadtest.Scenario) { s.Forget = .1 }, "--forget 0%, not 10%"},
		{func(s *loadtest.Scenario) { s.PayLate = .05 }, "--pay-late 0%, not 5%"},
	} {
		same = again.Settings
		other.change(&same)
		if d := again.Differences(same); len(d) != 1 || !strings.Contains(d[0].Error(), other.says) {
			t.Errorf("buying another way: %v, want %q", d, other.says)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, text := range []string{"", "{}", "[]", "null", `{"format":2,"strategies":[]}`, `{"format":1,"strategies":[null]}`, `{"format":1}`, "\x00", `{"format":1,"strategies":[`} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q was read as a result", text)
		}
		if _, err := measure.ReadMatrix(strings.NewReader(text)); err == nil {
			t.Errorf("%q was read as a matrix", text)
		}
	}
}

func TestReadsResults(t *testing.T) {
	f, err := os.Open("testdata/result.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	old, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}
	r := fixed(t)
	r.CompareWith(old, .01)
	if r.Against.Failed() || r.Against.Changes[0].By != BaselineTransaction {
		t.Errorf("the same sale, measured today, differs: %+v", r.Against)
	}
}
