package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/internal/numbers"
	"seckill/loadtest"
)

// Format is the version of a Result's JSON form. Fields are added, never renamed.
const Format = 1

// A Result is all cells of a run.
type Result struct {
	Format   int             `json:"format"`
	Version  string          `json:"version,omitempty"`
	Command  string          `json:"command"`
	Begun    time.Time       `json:"begun"`
	Seconds  float64         `json:"seconds"`
	Machine  measure.Machine `json:"machine"`
	Servers  []string        `json:"servers"`
	Settings Settings        `json:"settings"`
	Faults   []fault.Name    `json:"faults"`
	Cells    []Cell          `json:"cells"`

	Interrupted bool     `json:"interrupted"`
	Left        int      `json:"left"` // cells that were not run
	Problems    []string `json:"problems"`
	// Missed are strategies shipped as broken that no cell saw breaking.
	Missed []string `json:"missed"`
}

func (r *Result) conclude(strategies []catalog.Info) {
	r.Missed = []string{}
	for _, i := range strategies {
		judged, broke := false, false
		for _, c := range r.of(i.Name) {
			judged = judged || c.Verdict != "" && c.Verdict != ledger.NotValid
			broke = broke || c.Broken()
		}
		if i.BreaksIn(r.Settings.Procs) && judged && !broke {
			r.Missed = append(r.Missed, i.Name)
		}
	}
}

func (r *Result) of(strategy string) (cells []Cell) {
	for _, c := range r.Cells {
		if c.Strategy == strategy {
			cells = append(cells, c)
		}
	}
	return cells
}

// Exit statuses. Of several that apply, the first counts.
const (
	ExitAsKnown  = loadtest.ExitHeld     // what must hold held, what is broken was caught
	ExitOversold = loadtest.ExitOversold // a strategy oversold that promises not to
	ExitLost     = loadtest.ExitLost     // one lost, or undersold
	ExitNotValid = loadtest.ExitNotValid // interrupted, nothing was run, or a cell proves nothing
	ExitBlocked  = loadtest.ExitBlocked  // one stood still, or did not go on after the fault
	ExitMissed   = 13                    // no cell caught a broken one
)

// ExitStatus is the outcome for scripts.
func (r *Result) ExitStatus() int {
	has := func(so func(Cell) bool) bool { return slices.ContainsFunc(r.Cells, so) }
	switch {
	case has(func(c Cell) bool { return c.Wrong() && c.Verdict == ledger.Oversold }):
		return ExitOversold
	case has(func(c Cell) bool { return c.Wrong() && c.Verdict == ledger.Lost }):
		return ExitLost
	case r.Interrupted, !has(Cell.Tested), has(func(c Cell) bool { return c.Verdict == ledger.NotValid }):
		return ExitNotValid
	case has(Cell.Wrong):
		return ExitBlocked
	case len(r.Missed) > 0:
		return ExitMissed
	}
	return ExitAsKnown
}

// Summary is the result in one sentence.
func (r *Result) Summary() string {
	tested, broke, wrong, void, not, apart := 0, 0, []string{}, 0, 0, 0
	for _, c := range r.Cells {
		switch {
		case c.Wrong():
			wrong = append(wrong, c.Strategy+" with "+string(c.Fault))
		case c.Verdict == ledger.NotValid:
			void++
		case c.Verdict == "":
			apart++
		case c.NotTested != "":
			not++
		case c.Broken():
			broke++
		}
		if c.Tested() {
			tested++
		}
	}
	said := []string{numbers.Count(tested, "sale") + " tested"}
	add := func(n int, format string) {
		if n > 0 {
			said = append(said, fmt.Sprintf(format, n))
		}
	}
	add(broke, "%d broke as they may")
	if len(wrong) > 0 {
		said = append(said, "not as they must be: "+strings.Join(wrong, ", "))
	} else if tested > 0 {
		said = append(said, "none broke that must hold")
	}
	if len(r.Missed) > 0 {
		said = append(said, "not seen breaking: "+strings.Join(r.Missed, ", "))
	}
	add(not, "%d not tested")
	add(apart, "%d not applicable")
	add(void, "%d prove nothing")
	add(r.Left, "%d not run")
	return strings.Join(said, "; ")
}

const wordNotValid = "proves nothing"

// Word is what a cell of the table says.
func (c Cell) Word() string {
	switch {
	case c.Verdict == "":
		return "–"
	case c.Verdict == ledger.NotValid:
		return wordNotValid
	case c.Broken() || c.Verdict == loadtest.Blocked:
		return string(c.Verdict)
	case c.NotTested != "":
		return "not tested"
	case !c.GoesOn:
		return "stopped"
	}
	return string(c.Verdict)
}

