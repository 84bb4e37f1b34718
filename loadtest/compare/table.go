package compare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/internal/numbers"
	"seckill/loadtest"
)

// Word is the entry's verdict, and whether it is as known.
func (e *Entry) Word() string {
	switch {
	case e.Verdict == ledger.NotValid:
		return "NOT VALID"
	case e.Expected && e.Verdict != ledger.Held:
		return strings.ToUpper(string(e.Verdict)) + ", as known"
	case e.Verdict == loadtest.Blocked:
		return "BLOCKED!"
	case e.Broken():
		return strings.ToUpper(string(e.Verdict)) + "!"
	case e.Breaks:
		return "NOT CAUGHT"
	}
	return "HELD"
}

// Why says in a sentence what the judge found.
func (e *Entry) Why() string {
	var parts []string
	if over := e.Oversold(); over > 0 {
		parts = append(parts, numbers.Thousands(over)+" units too many")
	}
	for _, v := range e.Violations {
		parts = append(parts, strings.ReplaceAll(v.Rule, "_", " "))
	}
	return strings.Join(append(parts, e.Problems...), ", ")
}

// baselinesWith are those with so many buyers at a time.
func (r *Result) baselinesWith(concurrency int) (all []*BaselineResult) {
	for _, b := range r.Baselines {
		if b.Concurrency == concurrency {
			all = append(all, b)
		}
	}
	return all
}

func (r *Result) measuredBaselines(concurrency int) []*BaselineResult {
	return slices.DeleteFunc(r.baselinesWith(concurrency), func(b *BaselineResult) bool { return len(b.Rounds) == 0 })
}

var shortBaseline = map[string]string{
	BaselineHTTP: "of gin", BaselineScript: "of gin + script", BaselineInsert: "of gin + INSERT", BaselineRedis: "of INCR", BaselineUpdate: "of UPDATE", BaselineTransaction: "of transaction",
}

const strategyNote = "Median of the rounds (lowest–highest). Sold: share of the stock; the rest was refused as busy or conflict. " +
	"Sales per second: purchases that sold, by the time from a sale's first request to its last sold one. Ratios are to the baseline of the same round: " +
	"requests to gin and INCR, sales to the others. Lock wait and commands are per purchase."

