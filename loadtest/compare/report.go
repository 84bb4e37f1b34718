package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"seckill/internal/backend"
	"seckill/internal/judge"
	"seckill/internal/stats"
	"seckill/internal/tables"
	"seckill/loadtest"
)

// pairSentences has the middle of sentences such as "A answers 2.6 × as many buyers as B": metric → text.
var pairSentences = map[string]string{
	Answers: "answers %s × as many buyers as",
	Sales:   "sells %s × as fast as",
}

// Answer returns the result in sentences: which strategy is fastest, by how much, and which are broken.
func (r *Result) Answer() []string {
	var lines []string
	if best, other := r.findFastest(); best != nil {
		lines = append(lines, r.describePair(best, other))
		if best.ProofBreaks != "" {
			lines = append(lines, fmt.Sprintf("In the proof %s breaks: %s.", best.Strategy, best.ProofBreaks))
		}
	}
	var broken []string
	why := ""
	for _, e := range r.MainEntries() {
		if e.Broken() && e.Breaks {
			broken, why = append(broken, e.Strategy), e.describeFindings()
		}
	}
	switch len(broken) {
	case 0:
	case 1:
		lines = append(lines, broken[0]+" is broken, so its speed counts for nothing: "+why+".")
	default:
		lines = append(lines, strings.Join(broken, ", ")+" are broken, so their speed counts for nothing.")
	}
	return lines
}

// findFastest returns the fastest correct strategy, and a strategy to compare it with: Result.RelativeTo, or the
// second fastest strategy if Result.RelativeTo is the fastest.
func (r *Result) findFastest() (best, other *Entry) {
	var right []*Entry
	for _, e := range r.MainEntries() {
		// Speed counts only for strategies that held and are not known to break.
		if e.Verdict == judge.Held && !e.Breaks && e.Figures[r.Settings.By].Median() > 0 {
			right = append(right, e)
		}
	}
	breaksInProof := func(e *Entry) bool { return e.ProofBreaks != "" }
	if holding := slices.DeleteFunc(slices.Clone(right), breaksInProof); len(holding) > 1 {
		right = holding // prefer strategies that never break in the proof (seckill prove)
	}
	slices.SortStableFunc(right, func(a, b *Entry) int {
		return cmp.Compare(b.Figures[r.Settings.By].Median(), a.Figures[r.Settings.By].Median())
	})
	switch i := slices.IndexFunc(right, func(e *Entry) bool { return e.Strategy == r.RelativeTo }); {
	case len(right) < 2:
		return nil, nil
	case i > 0:
		return right[0], right[i]
	}
	return right[0], right[1]
}

func (r *Result) describePair(a, b *Entry) string {
	ratio := stats.RatioOf(a.seriesOf(r.Settings.By), b.seriesOf(r.Settings.By))
	if b.reference && a.Factor != nil {
		ratio = *a.Factor
	}
	if ratio.High > 0 && !ratio.Apart() {
		return fmt.Sprintf("%s and %s cannot be told apart: %s.", a.Strategy, b.Strategy, ratio)
	}
	interval := ""
	if ratio.High > 0 {
		interval = fmt.Sprintf(" (%s–%s)", tables.Number(ratio.Low), tables.Number(ratio.High))
	}
	sentence := fmt.Sprintf(pairSentences[r.Settings.By], tables.Number(ratio.Times))
	return fmt.Sprintf("%s %s %s%s.", a.Strategy, sentence, b.Strategy, interval)
}

// rightCell returns the verdict as a word for a table. A verdict that is not expected is in capitals.
func (e *Entry) rightCell() string {
	word := strings.ReplaceAll(string(e.Verdict), "_", " ")
	switch {
	case e.Baseline:
		return tables.None
	case e.Verdict == judge.Held && e.Breaks:
		return "NOT CAUGHT"
	case e.Verdict == judge.Held:
		return "yes"
	case e.Expected:
		return word + ", as known"
	case e.Verdict == loadtest.Blocked:
		return "yes"
	}
	return strings.ToUpper(word)
}