// Short is the word with the seconds without a sale.
func (c Cell) Short() string {
	if c.Word() != string(ledger.Held) {
		return c.Word()
	}
	return fmt.Sprintf("held %.1f s", c.Stood)
}

// strategies are those that have cells, in their order.
func (r *Result) strategies() (names []string) {
	for _, c := range r.Cells {
		if !slices.Contains(names, c.Strategy) {
			names = append(names, c.Strategy)
		}
	}
	return names
}

func (r *Result) table() measure.Table {
	t := measure.Table{Title: "What each fault does to each strategy", Head: []string{"strategy"}, Words: len(r.Faults) + 1,
		Notes: []string{"held, with the longest time without a sale; oversold, lost: the judge found it; blocked: right, and the sale stood still for longer " +
			"than the wait for a lock and its lease; stopped: nothing was sold after the fault, although units were left; not tested: the fault took no effect or could not matter; –: it cannot be had, or is of a server or clock that the strategy does not use."}}
	for _, f := range r.Faults {
		t.Head = append(t.Head, string(f))
	}
	for _, name := range r.strategies() {
		row := []string{name}
		cells := r.of(name)
		for _, f := range r.Faults {
			i := slices.IndexFunc(cells, func(c Cell) bool { return c.Fault == f })
			if i < 0 {
				row = append(row, "")
				continue
			}
			row = append(row, cells[i].Short())
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// findings are the cells that did not hold, with the command that repeats each. A
// strategy that breaks without a fault has one.
func (r *Result) findings() measure.Table {
	t := measure.Table{Title: "What did not hold", Prose: true, Head: []string{"cell", "what", "command"},
		Notes: []string{"A strategy that breaks without a fault is listed once, with that sale; the table above has the others."}}
	alone := map[string]bool{}
	for _, c := range r.Cells {
		alone[c.Strategy] = alone[c.Strategy] || c.Fault == None && c.Broken()
	}
	for _, c := range r.Cells {
		if alone[c.Strategy] && c.Fault != None && !c.Wrong() {
			continue
		}
		if what := c.What(); what != "" {
			t.Rows = append(t.Rows, []string{c.Strategy + ", " + string(c.Fault), what, c.Command})
		}
	}
	return t
}

// What says what went wrong in a cell; "" if nothing did.
func (c Cell) What() string {
	var said []string
	switch {
	case c.Broken():
		for _, v := range c.Violations {
			said = append(said, v.Message)
		}
	case c.Verdict == loadtest.Blocked:
		said = append(said, c.Blocked)
	case c.Verdict == ledger.NotValid:
		said = append(said, c.Problems...)
	case c.Tested() && !c.GoesOn:
		said = append(said, fmt.Sprintf("nothing was sold after the fault, although %s left", numbers.WasOrWere(int(c.Left), "unit")))
		for _, v := range c.Violations {
			said = append(said, v.Message)
		}
	}
	if c.Wrong() {
		said = append(said, "It promises to withstand this.")
	}
	return strings.Join(said, "; ")
}

func (r *Result) facts() [][2]string {
	s := r.Settings
	facts := [][2]string{{"command", r.Command}, {"seed", fmt.Sprint(s.Seed)},
		{"sale", fmt.Sprintf("%v buyers a second for %v, the fault after %v; then the rest is sold", s.Rate, s.lasts(), time.Duration(s.Before)*time.Millisecond)},
		{"locks", fmt.Sprintf("lease %v, wait %v; faults that last, last %v", time.Duration(s.Lease)*time.Millisecond,
			time.Duration(s.Wait)*time.Millisecond, time.Duration(s.For)*time.Millisecond)},
		{"where", fmt.Sprintf("topology %s, %s", s.Where, numbers.CountOf(s.Procs, "service process", "service processes"))},
		{"machine", r.Machine.String()}}
	if len(r.Servers) > 0 {
		facts = append(facts, [2]string{"servers", strings.Join(r.Servers, ", ")})
	}
	if r.Version != "" {
		facts = append(facts, [2]string{"version", r.Version})
	}
	return append(facts, [2]string{"not shown", "a process that is killed does not test fsync: what the system has in memory survives"})
}

// Name is of the block of the table in Markdown files.
const Name = "chaos"

// Report is the result in all its forms.
func (r *Result) Report() measure.Report {
	return measure.Report{Tables: []measure.Table{r.table(), r.findings()}, Facts: r.facts(), Problems: r.Problems, Summary: r.Summary(), JSON: r,
		Name: Name, Block: []measure.Table{r.table()}, Figures: r.OfPage(),
		From: fmt.Sprintf("`%s`, %s, %d processors, %s: %s", r.Command, r.Begun.UTC().Format("2006-01-02"), r.Machine.CPUs, strings.Join(r.Servers, ", "), r.Summary())}
}
