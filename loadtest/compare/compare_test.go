package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

// A book plays the sales: what each strategy comes to, by its name.
type book struct {
	held  []string // "name × concurrency", in order, warm-ups left out
	plays map[string]func(c loadtest.Config, r *loadtest.Result) error
}

const (
	testStock  = 40
	testBuyers = 50
	testCrowd  = 8
)

// load is a sale that takes half a second and holds, unless plays changes it.
func (b *book) load(_ context.Context, c loadtest.Config) (*loadtest.Result, error) {
	if c.Stock == testStock {
		b.held = append(b.held, fmt.Sprintf("%s × %d", c.Strategy, c.Concurrency))
	}
	r := &loadtest.Result{Requests: c.Buyers, Seconds: .5, SellingSeconds: .4, Verdict: ledger.Held,
		Settings: loadtest.Settings{Stock: c.Stock}, Targets: []loadtest.Target{{URL: "http://127.0.0.1:1", Backends: []backend.Status{
			{Name: "mysql", Tier: backend.Private, Address: "127.0.0.1:3306", Version: "MariaDB 10.11.19", OK: true}}}},
		Counts:       map[ledger.Outcome]int{ledger.OutcomeSold: int(c.Stock), ledger.OutcomeSoldOut: c.Buyers - int(c.Stock)},
		Latency:      loadtest.Latency{P50: 4000, P90: 9000, P99: 20_000},
		LatencyCurve: []loadtest.Percentile{{Percent: 0, Micros: 1000}, {Percent: 50, Micros: 4000}, {Percent: 90, Micros: 9000}, {Percent: 99, Micros: 20_000}, {Percent: 100, Micros: 25_000}},
		Course:       []loadtest.Point{{At: .1, Rate: 80, Left: 32}, {At: .3, Rate: 120, Left: 8}, {At: .5, Rate: 60, Left: 0}},
		Commands:     []loadtest.Commands{{Backend: "sql", Count: 150, PerPurchase: 3}},
		Audit:        &ledger.Report{Verdict: ledger.Held, Initial: c.Stock, Sold: c.Stock}}
	if play := b.plays[c.Strategy]; play != nil {
		if err := play(c, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func oversells(c loadtest.Config, r *loadtest.Result) error {
	r.Verdict, r.Audit.Verdict, r.Audit.Sold = ledger.Oversold, ledger.Oversold, int64(c.Buyers)
	r.Audit.Violations = []ledger.Violation{{Rule: ledger.RuleOversold, Verdict: ledger.Oversold, Message: "10 too many", Count: 1}}
	return nil
}

func sale() loadtest.Config {
	s := loadtest.DefaultScenario()
	s.Stock, s.Buyers, s.Concurrency, s.Seed = testStock, testBuyers, testCrowd, 7
	return loadtest.Config{Scenario: s, Targets: []string{"http://127.0.0.1:1", "http://127.0.0.1:2"}}
}

func options(b *book, contenders ...Contender) Options {
	return Options{Sale: sale(), Contenders: contenders, Repeats: 2, Turn: time.Second, load: b.load}
}

func steady(id, title string, rates ...float64) Floor {
	i := -1
	return Floor{ID: id, Title: title, Measure: func(context.Context, time.Duration) (float64, error) {
		i++
		return rates[i%len(rates)], nil
	}}
}

func TestRoundsAlternate(t *testing.T) {
	b := &book{}
	o := options(b, Contender{Name: "a"}, Contender{Name: "b"}, Contender{Name: "c"})
	o.Turn, o.Repeats, o.Sparse, o.Few = 0, 3, []string{"b"}, 2
	r := Run(t.Context(), o)
	want := "a × 8, b × 8, c × 8, b × 2, b × 2, c × 8, b × 8, a × 8, a × 8, b × 8, c × 8, b × 2"
	if got := strings.Join(b.held, ", "); got != want {
		t.Errorf("the sales were held in the order\n%s, not\n%s", got, want)
	}
	if r.Interrupted || r.ExitStatus() != ExitAsKnown {
		t.Errorf("interrupted %v, exit status %d", r.Interrupted, r.ExitStatus())
	}
}

// A turn of a second holds a sale of half a second twice.
func TestTurnsLastLongEnough(t *testing.T) {
	b := &book{}
	o := options(b, Contender{Name: "a"})
	o.Floors = []Floor{steady(FloorHTTP, "handler", 200, 400), steady(FloorTransaction, "transaction", 200, 50)}
	r := Run(t.Context(), o)
	if len(b.held) != 4 {
		t.Fatalf("%d sales were held in two turns: %v", len(b.held), b.held)
	}
	e := r.Strategies[0]
	if e.Rounds[0].Sales != 2 || e.Sales != (Spread{100, 100, 100}) || e.Requests.Median != 100 {
		t.Errorf("40 sold in .4 s of 50 asked in .5 s came to %+v and %+v", e.Sales, e.Requests)
	}
	// Round by round: .5 and .25 of the handler, .5 and 2 of the transaction.
	if got := e.Ratios[FloorHTTP]; got != (Spread{.375, .25, .5}) {
		t.Errorf("the ratio to the handler is %+v", got)
	}
	if got := e.Ratios[FloorTransaction]; got != (Spread{1.25, .5, 2}) {
		t.Errorf("the ratio to the transaction is %+v", got)
	}
}

// Each of these must be told from the others by the exit status.
func TestExitStatus(t *testing.T) {
	good, bad := Contender{Name: "good"}, Contender{Name: "bad", Breaks: true}
	loses := func(_ loadtest.Config, r *loadtest.Result) error { r.Verdict = ledger.Lost; return nil }
	invalid := func(_ loadtest.Config, r *loadtest.Result) error { r.Verdict = ledger.NotValid; return nil }
	for _, c := range []struct {
		name      string
		good, bad func(loadtest.Config, *loadtest.Result) error
		want      int
	}{
		{"as known", nil, oversells, ExitAsKnown},
		{"as known, lost", nil, loses, ExitAsKnown},
		{"the good one oversells", oversells, oversells, ExitOversold},
		{"the good one loses", loses, nil, ExitLost},
		{"the bad one is not caught", nil, nil, ExitMissed},
		{"the good one is not valid", invalid, oversells, ExitNotValid},
		{"the bad one is not valid", nil, invalid, ExitNotValid},
		{"oversold goes before not valid", oversells, invalid, ExitOversold},
	} {
		b := &book{plays: map[string]func(loadtest.Config, *loadtest.Result) error{"good": c.good, "bad": c.bad}}
		if got := Run(t.Context(), options(b, good, bad)).ExitStatus(); got != c.want {
			t.Errorf("%s: exit status %d, not %d", c.name, got, c.want)
		}
	}
}

// One oversold sale of many is enough, be it a warm-up.
func TestOneSaleIsEnough(t *testing.T) {
	sales := 0
	b := &book{plays: map[string]func(loadtest.Config, *loadtest.Result) error{"a": func(c loadtest.Config, r *loadtest.Result) error {
		if sales++; sales == 4 { // the second round's warm-up
			return oversells(c, r)
		}
		return nil
	}}}
	r := Run(t.Context(), options(b, Contender{Name: "a"}))
	if e := r.Strategies[0]; e.Verdict != ledger.Oversold || e.Expected || len(e.Violations) != 1 || e.Violations[0].Rounds != 1 {
		t.Errorf("one of %d sales oversold, and the entry says %+v", sales, e)
	}
}

func TestUnavailableIsListed(t *testing.T) {
	b := &book{plays: map[string]func(loadtest.Config, *loadtest.Result) error{"a": func(loadtest.Config, *loadtest.Result) error {
		return fmt.Errorf("%w: no ZooKeeper is configured", loadtest.ErrConfig)
	}}}
	r := Run(t.Context(), options(b, Contender{Name: "a"}, Contender{Name: "b"}))
	if want := []NotRun{{"a", "no ZooKeeper is configured"}}; !slices.Equal(r.NotRun, want) {
		t.Errorf("not run: %v, want %v", r.NotRun, want)
	}
	if len(r.Strategies) != 1 || r.ExitStatus() != ExitAsKnown {
		t.Errorf("%d strategies, exit status %d", len(r.Strategies), r.ExitStatus())
	}
	if r = Run(t.Context(), options(b, Contender{Name: "a"})); r.ExitStatus() != ExitNotValid {
		t.Errorf("nothing could be run, and the exit status is %d", r.ExitStatus())
	}
}

// Ctrl-C in the second round: the first stays, the sale that was on is judged.
func TestInterrupted(t *testing.T) {
	for _, oversold := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		turns := 0
		b := &book{plays: map[string]func(loadtest.Config, *loadtest.Result) error{"a": func(c loadtest.Config, r *loadtest.Result) error {
			if c.Stock == testStock {
				turns++
			}
			if turns == 3 {
				cancel()
				r.Interrupted, r.Verdict = true, ledger.NotValid
				if oversold {
					return oversells(c, r)
				}
			}
			return nil
		}}}
		r := Run(ctx, options(b, Contender{Name: "a"}))
		e := r.Strategies[0]
		want, status := ledger.Held, ExitNotValid
		if oversold {
			want, status = ledger.Oversold, ExitOversold
		}
		if !r.Interrupted || e.Verdict != want || e.Sales.Median != 100 || r.ExitStatus() != status {
			t.Errorf("oversold %v: interrupted %v, %s, %v sales/s, exit status %d", oversold, r.Interrupted, e.Verdict, e.Sales, r.ExitStatus())
		}
	}
}

func TestAFloorThatFails(t *testing.T) {
	o := options(&book{}, Contender{Name: "a"})
	o.Floors = []Floor{{ID: FloorRedis, Title: "INCR", Measure: func(context.Context, time.Duration) (float64, error) { return 0, errors.New("gone") }}}
	r := Run(t.Context(), o)
	if r.Floors[0].Missing != "gone" || len(r.Strategies[0].Ratios) != 0 || r.ExitStatus() != ExitAsKnown {
		t.Errorf("%+v %v", r.Floors[0], r.Strategies[0].Ratios)
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Spread
	}{{nil, Spread{}}, {[]float64{3}, Spread{3, 3, 3}}, {[]float64{3, 1}, Spread{2, 1, 3}}, {[]float64{9, 1, 2}, Spread{2, 1, 9}}} {
		if got := spreadOf(c.values); got != c.want {
			t.Errorf("the spread of %v is %+v, not %+v", c.values, got, c.want)
		}
	}
}

// Who had no turn is not judged.
func TestInterruptedBeforeTheLast(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := &book{plays: map[string]func(loadtest.Config, *loadtest.Result) error{"a": func(loadtest.Config, *loadtest.Result) error { cancel(); return nil }}}
	r := Run(ctx, options(b, Contender{Name: "a"}, Contender{Name: "b", Breaks: true}))
	if len(r.Strategies) != 1 || len(r.NotRun) != 1 || r.NotRun[0].Strategy != "b" || !r.Interrupted || r.ExitStatus() != ExitNotValid {
		t.Errorf("%d strategies, not run %v, interrupted %v, exit status %d", len(r.Strategies), r.NotRun, r.Interrupted, r.ExitStatus())
	}
}
