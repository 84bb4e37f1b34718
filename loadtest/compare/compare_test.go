package compare

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/stats"
	"seckill/loadtest"
)

// A script replaces the load runs of a comparison. For each strategy, plays has a function that
// changes the result of its sale.
type script struct {
	sales []string // "name × concurrency" of each sale, in order, without warm-ups
	plays map[string]func(round int, r *loadtest.Result) error
	// keyless, if not nil, changes the result of a sale without keys.
	keyless func(round int, r *loadtest.Result) error
}

const (
	testStock  = 40
	testBuyers = 800
)

// load returns a sale of 1 s that sells out after 0.5 s, unless plays or keyless change the result.
func (b *script) load(_ context.Context, c loadtest.Config) (*loadtest.Result, error) {
	r := &loadtest.Result{Requests: c.Buyers, Seconds: 1, SellingSeconds: .5, Verdict: judge.Held,
		Signs: loadtest.Signs{Served: loadtest.Yes},
		Counts: map[judge.Outcome]int{judge.OutcomeSold: int(c.Stock),
			judge.OutcomeSoldOut: c.Buyers - int(c.Stock) - 8, judge.OutcomeUnknown: 8},
		SoldLatency: loadtest.Latency{P50: 4000, P99: 20_000}, RefusedLatency: loadtest.Latency{P50: 1000, P99: 2000},
		Processor: loadtest.Processor{Services: new(.08)},
		Commands:  []loadtest.Commands{{Backend: "sql", PerPurchase: 3}, {Backend: "redis", PerPurchase: 1}},
		Audit:     &judge.Report{Verdict: judge.Held, Initial: c.Stock, Totals: judge.Totals{Sold: c.Stock}}}
	if c.Buyers != testBuyers {
		return r, nil
	}
	b.sales = append(b.sales, fmt.Sprintf("%s × %d", c.Strategy, c.Concurrency))
	if c.Keyless { // a sale with keys takes twice as long
		r.Seconds /= 2
		if b.keyless != nil {
			return r, b.keyless(0, r)
		}
		return r, nil
	}
	if play := b.plays[c.Strategy]; play != nil {
		if err := play(strings.Count(strings.Join(b.sales, " "), c.Strategy+" "), r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func oversells(_ int, r *loadtest.Result) error {
	r.Verdict, r.Audit.Sold = judge.Oversold, r.Audit.Initial+10
	r.Audit.Violations = []judge.Violation{{Rule: judge.RuleOversold, Verdict: judge.Oversold, Message: "10 too many"}}
	return nil
}

// faster returns a function for plays. It sets how many seconds each round's sale takes.
func faster(seconds ...float64) func(int, *loadtest.Result) error {
	return func(n int, r *loadtest.Result) error {
		r.Seconds = seconds[(n-1)%len(seconds)]
		return nil
	}
}

func options(b *script, names ...string) Options {
	o := Options{Settings: Presets()[0].Settings, load: b.load,
		Sale: loadtest.Config{Targets: []string{"http://127.0.0.1:1"}}}
	o.Strategies, o.Stock, o.Buyers, o.Concurrency, o.Turn = names, testStock, testBuyers, 8, 0
	for _, name := range names {
		o.Candidates = append(o.Candidates, Candidate{Strategy: name, Breaks: strings.HasPrefix(name, "bad"),
			ProofBreaks: map[string]string{"fast": "lost-reply"}[name]})
	}
	return o
}

func TestRoundsAlternate(t *testing.T) {
	// With 2 buyers at a time, a is twice as fast.
	b := &script{plays: map[string]func(int, *loadtest.Result) error{"a": faster(1, .5, .5, 1, 1, .5)}}
	o := options(b, "a", "b")
	o.Crowds = []int{2}
	r := Run(t.Context(), o)
	want := "a × 8, b × 8, a × 2, b × 2, b × 2, a × 2, b × 8, a × 8, a × 8, b × 8, a × 2, b × 2"
	labtest.Same(t, strings.Join(b.sales, ", "), want, "the order of the sales")
	if r.Interrupted || r.ExitStatus() != loadtest.ExitHeld || len(r.MainEntries()) != 2 || len(r.Entries) != 4 ||
		r.Entries[1].Factor.Times < .9 || r.Entries[3].Factor.Times > .6 {
		t.Errorf("interrupted %v, exit status %d, %d entries, %v and %v", r.Interrupted, r.ExitStatus(), len(r.Entries),
			r.Entries[1].Factor, r.Entries[3].Factor)
	}
}

// In every round, each strategy has a turn with keys and a turn without keys, and the two are
// compared. The sale without keys is judged too, but is not compared with other strategies.
func TestKeys(t *testing.T) {
	b := &script{}
	o := options(b, "conditional", "b")
	o.Keys, o.Rounds = true, 2
	r := Run(t.Context(), o)
	for i, e := range r.Entries {
		if ratio := e.Ratios[WithoutKeys]; e.Keyless != (i%2 == 1) || e.Keyless != (len(e.Ratios) == 0) || !e.Keyless &&
			ratio != (stats.Ratio{Times: .5, Low: .5, High: .5, Rounds: 2}) {
			t.Errorf("%s, without keys %t: %+v", e.Strategy, e.Keyless, e.Ratios)
		}
	}
	if len(r.Entries) != 4 || r.RelativeTo != "conditional" || r.Entries[2].Factor.Times != 1 ||
		r.Tally() != (Tally{Held: 2}) || r.ExitStatus() != loadtest.ExitHeld {
		t.Errorf("%d entries, factors to %s, %+v, exit status %d", len(r.Entries), r.RelativeTo, r.Tally(),
			r.ExitStatus())
	}
	var text strings.Builder
	if err := r.Report().WriteText(&text); err != nil ||
		!strings.Contains(text.String(), "| b           |           0.50 |") {
		t.Errorf("%v; the report is\n%s", err, text.String())
	}
	b.plays = map[string]func(int, *loadtest.Result) error{"b": func(_ int, r *loadtest.Result) error { r.Accepted = 1; return nil }}
	if r := Run(t.Context(), o); len(r.Entries[0].Ratios) != 1 || len(r.Entries[2].Ratios) > 0 {
		t.Errorf("answers in two steps are compared with those in one: %+v", r.Entries[2].Ratios)
	}
	b.plays, b.keyless = nil, oversells
	if r := Run(t.Context(), o); r.ExitStatus() != loadtest.ExitOversold || r.Entries[0].Verdict != judge.Held {
		t.Errorf("oversold without keys: exit status %d, with keys %s", r.ExitStatus(), r.Entries[0].Verdict)
	}
	o.Retry = 1
	labtest.Fails(t, o.Check(), "", "retries without keys")
}

// A strategy is compared with each baseline that was measured with as many buyers at a time. If
// purchases are accepted for later, the ratio is that of the answers.
func TestRatios(t *testing.T) {
	entry := func(k Candidate, concurrency int, answers, sales float64) *Entry {
		return &Entry{Candidate: k, Concurrency: concurrency, Ratios: map[string]stats.Ratio{},
			Rounds: []Round{{Round: 1, Figures: map[string]float64{Answers: answers, Sales: sales}}}}
	}
	merged, noop := Candidate{Strategy: "merged"}, Candidate{Strategy: "noop", Baseline: true}
	for _, c := range []struct {
		async bool
		want  float64
		head  string
	}{{false, .1, "sales/s"}, {true, .5, "answers/s"}} {
		r := &Result{Entries: []*Entry{entry(merged, 64, 500, 100), entry(merged, 512, 9, 9),
			entry(noop, 64, 1000, 1000)}}
		r.Settings.By, r.Settings.Async, r.Settings.Concurrency = Sales, c.async, 64
		r.setRatios()
		got, table := r.Entries[0].Ratios, r.ratiosTable()
		if fmt.Sprint(got) != fmt.Sprintf("map[noop:%.2f]", c.want) ||
			len(r.Entries[1].Ratios)+len(r.Entries[2].Ratios) > 0 {
			t.Errorf("accepted %t: %+v, with 512 at a time %+v, of the baseline %+v", c.async, got, r.Entries[1].Ratios,
				r.Entries[2].Ratios)
		}
		if fmt.Sprint(table.Head, table.Rows) != fmt.Sprintf("[strategy / noop] [[merged %.2f]]", c.want) ||
			!strings.HasPrefix(table.Notes[0], c.head) {
			t.Errorf("accepted %t: %v %v\n%s", c.async, table.Head, table.Rows, table.Notes[0])
		}
	}
}

// With plenty of stock, a sale has enough buyers for the whole turn.
func TestASaleLastsForItsTurn(t *testing.T) {
	for _, c := range []struct {
		plenty bool
		rate   float64
		want   string // buyers and stock of each sale, the warm-up first
	}{
		{true, 4000, "[16/8 8000/7240]"},
		{true, 100, "[16/8 800/40 800/40]"},
		{true, 1e9, "[16/8 100800/100040]"},
		{false, 4000, "[16/8 800/40 800/40]"},
	} {
		var sales []string
		b := &script{}
		o := options(b, "a")
		o.Rounds, o.Turn, o.Plenty = 1, 2*time.Second, c.plenty
		o.load = func(ctx context.Context, sale loadtest.Config) (*loadtest.Result, error) {
			sales = append(sales, fmt.Sprintf("%d/%d", sale.Buyers, sale.Stock))
			r, err := b.load(ctx, sale)
			if r.RequestsPerSec = c.rate; sale.Buyers > testBuyers {
				r.Seconds = 2
			}
			return r, err
		}
		Run(t.Context(), o)
		labtest.Same(t, fmt.Sprint(sales), c.want, "plenty %t, %v a second: the sales have", c.plenty, c.rate)
	}
}

func TestFiguresOfATurn(t *testing.T) {
	b := &script{plays: map[string]func(int, *loadtest.Result) error{"a": func(n int, r *loadtest.Result) error {
		if n%2 == 0 { // the commands of this sale are not known
			r.Commands = nil
		}
		if n == 5 { // sells nothing, and does not serve its buyers
			r.Audit.Sold, r.SoldLatency, r.Signs.Served = 0, loadtest.Latency{}, loadtest.No
		}
		return nil
	}}}
	o := options(b, "a")
	o.Turn = 2 * time.Second // makes a turn of two sales
	r := Run(t.Context(), o)
	e := r.Entries[0]
	if len(b.sales) != 6 || e.Rounds[0].Sales != 2 {
		t.Fatalf("%d sales, %+v", len(b.sales), e.Rounds)
	}
	for id, want := range map[string]float64{Answers: 792, Sales: 80, SellOut: .5, BoughtP50: 4, BoughtP99: 20,
		RefusedP50: 1, RefusedP99: 2, Commands: 4, Services: .1} {
		labtest.Same(t, e.Figures[id].Median(), want, "%s", id)
	}
	_, servers := e.Figures[Servers]
	if _, all := e.Rounds[2].Figures[SellOut]; servers || all || e.Rounds[2].Figures[BoughtP50] != 4 ||
		e.Served != loadtest.No {
		t.Errorf("the servers' time, which no sale said, is known: %t; when all was sold: %t; %+v, %s", servers, all,
			e.Rounds[2], e.Served)
	}
}

// The answer comes first: which strategy is faster and by how much, or that they cannot be told
// apart. Broken strategies do not take part.
func TestAnswer(t *testing.T) {
	b := &script{plays: map[string]func(int, *loadtest.Result) error{
		"fast": faster(.5, .4, .5), "alike": faster(1.1, .9,
			1), "bad": func(n int, r *loadtest.Result) error { r.Seconds = .01; return oversells(n, r) }}}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"conditional", "fast"}, "fast answers 2.15 × as many buyers as conditional (1.56–2.97)."},
		{[]string{"conditional", "alike"}, "cannot be told apart: "},
		{[]string{"conditional", "fast", "alike"}, "cannot be told apart: "},
		{[]string{"conditional", "bad", "fast"}, "fast answers 2.15 × as many buyers as conditional (1.56–2.97).\nIn the proof fast breaks: lost-reply.\nbad is broken, so its speed counts for nothing: 10 units too many."},
		{[]string{"bad"}, "bad is broken"},
	} {
		b.sales = nil
		r := Run(t.Context(), options(b, c.names...))
		labtest.Contains(t, strings.Join(r.Answer(), "\n"), c.want, "the answer on %v", c.names)
	}
	r := Run(t.Context(), options(b, "conditional", "fast", "alike"))
	for i, want := range []string{"1", "2.15 (1.56–2.97)", "not apart: 1.00 ("} {
		if got := r.Entries[i].factorCell(r.RelativeTo); !strings.HasPrefix(got, want) {
			t.Errorf("%s has the factor %q, want %q", r.Entries[i].Strategy, got, want)
		}
	}
}

