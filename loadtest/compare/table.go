package compare

import (
	"fmt"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

// A table is a part of a report: words on the left, figures on the right.
type table struct {
	title string
	head  []string
	rows  [][]string
	notes []string
	words int // columns that are words
}

const none = "–"

// number is a figure with three digits that count.
func number(x float64) string {
	switch {
	case x >= 1000:
		return thousands(int64(x + .5))
	case x >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case x >= 9.995:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// share is a ratio with two digits that count.
func share(x float64) string {
	switch {
	case x >= .0995:
		return fmt.Sprintf("%.2f", x)
	case x >= .00995:
		return fmt.Sprintf("%.3f", x)
	}
	return fmt.Sprintf("%.4f", x)
}

func thousands(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func (s Spread) String() string {
	switch {
	case s == Spread{}:
		return none
	case s.Low == s.High:
		return number(s.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", number(s.Median), number(s.Low), number(s.High))
}

// Word is the entry's verdict, and whether it is what was known of it.
func (e *Entry) Word() string {
	switch {
	case e.Verdict == ledger.NotValid:
		return "NOT VALID"
	case e.Broken() && e.Breaks:
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

// Why says what the judge found, in a sentence.
func (e *Entry) Why() string {
	var parts []string
	if over := e.Oversold(); over > 0 {
		parts = append(parts, fmt.Sprintf("%s units too many", thousands(over)))
	}
	for _, v := range e.Violations {
		parts = append(parts, strings.ReplaceAll(v.Rule, "_", " "))
	}
	return strings.Join(append(parts, e.Problems...), ", ")
}

// floors are those that were measured.
func (r *Result) floors() (all []FloorResult) {
	for _, f := range r.Floors {
		if len(f.Rounds) > 0 {
			all = append(all, f)
		}
	}
	return all
}

var shortFloor = map[string]string{
	FloorHTTP: "of gin", FloorRedis: "of INCR", FloorUpdate: "of UPDATE", FloorTransaction: "of transaction",
}

func (r *Result) strategyTable() table {
	t := table{title: "Strategies", words: 2,
		head: []string{"strategy", "verdict", "sold", "sales/s", "p50 ms", "p99 ms", "lock wait ms", "commands"}}
	floors := r.floors()
	for _, f := range floors {
		t.head = append(t.head, shortFloor[f.ID])
	}
	for _, e := range r.Strategies {
		row := []string{e.Strategy, e.Word(), fmt.Sprintf("%.0f %%", 100*e.Sold), e.Sales.String(),
			number(e.P50.Median), number(e.P99.Median), none, none}
		if e.LockWait != nil {
			row[6] = number(e.LockWait.Median)
		}
		if c := e.CommandsEach(); c > 0 {
			row[7] = number(c)
		}
		for _, f := range floors {
			cell := none
			if ratio, ok := e.Ratios[f.ID]; ok {
				cell = share(ratio.Median)
			}
			row = append(row, cell)
		}
		t.rows = append(t.rows, row)
	}
	t.notes = []string{"Median of the rounds (lowest–highest). Sold: of the stock, the rest was refused as busy or conflict. " +
		"Sales are counted until the last one; a ratio is to the floor of the same round: " +
		"requests to gin and INCR, sales to UPDATE and the transaction. Lock wait and commands are what a purchase came to."}
	return t
}

func (r *Result) floorTable() table {
	t := table{title: "Floors", head: []string{"the work alone", "a second"}, words: 1}
	for _, f := range r.Floors {
		row := []string{f.Title, f.Rate.String()}
		if f.Missing != "" {
			row[1] = none
			t.notes = append(t.notes, "Not measured: "+f.Title+": "+f.Missing)
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func (r *Result) findingTable() table {
	t := table{title: "What the judge found", head: []string{"strategy", "verdict", "why"}, words: 3}
	for _, e := range append(append([]*Entry{}, r.Strategies...), r.Sparse...) {
		if why := e.Why(); why != "" {
			name := e.Strategy
			if e.Concurrency != r.Settings.Concurrency {
				name += fmt.Sprintf(" × %d", e.Concurrency)
			}
			t.rows = append(t.rows, []string{name, e.Word(), why})
		}
	}
	return t
}

func (r *Result) claimTable() table {
	t := table{title: "The articles' words, and what this run says", words: 4,
		head: []string{"article", "says", "measured", "command"}}
	for _, c := range r.Claims {
		t.rows = append(t.rows, []string{c.Article, c.Says, c.Measured, c.Command})
	}
	return t
}

func (r *Result) changeTable() table {
	t := table{title: "Since the older result", head: []string{"strategy", "change", "of", "was", "is", ""}, words: 1}
	for _, c := range r.Against.Changes {
		mark := c.Verdict
		if c.Failed && c.Percent < -r.Against.Limit {
			mark = strings.TrimPrefix(mark+", SLOWER", ", ")
		}
		by := strings.TrimPrefix(shortFloor[c.By], "of ")
		if by == "" {
			by = "sales/s"
		}
		show := number
		if c.By != "sales_per_second" {
			show = share
		}
		t.rows = append(t.rows, []string{c.Strategy, fmt.Sprintf("%+.1f %%", c.Percent), by, show(c.Was), show(c.Is), mark})
	}
	if len(r.Against.Gone) > 0 {
		t.notes = append(t.notes, "Not in this result: "+strings.Join(r.Against.Gone, ", "))
	}
	if len(r.Against.Added) > 0 {
		t.notes = append(t.notes, "Not in the older one: "+strings.Join(r.Against.Added, ", "))
	}
	t.notes = append(t.notes, fmt.Sprintf("More than %g %% slower, or another verdict, fails. It was: %s",
		r.Against.Limit, r.Against.Command))
	return t
}

// Facts are what the run was, by name.
func (r *Result) Facts() [][2]string {
	s := r.Settings
	facts := [][2]string{
		{"command", r.Command},
		{"sale", fmt.Sprintf("%s units, %s buyers × %d, %d at a time, seed %d",
			thousands(s.Stock), thousands(int64(s.Buyers)), s.Quantity, s.Concurrency, s.Seed)},
		{"rounds", fmt.Sprintf("%d in alternating order, at least %s measured of each in each",
			r.Repeats, time.Duration(r.TurnSeconds*float64(time.Second)))},
		{"when", fmt.Sprintf("%s, %s", r.Begun.UTC().Format("2006-01-02 15:04 MST"),
			time.Duration(r.Seconds*float64(time.Second)).Round(time.Second))},
		{"machine", fmt.Sprintf("%d processors, %s/%s, %s, seckill %s",
			r.Machine.CPUs, r.Machine.OS, r.Machine.Arch, r.Machine.Go, r.Version)},
		{"services", fmt.Sprintf("%d: %s", len(r.Targets), strings.Join(r.Targets, ", "))},
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
	text := fmt.Sprintf("%s, %s, %s", b.Version, b.Tier, b.Address)
	if !b.OK {
		text += ", DOWN: " + b.Error
	}
	return text
}

// A Tally counts what the strategies of a result came to.
type Tally struct {
	Held   int `json:"held"`   // as they must
	Caught int `json:"caught"` // broken, and known to be
	Other  int `json:"other"`  // otherwise than known
	NotRun int `json:"not_run"`
}

// Tally counts the strategies by what they came to.
func (r *Result) Tally() Tally {
	t := Tally{NotRun: len(r.NotRun)}
	for _, e := range r.Strategies {
		switch {
		case e.Expected && !e.Breaks:
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
	broken := "broken ones were"
	if t.Caught == 1 {
		broken = "broken one was"
	}
	text := fmt.Sprintf("%d held as they must, %d %s caught", t.Held, t.Caught, broken)
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
