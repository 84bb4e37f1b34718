package chaos

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/ledger"
	"seckill/internal/measure"
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
	if wrong != nil {
		said = append(said, "not as they must be: "+strings.Join(wrong, ", "))
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
	sale := fmt.Sprintf("%v buyers a second for %v, %s, topology %s; a process that is killed does not test fsync", s.Rate, before+lasts+after,
		measure.CountOf(s.Services, "service process", "service processes"), s.Where)
	return measure.Report{Tables: []measure.Table{r.table(), r.findings()}, Facts: [][2]string{{"run", from}, {"sale", sale}}, Summary: r.Summary(),
		JSON: r, Name: Name, From: from}
}

// A Cell is what came of one strategy and one fault. An empty one need not be run, and
// one that held has no course. Its JSON form is stable; times are in seconds, those of
// the fault and the course in tenths.
type Cell struct {
	Word string `json:"word,omitempty"` // the verdict, or why there is none
	// Wrong: it broke, or stood still, and promises not to. May: the strategy breaks by
	// itself, or does not promise to withstand this.
	Wrong bool    `json:"wrong,omitempty"`
	May   bool    `json:"may,omitempty"`
	Said  string  `json:"said,omitempty"`  // what went wrong
	Stood float64 `json:"stood,omitempty"` // the longest time without a sale in the first part

	Rules  []string `json:"rules,omitempty"`  // that were broken
	Units  [5]int64 `json:"units,omitzero"`   // toldSold and the following
	After  int      `json:"after,omitempty"`  // requests sold in the second part
	Fault  []int    `json:"fault,omitempty"`  // from, until, if it took effect
	Course [][3]int `json:"course,omitempty"` // of the first part: when, sold, without an answer
}

// Units of a cell.
const (
	toldSold = iota
	unknown
	initial
	leftOver // after the first part
	inLedger
)

// What cells say that have no verdict.
const (
	wordNotValid  = "proves nothing"
	wordNotTested = "not tested" // the fault took no effect, or could not matter
	wordStopped   = "stopped"    // nothing was sold after the fault, although units were left
)

// Broken: more was sold than there was, or something was lost or invented.
func (c *Cell) Broken() bool {
	return c.Word == string(ledger.Oversold) || c.Word == string(ledger.Lost)
}

// fell: it broke, or stood still.
func (c *Cell) fell() bool {
	return c.Broken() || c.Word == string(loadtest.Blocked) || c.Word == wordStopped
}

// Tested: a sale was judged, with the fault if there is one, or broke without it.
func (c *Cell) Tested() bool {
	return c.Word != "" && c.Word != wordNotValid && c.Word != wordNotTested
}

// A trial is a cell that is being run.
type trial struct {
	Cell
	fault fault.Name
	sale  loadtest.Config // of the first part

	happened   *fault.Happening // nil: the control run
	verdict    ledger.Verdict   // the worst of both parts
	violations []ledger.Violation
	problems   []string
}

func (t *trial) broken() bool { return t.verdict == ledger.Oversold || t.verdict == ledger.Lost }

// cell is what the trial came to.
func (t *trial) cell(may bool) *Cell {
	word, said := t.tells()
	t.Word, t.May = word, may
	if t.Wrong = !may && t.fell(); t.Wrong {
		said = append(said, "It promises to withstand this.")
	}
	t.Said = strings.Join(said, "; ")
	if !t.fell() {
		return &Cell{Word: word, May: may, Said: t.Said, Stood: t.Stood}
	}
	for _, v := range t.violations {
		t.Rules = append(t.Rules, v.Rule)
	}
	if t.took() {
		t.Fault = []int{t.happened.At / 100, t.happened.Until / 100}
	}
	return &t.Cell
}

// tells is a cell's word, and what went wrong.
func (t *trial) tells() (word string, said []string) {
	var messages []string
	for _, v := range t.violations {
		messages = append(messages, v.Message)
	}
	switch {
	case t.broken():
		return string(t.verdict), messages
	case t.verdict == loadtest.Blocked:
		return string(t.verdict), t.problems
	case t.verdict == ledger.NotValid:
		return wordNotValid, t.problems
	case !t.met() && t.happened != nil && t.happened.Error != "":
		return wordNotTested, []string{t.happened.Error}
	case !t.met():
		return wordNotTested, nil
	case t.After == 0 && t.Units[leftOver] > 0:
		stopped := fmt.Sprintf("nothing was sold after the fault, with %s left", measure.Count(t.Units[leftOver], "unit"))
		return wordStopped, append([]string{stopped}, messages...)
	}
	return string(t.verdict), nil
}

// onlyAnswers: the ledger balances; what buyers were told does not.
func (t *trial) onlyAnswers() bool {
	return len(t.violations) > 0 && !slices.ContainsFunc(t.violations, func(v ledger.Violation) bool { return v.Rule != ledger.RuleNotLinearizable })
}

// take adds what one part came to. That the second was cut off is no problem: a
// sale that stands still would never end.
func (t *trial) take(r *loadtest.Result, first bool) {
	verdict := r.Verdict
	var violations []ledger.Violation
	if r.Audit != nil {
		violations = r.Audit.Violations
	}
	if first && t.lostOnly(violations, ledger.RuleCounterDisagrees) { // the matrix has one more buyer first, too: a refusal by the row corrects it
		verdict, violations = ledger.Held, nil
	}
	switch cutOff := !first && r.Interrupted && len(r.Problems) <= 1; { // being cut off is the one problem
	case verdict != ledger.NotValid || r.Audit == nil:
	case cutOff && r.Audit.Served.Blocked() && r.Counts[ledger.OutcomeSold] > 0: // with none it has stopped
		verdict = loadtest.Blocked
	case cutOff || t.lostOnly(violations, ledger.RuleUnknownStore):
		verdict = ledger.Held
	}
	when := "after the fault: "
	if first {
		when = ""
		if r.Audit != nil && r.Audit.Served != nil {
			t.Stood = math.Round(r.Audit.Served.LongestMs/100) / 10
		}
	}
	t.verdict = loadtest.Worst(t.verdict, verdict)
	if verdict == loadtest.Blocked {
		t.problems = append(t.problems, when+r.Stood())
	}
	t.Units[toldSold] += int64(r.Counts[ledger.OutcomeSold])
	t.Units[unknown] += int64(r.Uncertain())
	if r.Audit != nil {
		t.Units[initial], t.Units[inLedger] = r.Audit.Initial, r.Audit.Sold
		for _, v := range violations {
			if !slices.ContainsFunc(t.violations, func(known ledger.Violation) bool { return known.Rule == v.Rule }) {
				t.violations = append(t.violations, v)
			}
		}
	}
	if verdict == ledger.NotValid {
		for _, p := range r.Problems {
			t.problems = append(t.problems, p.Text)
		}
	}
}

// lostOnly reports whether the fault has emptied a server, and all that is wrong is that its
// number cannot be read (then the sale does not go on), or is not the row's. The orders
// are right.
func (t *trial) lostOnly(violations []ledger.Violation, rule string) bool {
	known, _ := fault.Find(t.fault)
	return t.took() && len(violations) > 0 && known.Question == catalog.NodeLoss && !slices.ContainsFunc(violations, func(v ledger.Violation) bool { return v.Rule != rule })
}

// took: the fault took effect.
func (t *trial) took() bool {
	return t.happened != nil && t.happened.Effect != nil && t.happened.Effect.Took
}

// met: the fault was there and could matter, or none was asked for.
func (t *trial) met() bool {
	return t.fault == None || t.took() && t.happened.State != fault.HasFailed && t.happened.Effect.Matters
}