func TestOutcomes(t *testing.T) {
	lost := func(_ int, r *loadtest.Result) error { r.Verdict = judge.Lost; return nil }
	stands := func(_ int, r *loadtest.Result) error {
		r.Verdict, r.Audit.Served = loadtest.Blocked, &judge.Served{}
		return nil
	}
	for _, c := range []struct {
		name string
		play func(int, *loadtest.Result) error
		want int
		word string
	}{
		{"good", nil, loadtest.ExitHeld, "yes"},
		{"good", oversells, loadtest.ExitOversold, "OVERSOLD"},
		{"good", lost, loadtest.ExitLost, "LOST"},
		{"good", stands, loadtest.ExitBlocked, "yes"},
		{"good", func(_ int, r *loadtest.Result) error {
			r.Verdict, r.Problems = judge.NotValid, []loadtest.Problem{{Text: "why"}}
			return nil
		}, loadtest.ExitNotValid, "NOT VALID"},
		{"bad", oversells, loadtest.ExitHeld, "oversold, as known"},
		{"bad", nil, loadtest.ExitHeld, "NOT CAUGHT"},
	} {
		b := &script{plays: map[string]func(int, *loadtest.Result) error{c.name: c.play}}
		o := options(b, c.name)
		r := Run(t.Context(), o)
		if got := r.ExitStatus(); got != c.want || r.Entries[0].rightCell() != c.word {
			t.Errorf("%s: exit status %d and %q, want %d and %q", c.name, got, r.Entries[0].rightCell(), c.want, c.word)
		}
	}
}

