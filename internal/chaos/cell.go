package chaos

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/ledger"
	"seckill/internal/numbers"
	"seckill/loadtest"
)

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
	strategy string
	fault    fault.Name
	seed     uint64

	happened   *fault.Happening // nil: the control run
	verdict    ledger.Verdict   // the worst of both parts
	violations []ledger.Violation
	problems   []string
	goesOn     bool // sales went on after the fault, or nothing was left
}

func (t *trial) broken() bool { return t.verdict == ledger.Oversold || t.verdict == ledger.Lost }

// cell is what the trial came to.
func (t *trial) cell(may bool) *Cell {
	tested := t.met() && t.verdict != ledger.NotValid
	word, said := t.tells(tested)
	t.Word, t.May = word, may
	t.Wrong = !may && (t.broken() || t.verdict == loadtest.Blocked || tested && !t.goesOn)
	if t.Wrong {
		said = append(said, "It promises to withstand this.")
	}
	t.Said = strings.Join(said, "; ")
	if !t.fell() {
		return &Cell{Word: word, May: may, Said: t.Said, Stood: t.Stood}
	}
	for _, v := range t.violations {
		t.Rules = append(t.Rules, v.Rule)
	}
	if h := t.happened; h != nil && h.Effect != nil && h.Effect.Took {
		t.Fault = []int{h.At / 100, h.Until / 100}
	}
	return &t.Cell
}

// tells is a cell's word, and what went wrong.
func (t *trial) tells(tested bool) (word string, said []string) {
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
	case !tested && t.happened != nil && t.happened.Error != "":
		return wordNotTested, []string{t.happened.Error}
	case !tested:
		return wordNotTested, nil
	case !t.goesOn:
		stopped := fmt.Sprintf("nothing was sold after the fault, with %s left", numbers.Count(t.Units[leftOver], "unit"))
		return wordStopped, append([]string{stopped}, messages...)
	}
	return string(t.verdict), nil
}

// onlyAnswers: the ledger balances; what buyers were told does not.
func (t *trial) onlyAnswers() bool {
	return len(t.violations) > 0 && !slices.ContainsFunc(t.violations, func(v ledger.Violation) bool { return v.Rule != ledger.RuleNotLinearizable })
}

// failed says what stood in the way. Damage that was proven before stays proven.
func (t *trial) failed(format string, args ...any) {
	if !t.broken() {
		t.verdict = ledger.NotValid
	}
	t.problems = append(t.problems, fmt.Sprintf(format, args...))
}

// because adds why a run proves nothing.
func (t *trial) because(problems []loadtest.Problem) {
	for _, p := range problems {
		t.problems = append(t.problems, p.Text)
	}
}

// may reports whether a strategy breaks by itself, or does not promise to withstand
// a fault.
func (o Options) may(info catalog.Info, name fault.Name) bool {
	if info.BreaksIn(o.Settings.Procs) || info.Unfit(o.Settings.Where) != "" {
		return true
	}
	known, err := fault.Find(name)
	if err != nil { // there was none
		return false
	}
	return info.Guarantees[known.Question] != catalog.Holds
}

// take adds what one part came to. That the second was cut off is no problem: a
// sale that stands still would never end.
func (t *trial) take(r *loadtest.Result, first bool) {
	verdict := r.Verdict
	switch cutOff := !first && r.Interrupted && len(r.Problems) <= 1; { // being cut off is the one problem
	case verdict != ledger.NotValid || r.Audit == nil:
	case cutOff && r.Audit.Served.Blocked() && r.Counts[ledger.OutcomeSold] > 0: // with none it has stopped
		verdict = loadtest.Blocked
	case cutOff || t.stockGone(r.Audit.Violations):
		verdict = ledger.Held
	}
	if first {
		t.verdict = ""
		if r.Audit != nil && r.Audit.Served != nil {
			t.Stood = math.Round(r.Audit.Served.LongestMs/100) / 10
		}
	}
	t.verdict = loadtest.Worst(t.verdict, verdict)
	if verdict == loadtest.Blocked && first {
		t.problems = append(t.problems, r.Stood())
	} else if verdict == loadtest.Blocked {
		t.problems = append(t.problems, "after the fault: "+r.Stood())
	}
	t.Units[toldSold] += int64(r.Counts[ledger.OutcomeSold])
	t.Units[unknown] += int64(r.Uncertain())
	if r.Audit != nil {
		t.Units[initial], t.Units[inLedger] = r.Audit.Initial, r.Audit.Sold
		for _, v := range r.Audit.Violations {
			if !slices.ContainsFunc(t.violations, func(known ledger.Violation) bool { return known.Rule == v.Rule }) {
				t.violations = append(t.violations, v)
			}
		}
	}
	if verdict == ledger.NotValid {
		t.because(r.Problems)
	}
}

// stockGone reports whether all that is wrong is that what is left cannot be read, as
// the fault has emptied the server that had it. The orders are right then, and the
// sale does not go on.
func (t *trial) stockGone(violations []ledger.Violation) bool {
	if t.happened == nil || t.happened.Effect == nil || !t.happened.Effect.Took || len(violations) == 0 {
		return false
	}
	known, _ := fault.Find(t.happened.Kind)
	return known.Question == catalog.NodeLoss && !slices.ContainsFunc(violations, func(v ledger.Violation) bool { return v.Rule != ledger.RuleUnknownStore })
}

// met: the fault was there and could matter, or none was asked for.
func (t *trial) met() bool {
	h := t.happened
	return t.fault == None || h != nil && h.State != fault.HasFailed && h.Effect != nil && h.Effect.Took && h.Effect.Matters
}