func (e *Entry) servedCell() string {
	switch {
	case e.Baseline || e.Served == "":
		return tables.None
	case e.Verdict == loadtest.Blocked:
		return "BLOCKED"
	}
	return strings.ReplaceAll(string(e.Served), "_", " ")
}

func (e *Entry) describeFindings() string {
	var parts []string
	if e.Over > 0 {
		parts = append(parts, tables.Count(e.Over, "unit")+" too many")
	}
	for _, v := range e.Violations {
		if v.Rule != judge.RuleOversold || e.Over <= 0 {
			parts = append(parts, strings.ReplaceAll(v.Rule, "_", " "))
		}
	}
	return strings.Join(append(parts, tables.Map(e.Problems, loadtest.Problem.Error)...), ", ")
}

func (e *Entry) medianCell(ids ...string) string {
	var cells []string
	for _, id := range ids {
		figure, ok := e.Figures[id]
		if !ok {
			return tables.None
		}
		cells = append(cells, tables.Number(figure.Median()))
	}
	return strings.Join(cells, " / ")
}

// factorCell returns Entry.Factor as a cell of a table: the speed of e as a multiple of the speed of the strategy
// relativeTo. The cell of that strategy itself is "1".
func (e *Entry) factorCell(relativeTo string) string {
	switch {
	case e.Strategy == relativeTo && e.isCompetitor():
		return "1"
	case e.Factor == nil:
		return tables.None
	case e.Factor.High > 0 && !e.Factor.Apart():
		return "not apart: " + e.Factor.String()
	}
	return e.Factor.String()
}

const tableNote = "Medians of the rounds. answers/s: definite answers, to all buyers. sales/s: until the last unit " +
	"of a sale. bought, refused: latency in ms, p50 / p99, of buyers who got a unit and of buyers who were refused. " +
	"commands: sent to the backends for each purchase. CPU: processor time in ms for each request, of the service " +
	"processes and of the servers behind them."