func (r *Result) strategyTable() measure.Table {
	t := measure.Table{Title: "Strategies", Words: 2,
		Head: []string{"strategy", "verdict", "sold", "sales/s", "p50 ms", "p99 ms", "lock wait ms", "commands"}}
	baselines := r.measuredBaselines(r.Settings.Concurrency)
	for _, b := range baselines {
		t.Head = append(t.Head, shortBaseline[b.ID])
	}
	for _, e := range r.Strategies {
		row := []string{e.Strategy, e.Word(), fmt.Sprintf("%.0f %%", 100*e.Sold), spread(e.Sales),
			measure.Number(e.P50.Median), measure.Number(e.P99.Median), measure.None, measure.None}
		if e.LockWait != nil {
			row[6] = measure.Number(e.LockWait.Median)
		}
		if c := e.CommandsEach(); c > 0 {
			row[7] = measure.Number(c)
		}
		for _, b := range baselines {
			cell := measure.None
			if ratio, ok := e.Ratios[b.ID]; ok {
				cell = measure.Share(ratio.Median)
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Notes = []string{strategyNote}
	return t
}

func (r *Result) baselineTable() measure.Table {
	t := measure.Table{Title: "Baselines per second by buyers at a time", Head: []string{"work without a strategy"}, Words: 1}
	crowds := r.concurrencies()
	for _, n := range crowds {
		t.Head = append(t.Head, fmt.Sprint(n))
	}
	for _, first := range r.baselinesWith(r.Settings.Concurrency) {
		row := []string{first.Title}
		for _, n := range crowds {
			cell := measure.None
			for _, b := range r.measuredBaselines(n) {
				if b.ID == first.ID {
					cell = spread(b.Rate)
				}
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
		if first.Missing != "" {
			t.Notes = append(t.Notes, "Not measured: "+first.Title+": "+first.Missing)
		}
	}
	return t
}

func (r *Result) findingTable() measure.Table {
	t := measure.Table{Title: "What the judge found", Head: []string{"strategy", "verdict", "why"}, Words: 3}
	for _, e := range r.entries() {
		if why := e.Why(); why != "" {
			name := e.Strategy
			if e.Concurrency != r.Settings.Concurrency {
				name += fmt.Sprintf(" × %d", e.Concurrency)
			}
			t.Rows = append(t.Rows, []string{name, e.Word(), why})
		}
	}
	return t
}

func (r *Result) claimTable() measure.Table {
	t := measure.Table{Title: "The articles' words, and what this run says", Words: 4,
		Head: []string{"article", "says", "measured", "command"}}
	for _, c := range r.Claims {
		t.Rows = append(t.Rows, []string{c.Article, c.Says, c.Measured, c.Command})
	}
	return t
}

func (r *Result) changeTable() measure.Table {
	t := measure.Table{Title: "Since the older result", Head: []string{"strategy", "change", "of", "was", "is", ""}, Words: 1}
	for _, c := range r.Against.Changes {
		mark := c.Verdict
		if c.Failed && c.Percent < -r.Against.Limit {
			mark = strings.TrimPrefix(mark+", SLOWER", ", ")
		}
		by := strings.TrimPrefix(shortBaseline[c.By], "of ")
		if by == "" {
			by = "sales/s"
		}
		show := measure.Number
		if c.By != "sales_per_second" {
			show = measure.Share
		}
		t.Rows = append(t.Rows, []string{c.Strategy, fmt.Sprintf("%+.1f %%", c.Percent), by, show(c.Was), show(c.Is), mark})
	}
	if len(r.Against.Gone) > 0 {
		t.Notes = append(t.Notes, "Not in this result: "+strings.Join(r.Against.Gone, ", "))
	}
	if len(r.Against.Added) > 0 {
		t.Notes = append(t.Notes, "Not in the older one: "+strings.Join(r.Against.Added, ", "))
	}
	t.Notes = append(t.Notes, fmt.Sprintf("More than %g %% slower, or another verdict, fails. It was: %s",
		r.Against.Limit, r.Against.Command))
	return t
}

// Facts describe the run, by name.
func (r *Result) Facts() [][2]string {
	s := r.Settings
	facts := [][2]string{
		{"command", r.Command},
		{"sale", fmt.Sprintf("%s units, %s buyers × %d, %d at a time, seed %d",
			numbers.Thousands(s.Stock), numbers.Thousands(s.Buyers), s.Quantity, s.Concurrency, s.Seed)},
		{"rounds", fmt.Sprintf("%d in alternating order, at least %s measured of each in each",
			r.Repeats, time.Duration(r.TurnSeconds*float64(time.Second)))},
		{"when", fmt.Sprintf("%s, %s", r.Begun.UTC().Format("2006-01-02 15:04 MST"),
			time.Duration(r.Seconds*float64(time.Second)).Round(time.Second))},
		{"machine", fmt.Sprintf("%s, seckill %s", r.Machine, r.Version)},
		{"services", fmt.Sprintf("%d: %s", len(r.Targets), strings.Join(r.Targets, ", "))},
	}
	if s.Async {
		facts = append(facts, [2]string{"answers", "when accepted, by strategies that can; buyers ask for the order"})
	}
	if s.Reserve > 0 {
		facts = append(facts, [2]string{"buyers", fmt.Sprintf("reserve for %s and then pay; %s never pay, %s pay late", s.Reserve, s.Forget, s.PayLate)})
	}
	if l := r.Locks; l != nil {
		ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
		facts = append(facts, [2]string{"locks", fmt.Sprintf("lease %s, wait %s, poll %s", ms(l.Lease), ms(l.Wait), ms(l.Poll))})
	}
	for _, b := range r.Servers {
		facts = append(facts, [2]string{b.Name, server(b)})
	}
	var each []string
	for _, d := range r.Durability {
		each = append(each, fmt.Sprintf("%s %s=%s", d.Backend, d.Name, d.Value))
	}
	if each != nil {
		facts = append(facts, [2]string{"durability", strings.Join(each, " · ")})
	}
	return facts
}

func server(b backend.Status) string {
	text := strings.Join([]string{b.Version, string(b.Tier), b.Address}, ", ")
	if !b.OK {
		text += ", DOWN: " + b.Error
	}
	return text
}

// A Tally counts the strategies of a result by outcome.
type Tally struct {
	Held   int `json:"held"`   // correct strategies
	Caught int `json:"caught"` // strategies that broke, or stood still, as is known
	Other  int `json:"other"`  // not as known
	NotRun int `json:"not_run"`
}

// Tally counts the strategies by outcome.
func (r *Result) Tally() Tally {
	t := Tally{NotRun: len(r.NotRun)}
	for _, e := range r.Strategies {
		switch {
		case e.Expected && e.Verdict == ledger.Held:
			t.Held++
		case e.Expected:
			t.Caught++
		default:
			t.Other++
		}
	}
	return t
}

// Summary is the outcome in a sentence.
func (r *Result) Summary() string {
	t := r.Tally()
	text := fmt.Sprintf("%d held as they must, %d broken ones were caught", t.Held, t.Caught)
	if t.Caught == 1 {
		text = strings.Replace(text, "broken ones were", "broken one was", 1)
	}
	if t.Other > 0 {
		text += fmt.Sprintf(", %d CAME OUT OTHERWISE", t.Other)
	}
	if len(r.NotRun) > 0 {
		text += fmt.Sprintf(", %d not run", len(r.NotRun))
	}
	if r.Interrupted {
		text += "; interrupted: what is here was measured until then"
	}
	return text
}

// spread is empty where no round was measured.
func spread(s measure.Spread) string {
	if s == (measure.Spread{}) {
		return measure.None
	}
	return s.String()
}
