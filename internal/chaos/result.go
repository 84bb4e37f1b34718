package chaos

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/judge"
	"seckill/internal/tables"
	"seckill/loadtest"
)

// A Result holds all cells of a run. The flag --json writes it to a file, and --resume reads it.
type Result struct {
	Command  string       `json:"command"`
	Repeat   string       `json:"repeat"` // command that repeats a cell, with STRATEGY and FAULT as placeholders
	Begun    string       `json:"begun"`  // a date
	Machine  string       `json:"machine"`
	Servers  []string     `json:"servers"`
	Settings Settings     `json:"settings"`
	Left     int          `json:"left,omitempty"` // the number of cells that were not run
	Faults   []fault.Name `json:"faults"`
	Rows     []Row        `json:"rows"`
}

// A Row holds the cells of a strategy, in the order of Result.Faults. A cell is null if it was not run, and {}
// if it does not apply.
type Row struct {
	Strategy string  `json:"strategy"`
	Cells    []*Cell `json:"cells"`
}

// testedCell returns a cell of the earlier result r. It returns nil if r has no such cell or the cell must be run
// again.
func (r *Result) testedCell(strategy string, name fault.Name) *Cell {
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

// eachCell ranges over the cells that are not null.
func (r *Result) eachCell(yield func(name string, c *Cell) bool) {
	for _, row := range r.Rows {
		for i, c := range row.Cells {
			if c != nil && !yield(row.Strategy+", "+string(r.Faults[i]), c) {
				return
			}
		}
	}
}

// ExitStatus returns the exit status for the worst cell, with the same meaning as in package loadtest. A strategy
// that stood still, or did not go on after the fault, counts as blocked.
func (r *Result) ExitStatus() int {
	var cells []*Cell
	for _, c := range r.eachCell {
		cells = append(cells, c)
	}
	has := func(is func(*Cell) bool) bool { return slices.ContainsFunc(cells, is) }
	switch {
	case has(func(c *Cell) bool { return c.Wrong && c.Word == string(judge.Oversold) }):
		return loadtest.ExitOversold
	case has(func(c *Cell) bool { return c.Wrong && c.Word == string(judge.Lost) }):
		return loadtest.ExitLost
	case r.Left > 0, !has((*Cell).Tested), has(func(c *Cell) bool { return c.Word == wordNotValid }):
		return loadtest.ExitNotValid
	case has(func(c *Cell) bool { return c.Wrong }):
		return loadtest.ExitBlocked
	}
	return loadtest.ExitHeld
}

// Summary returns the result in one sentence.
func (r *Result) Summary() string {
	words, wrong := map[string]int{}, []string(nil)
	for name, c := range r.eachCell {
		words[c.Word]++
		if c.Wrong {
			wrong = append(wrong, name)
		}
	}
	words["not run"], words["not applicable"] = r.Left, words[""]
	var said []string
	for _, word := range []string{string(judge.Held), string(judge.Oversold), string(judge.Lost),
		string(loadtest.Blocked), wordStopped, wordNotTested, wordNotValid, "not applicable", "not run"} {
		if words[word] > 0 {
			said = append(said, fmt.Sprintf("%d %s", words[word], word))
		}
	}
	if wrong != nil {
		said = append(said, "not as they must be: "+strings.Join(wrong, ", "))
	}
	return strings.Join(said, "; ")
}

func (r *Result) table() tables.Table {
	t := tables.Table{Title: "What each fault does to each strategy", Head: []string{"strategy"},
		Words: len(r.Faults) + 1,
		Notes: []string{"held, with the longest time without a sale if that is a second or more; " +
			"oversold, lost: the judge found it; blocked: right, and the sale stood still for three seconds longer " +
			"than the wait for a lock, its lease (two seconds at least) and the fault itself; " +
			"stopped: nothing was sold after the fault, although units were left; " +
			"not tested: the fault took no effect or could not matter; " +
			"–: not available here, or about a server that the strategy does not use."}}
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
				line = append(line, tables.None)
			case c.Word == string(judge.Held) && c.Stood >= 1:
				line = append(line, fmt.Sprintf("held %.1f s", c.Stood))
			default:
				line = append(line, c.Word)
			}
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

func (r *Result) findingsTable() tables.Table {
	t := tables.Table{Title: "What went wrong", Words: 2, Head: []string{"cell", "what"},
		Notes: []string{"To repeat one: " + r.Repeat}}
	for name, c := range r.eachCell {
		if c.Wrong || c.Word == wordNotValid {
			t.Rows = append(t.Rows, []string{name, c.Said})
		}
	}
	return t
}

// Name identifies the block of a Markdown file into which the tables are written.
const Name = "chaos"

// Report returns the result as tables for people and as JSON for programs.
func (r *Result) Report() tables.Report {
	s := r.Settings
	from := fmt.Sprintf("`%s`, seed %d, %s, %s, %s: %s",
		r.Command, s.Seed, r.Begun, r.Machine, strings.Join(r.Servers, ", "), r.Summary())
	sale := fmt.Sprintf("%v buyers a second for %v, %s, topology %s; a process that is killed does not test fsync",
		s.Rate, firstPart, tables.CountOf(s.Services, "service process", "service processes"), s.Where)
	return tables.Report{Tables: []tables.Table{r.table(), r.findingsTable()}, Summary: r.Summary(),
		Facts: [][2]string{{"run", from}, {"sale", sale}}, JSON: r, Name: Name, From: from}
}

// A Cell is the result of one strategy with one fault. The zero Cell means that the fault does not apply to the
// strategy. The fields from Rules on are set only if the strategy did not hold. The JSON form is stable.
type Cell struct {
	Word string `json:"word,omitempty"` // the verdict; if there is none, wordNotValid, wordNotTested or wordStopped
	// Wrong is true if the sale broke a rule or stood still although the strategy promises to withstand the fault.
	Wrong bool `json:"wrong,omitempty"`
	// May is true if the strategy breaks without a fault, or does not promise to withstand this fault.
	May   bool    `json:"may,omitempty"`
	Said  string  `json:"said,omitempty"`  // what went wrong
	Stood float64 `json:"stood,omitempty"` // the longest time without a sale in the first part, in seconds

	Rules []string `json:"rules,omitempty"` // the rules that were broken
	Units [5]int64 `json:"units,omitzero"`  // see the indexes from requestsSold on
	After int      `json:"after,omitempty"` // requests that got units in the second part, after the fault
	Fault []int    `json:"fault,omitempty"` // begin and end of a fault that took effect, in tenths of a second
	// Each entry of Course describes a moment of the sale's first part: the time in tenths of a second, and the numbers
	// of requests that were answered "sold", or had an unknown outcome, by then.
	Course [][3]int `json:"course,omitempty"`
}

// These are the indexes of Cell.Units. The numbers are about the whole sale: the first part with the fault, and the
// second part, in which other buyers buy the rest.
const (
	requestsSold    = iota // requests that were answered "sold"
	requestsUnknown        // requests with an unknown outcome
	unitsInitial
	unitsLeft // the units that the first part of the sale left
	unitsInLedger
)

// These are the values of Cell.Word for cells without a verdict.
const (
	wordNotValid  = "proves nothing"
	wordNotTested = "not tested" // the fault took no effect, or could not matter
	wordStopped   = "stopped"    // nothing was sold after the fault, although units were left
)

// didNotHold reports whether the sale broke a rule, stood still, or did not go on after the fault.
func (c *Cell) didNotHold() bool {
	switch c.Word {
	case string(judge.Oversold), string(judge.Lost), string(loadtest.Blocked), wordStopped:
		return true
	}
	return false
}

// Tested reports whether the cell says something about the strategy. If it does not, the cell must be run again.
func (c *Cell) Tested() bool {
	return c.Word != "" && c.Word != wordNotValid && c.Word != wordNotTested
}

// A trial is the running sale of one strategy with one fault. Its result is a Cell.
type trial struct {
	Cell
	fault fault.Name
	sale  loadtest.Config // the configuration of the first part

	happened   *fault.Happening // the injected fault; nil in a control run
	verdict    judge.Verdict    // the worse verdict of the two parts
	violations []judge.Violation
	problems   []string
}

func (t *trial) isBroken() bool { return t.verdict == judge.Oversold || t.verdict == judge.Lost }

// newCell returns the result of a trial that has ended. The parameter mayBreak becomes Cell.May.
func (t *trial) newCell(mayBreak bool) *Cell {
	word, said := t.wordAndReasons()
	t.Word, t.May = word, mayBreak
	if t.Wrong = !mayBreak && t.didNotHold(); t.Wrong {
		said = append(said, "It promises to withstand this.")
	}
	t.Said = strings.Join(said, "; ")
	if !t.didNotHold() {
		return &Cell{Word: word, May: mayBreak, Said: t.Said, Stood: t.Stood}
	}
	for _, v := range t.violations {
		t.Rules = append(t.Rules, v.Rule)
	}
	if t.faultTookEffect() {
		t.Fault = []int{t.happened.At / 100, t.happened.Until / 100}
	}
	return &t.Cell
}

// wordAndReasons returns the word of the cell, and the sentences that say what went wrong.
func (t *trial) wordAndReasons() (string, []string) {
	var messages []string
	for _, v := range t.violations {
		messages = append(messages, v.Message)
	}
	switch {
	case t.isBroken():
		return string(t.verdict), messages
	case t.verdict == loadtest.Blocked:
		return string(t.verdict), t.problems
	case t.verdict == judge.NotValid:
		return wordNotValid, t.problems
	case !t.isMeaningful() && t.happened != nil && t.happened.Error != "":
		return wordNotTested, []string{t.happened.Error}
	case !t.isMeaningful():
		return wordNotTested, nil
	case t.After == 0 && t.Units[unitsLeft] > 0:
		stopped := fmt.Sprintf("nothing was sold after the fault, with %s left", tables.Count(t.Units[unitsLeft], "unit"))
		return wordStopped, append([]string{stopped}, messages...)
	}
	return string(t.verdict), nil
}

func onlyRule(violations []judge.Violation, rule string) bool {
	return len(violations) > 0 &&
		!slices.ContainsFunc(violations, func(v judge.Violation) bool { return v.Rule != rule })
}

// addPart adds the result of one part of the sale. The second part is cut off if the sale stands still, because it
// would not end by itself. Such a part is judged, too.
func (t *trial) addPart(r *loadtest.Result, first bool) {
	verdict := r.Verdict
	var violations []judge.Violation
	if r.Audit != nil {
		violations = r.Audit.Violations
	}
	if first && t.onlyDataWasLost(violations, judge.RuleCounterDisagrees) {
		// Redis has the wrong number of units only for a while. In the second part of the sale, Redis may accept a
		// purchase that the stock row in MySQL refuses. This refusal corrects the number in Redis.
		verdict, violations = judge.Held, nil
	}
	switch cutOff := !first && r.Interrupted && len(r.Problems) <= 1; { // an interruption adds one problem
	case verdict != judge.NotValid || r.Audit == nil:
	// If nothing was sold, the word is wordStopped, not the verdict Blocked.
	case cutOff && r.Audit.Served.Blocked() && r.Counts[judge.OutcomeSold] > 0:
		verdict = loadtest.Blocked
	case cutOff || t.onlyDataWasLost(violations, judge.RuleUnknownStore):
		verdict = judge.Held
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
		t.problems = append(t.problems, when+r.DescribeStandstill())
	}
	t.Units[requestsSold] += int64(r.Counts[judge.OutcomeSold])
	t.Units[requestsUnknown] += int64(r.Counts.Uncertain())
	if r.Audit != nil {
		t.Units[unitsInitial], t.Units[unitsInLedger] = r.Audit.Initial, r.Audit.Sold
		for _, v := range violations {
			if !slices.ContainsFunc(t.violations, func(known judge.Violation) bool { return known.Rule == v.Rule }) {
				t.violations = append(t.violations, v)
			}
		}
	}
	if verdict == judge.NotValid {
		for _, p := range r.Problems {
			t.problems = append(t.problems, p.Text)
		}
	}
}

// onlyDataWasLost reports whether the fault has emptied a server and only the given rule is broken. The number of
// units in that server is then missing or differs from the stock row, but the orders are right.
func (t *trial) onlyDataWasLost(violations []judge.Violation, rule string) bool {
	f, _ := fault.Find(t.fault)
	return t.faultTookEffect() && f.Question == catalog.NodeLoss && onlyRule(violations, rule)
}

func (t *trial) faultTookEffect() bool {
	return t.happened != nil && t.happened.Effect != nil && t.happened.Effect.TookEffect
}

// isMeaningful reports whether the trial tests the strategy. This is so if the fault took effect and could matter,
// and in a control run.
func (t *trial) isMeaningful() bool {
	return t.fault == None ||
		t.faultTookEffect() && t.happened.State != fault.HasFailed && t.happened.Effect.CouldMatter
}
