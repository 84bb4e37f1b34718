package chaos

import (
	"fmt"
	"slices"
	"strings"

	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/internal/numbers"
	"seckill/loadtest"
)

// A Result is all cells of a run, as --json writes and --resume reads it.
type Result struct {
	Command  string       `json:"command"`
	Repeat   string       `json:"repeat"` // of one cell; STRATEGY and FAULT stand for its own
	Begun    string       `json:"begun"`  // the day
	Machine  string       `json:"machine"`
	Servers  []string     `json:"servers"`
	Settings Settings     `json:"settings"`
	Left     int          `json:"left,omitempty"` // cells that were not run
	Faults   []fault.Name `json:"faults"`
	Rows     []Row        `json:"rows"`
	// Missed are strategies shipped as broken that no cell saw breaking.
	Missed []string `json:"missed,omitempty"`
}

// A Row is a strategy with its cells, in the order of Result.Faults. Cells that
// were not run are null; those that need not be are {}.
type Row struct {
	Strategy string  `json:"strategy"`
	Cells    []*Cell `json:"cells"`
}

// proven is a cell that need not be run again; nil: it must be.
func (r *Result) proven(strategy string, name fault.Name) *Cell {
	if r == nil {
		return nil
	}
	i := slices.Index(r.Faults, name)
	for _, row := range r.Rows {
		if row.Strategy == strategy && i >= 0 && i < len(row.Cells) && row.Cells[i] != nil && row.Cells[i].Tested() {
			return row.Cells[i]
		}
	}
	return nil
}

func (r *Result) conclude(strategies []catalog.Info) {
	for i, row := range r.Rows {
		judged, broke := false, false
		for _, c := range row.Cells {
			if c == nil {
				r.Left++
				continue
			}
			judged = judged || c.Word != "" && c.Word != wordNotValid
			broke = broke || c.Broken()
		}
		if strategies[i].BreaksIn(r.Settings.Procs) && judged && !broke {
			r.Missed = append(r.Missed, row.Strategy)
		}
	}
}

// cells ranges over those that were run, or need not be.
func (r *Result) cells(yield func(name string, c *Cell) bool) {
	for _, row := range r.Rows {
		for i, c := range row.Cells {
			if c != nil && !yield(row.Strategy+", "+string(r.Faults[i]), c) {
				return
			}
		}
	}
}

// ExitStatus is the outcome for scripts, one of loadtest's; a strategy that stood still,
// or did not go on after the fault, is blocked. Of several that apply, the first counts.
func (r *Result) ExitStatus() int {
	has := func(so func(*Cell) bool) (found bool) {
		r.cells(func(_ string, c *Cell) bool { found = so(c); return !found })
		return found
	}
	switch {
	case has(func(c *Cell) bool { return c.Wrong && c.Word == string(ledger.Oversold) }):
		return loadtest.ExitOversold
	case has(func(c *Cell) bool { return c.Wrong && c.Word == string(ledger.Lost) }):
		return loadtest.ExitLost
	case r.Left > 0, !has((*Cell).Tested), has(func(c *Cell) bool { return c.Word == wordNotValid }):
		return loadtest.ExitNotValid
	case has(func(c *Cell) bool { return c.Wrong }):
		return loadtest.ExitBlocked
	case len(r.Missed) > 0:
		return loadtest.ExitMissed
	}
	return loadtest.ExitHeld
}

// Summary is the result in one sentence.
func (r *Result) Summary() string {
	words, wrong := map[string]int{}, []string(nil)
	for name, c := range r.cells {
		words[c.Word]++
		if c.Wrong {
			wrong = append(wrong, name)
		}
	}
	words["not run"], words["not applicable"] = r.Left, words[""]
	var said []string
	for _, word := range []string{string(ledger.Held), string(ledger.Oversold), string(ledger.Lost), string(loadtest.Blocked), wordStopped,
		wordNotTested, wordNotValid, "not applicable", "not run"} {
		if words[word] > 0 {
			said = append(said, fmt.Sprintf("%d %s", words[word], word))
		}
	}
	for _, list := range []struct {
		title string
		names []string
	}{{"not as they must be", wrong}, {"not seen breaking", r.Missed}} {
		if list.names != nil {
			said = append(said, list.title+": "+strings.Join(list.names, ", "))
		}
	}
	return strings.Join(said, "; ")
}

func (r *Result) table() measure.Table {
	t := measure.Table{Title: "What each fault does to each strategy", Head: []string{"strategy"}, Words: len(r.Faults) + 1,
		Notes: []string{"held, with the longest time without a sale if that is a second or more; oversold, lost: the judge found it; blocked: right, and the sale stood still for three seconds longer " +
			"than the wait for a lock, its lease (two seconds at least) and the fault itself; stopped: nothing was sold after the fault, although units were left; not tested: the fault took no effect or could not matter; –: not available here, or about a server that the strategy does not use."}}
	for _, f := range r.Faults {
		t.Head = append(t.Head, string(f))
	}
	for _, row := range r.Rows {
		line := []string{row.Strategy}
		for _, c := range row.Cells {
			switch {
			case c == nil:
				line = append(line, "")
			case c.Word == "":
				line = append(line, measure.None)
			case c.Word == string(ledger.Held) && c.Stood >= 1:
				line = append(line, fmt.Sprintf("held %.1f s", c.Stood))
			default:
				line = append(line, c.Word)
			}
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// findings are the cells that did not hold and promised to, and those that prove
// nothing.
func (r *Result) findings() measure.Table {
	t := measure.Table{Title: "What went wrong", Words: 2, Head: []string{"cell", "what"}, Notes: []string{"To repeat one: " + r.Repeat}}
	for name, c := range r.cells {
		if c.Wrong || c.Word == wordNotValid {
			t.Rows = append(t.Rows, []string{name, c.Said})
		}
	}
	return t
}

// Name is of the block of the table in Markdown files.
const Name = "chaos"

// Report is the result in all its forms.
func (r *Result) Report() measure.Report {
	s := r.Settings
	from := fmt.Sprintf("`%s`, seed %d, %s, %s, %s: %s", r.Command, s.Seed, r.Begun, r.Machine, strings.Join(r.Servers, ", "), r.Summary())
	sale := fmt.Sprintf("%v buyers a second for %v, %s, topology %s; a process that is killed does not test fsync", s.Rate, s.lasts(),
		numbers.CountOf(s.Procs, "service process", "service processes"), s.Where)
	return measure.Report{Tables: []measure.Table{r.table(), r.findings()}, Facts: [][2]string{{"run", from}, {"sale", sale}}, Summary: r.Summary(),
		JSON: r, Name: Name, Figures: r, From: from}
}