func (r *Result) strategiesTable() tables.Table {
	t := tables.Table{Title: "Strategies", Words: 3, Notes: []string{tableNote},
		Head: []string{"strategy", "right?", "served?", "answers/s"}}
	// If answers are compared, a sale may have few units and end at once. Its sales per second then say nothing.
	if r.Settings.By == Sales {
		t.Head = append(t.Head, "sales/s")
	}
	t.Head = append(t.Head, "sold out in s", "bought ms", "refused ms", "commands", "CPU service", "CPU servers")
	if r.RelativeTo != "" {
		t.Head = append(t.Head, r.Settings.By+"/s × "+r.RelativeTo)
		t.Notes = append(t.Notes, fmt.Sprintf("× %s: the geometric mean of the rounds' ratios with its 95 %% "+
			"interval. \"not apart\": the interval includes 1. About one interval in twenty misses the true factor.",
			r.RelativeTo))
	}
	for _, e := range r.Entries {
		row := []string{r.labelOf(e), e.rightCell(), e.servedCell(), e.medianCell(Answers)}
		if r.Settings.By == Sales {
			row = append(row, e.medianCell(Sales))
		}
		row = append(row, e.medianCell(SellOut), e.medianCell(BoughtP50, BoughtP99),
			e.medianCell(RefusedP50, RefusedP99), e.medianCell(Commands), e.medianCell(Services), e.medianCell(Servers))
		if r.RelativeTo != "" {
			row = append(row, e.factorCell(r.RelativeTo))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// ratiosTable has a row for each strategy that was compared with baselines, or with itself without Idempotency-Keys.
func (r *Result) ratiosTable() tables.Table {
	// A column is left out if no entry has a ratio for its name.
	var names []string
	for _, name := range append([]string{WithoutKeys}, BaselineNames()...) {
		if slices.ContainsFunc(r.Entries, func(e *Entry) bool { return e.Ratios[name].Rounds > 0 }) {
			names = append(names, name)
		}
	}
	t := tables.Table{Title: "Ratios", Words: 1, Head: []string{"strategy"},
		Notes: []string{fmt.Sprintf("%s/s of the strategy with keys, divided by those of the column: means of the "+
			"rounds' ratios with their 95 %% intervals.", r.RatioBy)}}
	for _, name := range names {
		t.Head = append(t.Head, "/ "+strings.ReplaceAll(name, "_", " "))
	}
	for _, e := range r.Entries {
		row := []string{r.labelOf(e)}
		for _, name := range names {
			if ratio, ok := e.Ratios[name]; ok {
				row = append(row, ratio.String())
			} else {
				row = append(row, tables.None)
			}
		}
		if len(e.Ratios) > 0 {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// labelOf returns a name for the entry e that no other entry has.
func (r *Result) labelOf(e *Entry) string {
	label := e.Strategy
	if e.Baseline {
		label += " (" + e.Title + ")"
	}
	if e.Keyless {
		label += ", without keys"
	}
	if r.Settings.Crowds != nil {
		label += fmt.Sprintf(", %d at a time", e.Concurrency)
	}
	if !e.Baseline && !r.Settings.takesPart(e.Candidate, 2) {
		label += " (one round)"
	}
	return label
}

func (r *Result) findingsTable() tables.Table {
	t := tables.Table{Title: "What the judge found", Head: []string{"strategy", "what"}, Words: 2}
	for _, e := range r.Entries {
		if why := e.describeFindings(); why != "" {
			t.Rows = append(t.Rows, []string{r.labelOf(e), why})
		}
	}
	for _, n := range r.NotRun {
		t.Rows = append(t.Rows, []string{n.Strategy, "not run: " + n.Why})
	}
	return t
}

// Report returns the result in its forms for people and for programs.
func (r *Result) Report() tables.Report {
	run := tables.Run{Command: r.Command, Begun: r.Begun, Machine: r.Machine, Servers: backend.Versions(r.Servers)}
	rounds := fmt.Sprintf("%d in alternating order, each with a turn of at least %s for each strategy",
		r.Settings.Rounds, r.Settings.Turn)
	if r.references != nil {
		rounds += fmt.Sprintf("; %s again after every %d turns, and factors are to its turns directly before and after",
			r.RelativeTo, groupSize)
	}
	facts := [][2]string{{"run", run.String()}, {"again", r.Settings.Command()}, {"rounds", rounds}}
	return tables.Report{JSON: r, Facts: facts, Answer: r.Answer(),
		Tables:   []tables.Table{r.strategiesTable(), r.ratiosTable(), r.findingsTable()},
		Problems: r.Problems, Summary: r.Summary(), From: run.String(), Name: r.Settings.Preset,
		Figures: r.lessonFigures(run)}
}

// Summary returns the outcome of the comparison in a sentence.
func (r *Result) Summary() string {
	t := r.Tally()
	parts := []string{fmt.Sprintf("%d held as they should", t.Held)}
	if t.Caught > 0 {
		parts = append(parts, tables.CountOf(t.Caught, "broken strategy was caught", "broken strategies were caught"))
	}
	if t.Other > 0 {
		parts = append(parts, tables.CountOf(t.Other, "UNEXPECTED RESULT", "UNEXPECTED RESULTS"))
	}
	if t.NotRun > 0 {
		parts = append(parts, fmt.Sprintf("%d not run", t.NotRun))
	}
	if r.Interrupted {
		parts = append(parts, "interrupted: these are the results until then")
	}
	return strings.Join(parts, ", ")
}

// lessonFigures returns each strategy's verdict, factor and metrics, in the form in which lessons read them.
func (r *Result) lessonFigures(run tables.Run) any {
	strategies := map[string]map[string]any{}
	for _, e := range r.MainEntries() {
		of := map[string]any{"verdict": e.Verdict}
		if e.Factor != nil && e.Factor.High > 0 { // After one round there is no interval, so the factor is left out.
			of["factor"] = e.Factor.Spread()
		}
		for _, m := range metrics {
			if s, ok := e.Figures[m.id]; ok {
				of[m.column] = s
			}
		}
		strategies[e.Strategy] = of
	}
	return struct {
		tables.Run
		Concurrency int                       `json:"at_once"`
		RelativeTo  string                    `json:"relative_to"`
		Strategies  map[string]map[string]any `json:"strategies"`
	}{run, r.Settings.Concurrency, r.RelativeTo, strategies}
}