// An interrupted comparison keeps its measurements and a violation that is proven.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := &script{plays: map[string]func(int, *loadtest.Result) error{"a": func(n int, r *loadtest.Result) error {
		cancel()
		r.Interrupted = true
		return oversells(n, r)
	}}}
	r := Run(ctx, options(b, "a", "b"))
	nothing := func(_ int, r *loadtest.Result) error { r.Interrupted, r.Verdict = true, judge.NotValid; return nil }
	b = &script{plays: map[string]func(int, *loadtest.Result) error{"a": nothing}}
	if r := Run(t.Context(), options(b, "a")); r.ExitStatus() != loadtest.ExitNotValid ||
		r.Entries[0].Verdict != judge.Held {
		t.Errorf("after its warm-up held: status %d, %s", r.ExitStatus(), r.Entries[0].Verdict)
	}
	if !r.Interrupted || r.ExitStatus() != loadtest.ExitOversold || len(r.Entries) != 1 || len(r.NotRun) != 1 ||
		r.NotRun[0].Strategy != "b" {
		t.Errorf("interrupted %v, status %d, %d entries, %v", r.Interrupted, r.ExitStatus(), len(r.Entries), r.NotRun)
	}
}

// A strategy that cannot run here is listed as not run, with the reason.
func TestNotRun(t *testing.T) {
	b := &script{plays: map[string]func(int, *loadtest.Result) error{
		"gone": func(int, *loadtest.Result) error { return fmt.Errorf("%w: no etcd", loadtest.ErrConfig) }}}
	r := Run(t.Context(), options(b, "gone", "a"))
	if len(r.NotRun) != 1 || r.NotRun[0].Why != "no etcd" || r.ExitStatus() != loadtest.ExitNotValid ||
		r.Tally() != (Tally{1, 0, 0, 1}) {
		t.Errorf("%+v %+v, exit status %d", r.NotRun, r.Tally(), r.ExitStatus())
	}
	r.Settings.Strategies = []string{All} // if all strategies are compared, one that cannot run is no failure
	labtest.Same(t, r.ExitStatus(), loadtest.ExitHeld, "the exit status of all strategies")
}

