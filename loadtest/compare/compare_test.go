package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/loadtest"
)

// A script fakes the sales: plays decides what a strategy's sale comes to.
type script struct {
	sales []string // "name × concurrency", in order, without warm-ups
	plays map[string]func(c loadtest.Config, r *loadtest.Result) error
}

const (
	testStock  = 40
	testBuyers = 50
	testCrowd  = 8
)

// load is a sale of half a second that holds, unless plays changes it.
func (b *script) load(_ context.Context, c loadtest.Config) (*loadtest.Result, error) {
	if c.Stock == testStock {
		b.sales = append(b.sales, fmt.Sprintf("%s × %d", c.Strategy, c.Concurrency))
	}
	r := &loadtest.Result{Requests: c.Buyers, Seconds: .5, SellingSeconds: .4, Verdict: ledger.Held,
		Settings: loadtest.Scenario{Stock: c.Stock}, Targets: []loadtest.Target{{URL: "http://127.0.0.1:1", Backends: []backend.Status{
			{Name: "mysql", Tier: backend.Private, Address: "127.0.0.1:3306", Version: "MariaDB 10.11.19", OK: true}}}},
		Counts:       map[ledger.Outcome]int{ledger.OutcomeSold: int(c.Stock), ledger.OutcomeSoldOut: c.Buyers - int(c.Stock)},
		Latency:      loadtest.Latency{P50: 4000, P90: 9000, P99: 20_000},
		LatencyCurve: []loadtest.Percentile{{Percent: 0, Micros: 1000}, {Percent: 50, Micros: 4000}, {Percent: 90, Micros: 9000}, {Percent: 99, Micros: 20_000}, {Percent: 100, Micros: 25_000}},
		Course:       []loadtest.Point{{At: .1, Rate: 80, Left: 32}, {At: .3, Rate: 120, Left: 8}, {At: .5, Rate: 60, Left: 0}},
		Histogram:    histogram(c.Buyers), Processor: loadtest.Processor{Services: new(.02), Generator: new(.01)},
		Commands: []loadtest.Commands{{Backend: "sql", Count: 150, PerPurchase: 3}},
		Audit:    &ledger.Report{Verdict: ledger.Held, Initial: c.Stock, Sold: c.Stock}}
	if play := b.plays[c.Strategy]; play != nil {
		if err := play(c, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// histogram has so many answers, most of them in 4 ms and the last in 25 ms.
func histogram(answers int) *hdrhistogram.Histogram {
	h := hdrhistogram.New(1, (2 * time.Hour).Microseconds(), 3)
	for i := range answers {
		_ = h.RecordValue([]int64{1000, 4000, 4000, 9000}[i%4])
	}
	_ = h.RecordValue(25_000)
	return h
}

func oversells(c loadtest.Config, r *loadtest.Result) error {
	r.Verdict, r.Audit.Verdict, r.Audit.Sold = ledger.Oversold, ledger.Oversold, int64(c.Buyers)
	r.Audit.Violations = []ledger.Violation{{Rule: ledger.RuleOversold, Verdict: ledger.Oversold, Message: "10 too many", Count: 1}}
	return nil
}

func sale() loadtest.Config {
	s := loadtest.DefaultScenario()
	s.Stock, s.Buyers, s.Concurrency, s.Seed, s.Duplicates = testStock, testBuyers, testCrowd, 7, 0
	return loadtest.Config{Scenario: s, Targets: []string{"http://127.0.0.1:1", "http://127.0.0.1:2"}}
}

func options(b *script, candidates ...Candidate) Options {
	return Options{Sale: sale(), Candidates: candidates, Repeats: 2, Turn: time.Second, load: b.load}
}

func spreadOf(median, low, high float64) measure.Spread {
	return measure.Spread{Median: median, Low: low, High: high}
}

func steady(id, title string, rates ...float64) Baseline {
	i := -1
	return Baseline{ID: id, Title: title, Measure: func(context.Context, int, time.Duration) (float64, error) {
		i++
		return rates[i%len(rates)], nil
	}}
}

func TestRoundsAlternate(t *testing.T) {
	b := &script{}
	o := options(b, Candidate{Name: "a"}, Candidate{Name: "b"}, Candidate{Name: "c"})
	o.Turn, o.Repeats, o.Sparse, o.Few = 0, 3, []string{"b"}, 2
	r := Run(t.Context(), o)
	want := "a × 8, b × 8, c × 8, b × 2, b × 2, c × 8, b × 8, a × 8, a × 8, b × 8, c × 8, b × 2"
	if got := strings.Join(b.sales, ", "); got != want {
		t.Errorf("the sales ran in the order\n%s, not\n%s", got, want)
	}
	if r.Interrupted || r.ExitStatus() != ExitAsKnown {
		t.Errorf("interrupted %v, exit status %d", r.Interrupted, r.ExitStatus())
	}
}

// A turn of a second runs a sale of half a second twice.
func TestTurnsLastLongEnough(t *testing.T) {
	b := &script{}
	o := options(b, Candidate{Name: "a"})
	o.Baselines = []Baseline{steady(BaselineHTTP, "handler", 200, 400), steady(BaselineTransaction, "transaction", 200, 50)}
	r := Run(t.Context(), o)
	if len(b.sales) != 4 {
		t.Fatalf("%d sales ran in two turns: %v", len(b.sales), b.sales)
	}
	e := r.Strategies[0]
	if e.Rounds[0].Sales != 2 || e.Sales != spreadOf(100, 100, 100) || e.Requests.Median != 100 {
		t.Errorf("40 sold in .4 s of 50 asked in .5 s came to %+v and %+v", e.Sales, e.Requests)
	}
	// Round by round: .5 and .25 of the handler, .5 and 2 of the transaction.
	if got := e.Ratios[BaselineHTTP]; got != spreadOf(.375, .25, .5) {
		t.Errorf("the ratio to the handler is %+v", got)
	}
	if got := e.Ratios[BaselineTransaction]; got != spreadOf(1.25, .5, 2) {
		t.Errorf("the ratio to the transaction is %+v", got)
	}
}

// Each outcome has its own exit status.
func TestExitStatus(t *testing.T) {
	good, bad := Candidate{Name: "good"}, Candidate{Name: "bad", Breaks: true}
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
		b := &script{plays: map[string]func(loadtest.Config, *loadtest.Result) error{"good": c.good, "bad": c.bad}}
		if got := Run(t.Context(), options(b, good, bad)).ExitStatus(); got != c.want {
			t.Errorf("%s: exit status %d, not %d", c.name, got, c.want)
		}
	}
}

// A lock that is known to stay locked when a reply is lost may do so in a comparison,
// if a request failed; others may not, and it may not without one.
func TestBlockedAsKnown(t *testing.T) {
	stands := func(failed int) func(loadtest.Config, *loadtest.Result) error {
		return func(_ loadtest.Config, r *loadtest.Result) error {
			r.Verdict, r.Counts[ledger.OutcomeUnknown] = loadtest.Blocked, failed
			return nil
		}
	}
	for name, c := range map[string]struct {
		hangs  bool
		failed int
		word   string
		want   int
	}{
		"known to":                 {true, 1, "BLOCKED, as known", ExitAsKnown},
		"known to, nothing failed": {true, 0, "BLOCKED!", ExitBlocked},
		"not known to":             {false, 1, "BLOCKED!", ExitBlocked},
	} {
		b := &script{plays: map[string]func(loadtest.Config, *loadtest.Result) error{"a": stands(c.failed)}}
		r := Run(t.Context(), options(b, Candidate{Name: "a", Hangs: c.hangs}))
		if got := r.Strategies[0].Word(); got != c.word || r.ExitStatus() != c.want || r.Tally().Held != 0 {
			t.Errorf("%s: %s, exit status %d, %+v; want %s, %d", name, got, r.ExitStatus(), r.Tally(), c.word, c.want)
		}
	}
}

// One oversold sale is enough, also in a warm-up.
func TestOneSaleIsEnough(t *testing.T) {
	sales := 0
	b := &script{plays: map[string]func(loadtest.Config, *loadtest.Result) error{"a": func(c loadtest.Config, r *loadtest.Result) error {
		if sales++; sales == 4 { // the second round's warm-up
			return oversells(c, r)
		}
		return nil
	}}}
	r := Run(t.Context(), options(b, Candidate{Name: "a"}))
	if e := r.Strategies[0]; e.Verdict != ledger.Oversold || e.Expected || len(e.Violations) != 1 || e.Violations[0].Rounds != 1 {
		t.Errorf("one of %d sales oversold, and the entry says %+v", sales, e)
	}
}

func TestUnavailableIsListed(t *testing.T) {
	b := &script{plays: map[string]func(loadtest.Config, *loadtest.Result) error{"a": func(loadtest.Config, *loadtest.Result) error {
		return fmt.Errorf("%w: no ZooKeeper is configured", loadtest.ErrConfig)
	}}}
	r := Run(t.Context(), options(b, Candidate{Name: "a"}, Candidate{Name: "b"}))
	if want := []NotRun{{"a", "no ZooKeeper is configured"}}; !slices.Equal(r.NotRun, want) {
		t.Errorf("not run: %v, want %v", r.NotRun, want)
	}
	if len(r.Strategies) != 1 || r.ExitStatus() != ExitAsKnown {
		t.Errorf("%d strategies, exit status %d", len(r.Strategies), r.ExitStatus())
	}
	if r = Run(t.Context(), options(b, Candidate{Name: "a"})); r.ExitStatus() != ExitNotValid {
		t.Errorf("nothing could be run, and the exit status is %d", r.ExitStatus())
	}
}

// Ctrl-C in the second round: the first stays, the interrupted sale is judged.
func TestInterrupted(t *testing.T) {
	for _, oversold := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		turns := 0
		b := &script{plays: map[string]func(loadtest.Config, *loadtest.Result) error{"a": func(c loadtest.Config, r *loadtest.Result) error {
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
		r := Run(ctx, options(b, Candidate{Name: "a"}))
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

func TestFailingBaseline(t *testing.T) {
	o := options(&script{}, Candidate{Name: "a"})
	o.Baselines = []Baseline{{ID: BaselineRedis, Title: "INCR", Measure: func(context.Context, int, time.Duration) (float64, error) { return 0, errors.New("gone") }}}
	r := Run(t.Context(), o)
	if r.Baselines[0].Missing != "gone" || len(r.Strategies[0].Ratios) != 0 || r.ExitStatus() != ExitAsKnown {
		t.Errorf("%+v %v", r.Baselines[0], r.Strategies[0].Ratios)
	}
}

// A strategy without a turn is not judged.
func TestInterruptedBeforeTheLast(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := &script{plays: map[string]func(loadtest.Config, *loadtest.Result) error{"a": func(loadtest.Config, *loadtest.Result) error { cancel(); return nil }}}
	r := Run(ctx, options(b, Candidate{Name: "a"}, Candidate{Name: "b", Breaks: true}))
	if len(r.Strategies) != 1 || len(r.NotRun) != 1 || r.NotRun[0].Strategy != "b" || !r.Interrupted || r.ExitStatus() != ExitNotValid {
		t.Errorf("%d strategies, not run %v, interrupted %v, exit status %d", len(r.Strategies), r.NotRun, r.Interrupted, r.ExitStatus())
	}
}

// What is reserved is sold when it is paid, the warm-up waits for no deadline, and
// the result says how buyers bought.
func TestReservationsAreCompared(t *testing.T) {
	var warm, measured []loadtest.Scenario
	b := &script{plays: map[string]func(loadtest.Config, *loadtest.Result) error{"reserve": func(c loadtest.Config, r *loadtest.Result) error {
		if c.Stock == testStock {
			measured = append(measured, c.Scenario)
		} else {
			warm = append(warm, c.Scenario)
		}
		r.Counts = map[ledger.Outcome]int{ledger.OutcomeReserved: 40, ledger.OutcomeSoldOut: 10}
		r.Reservations = loadtest.Reservations{Paid: 32, Forgotten: 6, Expired: 2}
		r.Audit.Sold = 32
		return nil
	}}}
	o := options(b, Candidate{Name: "reserve"})
	o.Sale.Reserve, o.Sale.Forget, o.Sale.PayLate = 2*time.Second, .15, .05
	r := Run(t.Context(), o)
	if rate := r.Entry("reserve").Sales.Median; rate != 80 { // 32 in 0.4 s
		t.Errorf("%g sales per second, want 80", rate)
	}
	for _, s := range measured {
		if s.Reserve != 2*time.Second || s.Forget != .15 || s.PayLate != .05 {
			t.Errorf("a sale with %s, %s, %s", s.Reserve, s.Forget, s.PayLate)
		}
	}
	for _, s := range warm {
		if s.Reserve != 2*time.Second || s.Forget != 0 || s.PayLate != 0 {
			t.Errorf("a warm-up with %s, %s, %s", s.Reserve, s.Forget, s.PayLate)
		}
	}
	if len(measured) == 0 || len(warm) == 0 {
		t.Errorf("%d sales, %d warm-ups", len(measured), len(warm))
	}
	if said := fmt.Sprint(r.Facts()); !strings.Contains(said, "reserve for 2s and then pay; 15% never pay, 5% pay late") {
		t.Errorf("the facts do not say how buyers bought: %s", said)
	}
	o.Sale.Reserve, o.Sale.Forget, o.Sale.PayLate, o.Sale.Async = 0, 0, 0, true
	if said := fmt.Sprint(Run(t.Context(), o).Facts()); !strings.Contains(said, "when accepted, by strategies that can") {
		t.Errorf("the facts do not say that answers come when accepted: %s", said)
	}
}
