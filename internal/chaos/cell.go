package chaos

import (
	"fmt"
	"slices"

	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

// A Cell is what came of one strategy and one fault. Its JSON form is stable.
type Cell struct {
	Strategy string     `json:"strategy"`
	Fault    fault.Name `json:"fault"`
	Seed     uint64     `json:"seed,string"` // of its buyers
	Command  string     `json:"command"`     // runs it again

	// NotTested says why nothing was tested: the fault cannot be had, took no effect,
	// or could not matter. The verdict is then of a sale without it.
	NotTested string           `json:"not_tested,omitempty"`
	Happened  *fault.Happening `json:"happened,omitempty"` // nil: the control run
	// May: the strategy is known to break by this, or by itself, or does not promise
	// to withstand it.
	May bool `json:"may_break"`

	Verdict    ledger.Verdict     `json:"verdict,omitempty"` // the worst of both parts; empty: no sale
	Violations []ledger.Violation `json:"violations"`
	Problems   []string           `json:"problems"`

	Sold      int   `json:"sold"`       // told so, in both parts
	Unknown   int   `json:"unknown"`    // requests without a certain answer in the end
	Initial   int64 `json:"initial"`    // units
	InLedger  int64 `json:"in_ledger"`  // units of the orders in the end
	Left      int64 `json:"left"`       // units after the first part
	SoldAfter int   `json:"sold_after"` // requests of the second part
	GoesOn    bool  `json:"goes_on"`    // sales went on after the fault, or nothing was left

	// Stood is the longest time without a sale in the first part, in seconds;
	// Recovered is from the end of the fault to the next sale; nil: there was none, or
	// no fault. They may be two tenths of a second too long.
	Stood     float64  `json:"stood_s"`
	Recovered *float64 `json:"recovered_s,omitempty"`
	Course    []Point  `json:"course"` // of the first part
	// Blocked says when and how long the sale stood still, if the verdict is blocked.
	Blocked string `json:"blocked,omitempty"`
}

// Broken: more was sold than there was, or something was lost or invented.
func (c Cell) Broken() bool { return c.Verdict == ledger.Oversold || c.Verdict == ledger.Lost }

// onlyAnswers: the ledger balances; what buyers were told does not.
func (c Cell) onlyAnswers() bool {
	return len(c.Violations) > 0 && !slices.ContainsFunc(c.Violations, func(v ledger.Violation) bool { return v.Rule != ledger.RuleNotLinearizable })
}

// Wrong: it broke, or stood still, and promises not to.
func (c Cell) Wrong() bool {
	return !c.May && (c.Broken() || c.Verdict == loadtest.Blocked || c.Tested() && !c.GoesOn)
}

// Tested: a sale was judged, with the fault if there is one.
func (c Cell) Tested() bool { return c.NotTested == "" && c.Verdict != ledger.NotValid }

// failed says what stood in the way. Damage that was proven before stays proven.
func (c Cell) failed(format string, args ...any) Cell {
	if !c.Broken() {
		c.Verdict = ledger.NotValid
	}
	c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
	return c
}

// mayHave reports whether a strategy may have come to a cell's violations.
func (o Options) mayHave(info catalog.Info, c Cell) bool {
	return o.may(info, c.Fault) || c.onlyAnswers() && info.Guarantees[catalog.History] != catalog.Holds
}

// may reports whether a strategy breaks by itself, is known to break by a fault,
// or promises nothing about it.
func (o Options) may(info catalog.Info, name fault.Name) bool {
	if info.BreaksIn(o.Settings.Procs) || info.Unfit(o.Settings.Where) != "" {
		return true
	}
	known, err := fault.Find(name)
	if err != nil { // there was none
		return false
	}
	promised := info.Guarantees[catalog.Question(known.Question)] == catalog.Holds
	return !promised || o.Matrix.Cell(info.Name, known.Question).Breaks()
}

// worse orders verdicts: a proven violation outweighs a sale that proves nothing.
var worse = []ledger.Verdict{"", ledger.Held, loadtest.Blocked, ledger.NotValid, ledger.Lost, ledger.Oversold}

// take adds what one part came to. That the second was cut off is no problem: a
// sale that stands still would never end.
func (c *Cell) take(r *loadtest.Result, first bool) {
	verdict := r.Verdict
	switch cutOff := !first && r.Interrupted && len(r.Problems) <= 1; { // being cut off is the one problem
	case verdict != ledger.NotValid || r.Audit == nil:
	case cutOff && r.Audit.Served.Blocked() && r.Counts[ledger.OutcomeSold] > 0: // with none it has stopped
		verdict = loadtest.Blocked
	case cutOff || c.stockGone(r.Audit.Violations):
		verdict = ledger.Held
	}
	if first {
		c.Verdict = ""
	}
	if slices.Index(worse, verdict) > slices.Index(worse, c.Verdict) {
		c.Verdict = verdict
	}
	if verdict == loadtest.Blocked && c.Blocked == "" {
		c.Blocked = r.Stood()
		if !first {
			c.Blocked = "after the fault: " + c.Blocked
		}
	}
	c.Sold += r.Counts[ledger.OutcomeSold]
	c.Unknown += r.Counts[ledger.OutcomeUnknown] + r.Counts[ledger.OutcomeError]
	if r.Audit != nil {
		c.Initial, c.InLedger = r.Audit.Initial, r.Audit.Sold
		for _, v := range r.Audit.Violations {
			if !slices.ContainsFunc(c.Violations, func(known ledger.Violation) bool { return known.Rule == v.Rule }) {
				c.Violations = append(c.Violations, v)
			}
		}
	}
	if verdict == ledger.NotValid {
		c.Problems = append(c.Problems, r.Problems...)
	}
}

// stockGone reports whether all that is wrong is that what is left cannot be read, as
// the fault has emptied the server that had it. The orders are right then, and the
// sale does not go on.
func (c *Cell) stockGone(violations []ledger.Violation) bool {
	if c.Happened == nil || c.Happened.Effect == nil || !c.Happened.Effect.Took || len(violations) == 0 {
		return false
	}
	known, _ := fault.Find(c.Happened.Kind)
	return known.LosesData() && !slices.ContainsFunc(violations, func(v ledger.Violation) bool { return v.Rule != ledger.RuleUnknownStore })
}

// weigh says whether the fault was there, and could matter.
func (c *Cell) weigh(first *loadtest.Result) {
	if c.Fault == None {
		return
	}
	switch h := c.Happened; {
	case h == nil:
		c.NotTested = "the fault was not injected"
	case h.State == fault.HasFailed:
		c.NotTested = h.Error
	case h.Effect == nil || !h.Effect.Took:
		c.NotTested = "it took no effect" + why(h.Effect)
	case !h.Effect.Matters:
		c.NotTested = "it could not matter" + why(h.Effect)
	}
}

func why(e *fault.Effect) string {
	if e == nil || e.Why == "" {
		return ""
	}
	said := map[fault.Why]string{fault.NoUnits: "the stock was gone", fault.Idle: "the process had no purchase under way",
		fault.NoPoint: "the strategy does not read before it writes", fault.NotReached: "no purchase reached the point",
		fault.NothingPassed: "nothing was sent meanwhile", fault.NotMet: "no command was refused or had to wait",
		fault.NoLook: "no purchase looked at the clock",
		fault.WentOn: "it ended before it should have", fault.DataKept: "the server came back with its data"}
	return ": " + said[e.Why]
}

// stood finds the longest time without a sale, and how long it took after the
// fault to sell again.
func (c *Cell) stood() {
	last, sold := 0.0, 0 // of the last sale
	before, over := 0.0, c.overAt()
	for _, p := range c.Course {
		if p.Sold > sold {
			c.Stood = max(c.Stood, p.At-last)
			if over >= 0 && before >= over && c.Recovered == nil { // the whole tenth is after the fault
				recovered := p.At - over
				c.Recovered = &recovered
			}
			last, sold = p.At, p.Sold
		}
		before = p.At
	}
	if n := len(c.Course); n > 0 {
		c.Stood = max(c.Stood, c.Course[n-1].At-last)
	}
}

// overAt is when the fault was over, in seconds after the buyers came: at once, if
// it is a kill that is only mended after the first part; -1: there was none.
func (c *Cell) overAt() float64 {
	h := c.Happened
	if h == nil || h.Effect == nil {
		return -1
	}
	known, _ := fault.Find(h.Kind)
	if !known.Lasts && !known.Everywhere {
		return float64(h.At) / 1000
	}
	return float64(h.Until) / 1000
}

// silentEnd is how long nothing was sold between the end of the fault and the end
// of the first part.
func (c *Cell) silentEnd() float64 {
	if n := len(c.Course); n > 0 {
		return max(0, c.Course[n-1].At-max(0, c.overAt()))
	}
	return 0
}