// Every preset can be run, and its command line says what differs.
func TestPresets(t *testing.T) {
	for _, p := range Presets() {
		labtest.Check(t, p.Check(), nil, "%s", p.Name)
		o := Options{Settings: p.Settings}
		o.Duplicates, o.Reserve, o.Forget, o.Profile, o.Rate, o.Duration = .5, time.Second, .5, loadtest.Constant, 10, time.Hour
		warm := newComparison(o).warmUpSale(&Entry{Candidate: Candidate{Strategy: "any"}}).Scenario
		if err := warm.Check(); err != nil || warm.Forget > 0 || warm.Requests() > 2*o.Concurrency {
			t.Errorf("%s: the warm-up %+v: %v", p.Name, warm, err)
		}
	}
	s := Presets()[1].Settings
	s.Strategies, s.Crowds, s.Turn, s.Plenty = []string{"a", "b"}, []int{1, 64}, 0, false
	labtest.Same(t, s.Command(),
		"seckill compare --preset hot-row --strategies a,b --plenty=false --crowds 1,64 --turn 0s", "the command")
}

func TestStrategiesOutsideAllRoundsGetOne(t *testing.T) {
	p, _ := PresetNamed("flash-sale")
	o := Options{Settings: p.Settings, Candidates: []Candidate{{Strategy: "conditional"}, {Strategy: "version"}}}
	o.Strategies, o.AllRounds, o.Rounds, o.Turn = []string{"conditional", "version"}, []string{"conditional"}, 3, 0
	o.load = func(_ context.Context, sale loadtest.Config) (*loadtest.Result, error) {
		return &loadtest.Result{Requests: 10, Seconds: 1, Verdict: judge.Held}, nil
	}
	r := Run(t.Context(), o)
	got := map[string]int{}
	for _, e := range r.Entries {
		got[r.labelOf(e)] = len(e.Rounds)
	}
	labtest.Same(t, got, map[string]int{"conditional": 3, "version (one round)": 1}, "the rounds")
	o.AllRounds = []string{"zk"}
	labtest.Fails(t, o.Check(), "zk", "Check with a strategy that is not compared")
}

// In this test, all strategies are equally fast, but the machine becomes faster all the time. So a
// factor must compare with turns of the reference that are near in time.
func TestFactorsAreToNearbyTurnsOfTheReference(t *testing.T) {
	p, _ := PresetNamed("flash-sale")
	o := Options{Settings: p.Settings}
	o.Rounds, o.Turn = 3, 0
	for i := range 12 {
		o.Candidates = append(o.Candidates, Candidate{Strategy: fmt.Sprintf("s%02d", i)})
	}
	o.Candidates[7].Strategy = "conditional"
	turns := 0
	o.load = func(_ context.Context, sale loadtest.Config) (*loadtest.Result, error) {
		r := &loadtest.Result{Requests: 100, Seconds: 1, Verdict: judge.Held}
		if sale.Plenty { // sale is a warm-up
			return r, nil
		}
		turns++
		r.Seconds = math.Pow(1.1, -float64(turns))
		return r, nil
	}
	r := Run(t.Context(), o)
	for _, e := range r.Entries {
		labtest.Same(t, len(e.Rounds), 3, "the rounds of %s", e.Strategy)
	}
	if len(r.references) != 10 || r.RelativeTo != "conditional" {
		t.Errorf("%s had %d turns, want 10 of conditional", r.RelativeTo, len(r.references))
	}
	for _, e := range r.Entries {
		if f := e.Factor; !e.reference && (f.Times < .8 || f.Times > 1.25) {
			t.Errorf("%s has the factor %s, want about 1", e.Strategy, f)
		}
	}
	first, reference := r.Entries[0].seriesOf(Answers)[1], r.Entries[7].seriesOf(Answers)[1]
	if first > .7*reference {
		t.Errorf("the first strategy answers %f in round 1 and the reference %f, so that the test shows nothing", first,
			reference)
	}
}
