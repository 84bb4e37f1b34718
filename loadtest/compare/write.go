package compare

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// tables are the report's, in their order; those without rows are left out.
func (r *Result) tables() (all []table) {
	candidates := []table{r.strategyTable(), r.floorTable(), r.findingTable(), r.claimTable()}
	if r.Against != nil {
		candidates = append(candidates, r.changeTable())
	}
	for _, t := range candidates {
		if len(t.rows) > 0 || len(t.notes) > 0 && t.title != "Strategies" {
			all = append(all, t)
		}
	}
	return all
}

// WriteText writes the tables for a terminal.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, fact := range r.Facts() {
		fmt.Fprintf(&b, "%-12s%s\n", fact[0], fact[1])
	}
	for _, t := range r.tables() {
		fmt.Fprintf(&b, "\n%s\n\n", t.title)
		t.text(&b)
		for _, n := range t.notes {
			fmt.Fprintf(&b, "\n%s\n", n)
		}
	}
	for _, n := range r.NotRun {
		fmt.Fprintf(&b, "\nNot run: %s: %s", n.Strategy, n.Why)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "\nProblem: %s", p)
	}
	if len(r.NotRun)+len(r.Problems) > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%s.\n", r.Summary())
	_, err := io.WriteString(w, b.String())
	return err
}

func (t table) text(b *strings.Builder) {
	widths := make([]int, len(t.head))
	rows := append([][]string{t.head}, t.rows...)
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			fill := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < t.words {
				line += "  " + cell + fill
			} else {
				line += "  " + fill + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

var escapeMarkdown = strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "*", `\*`, "_", `\_`)

// WriteMarkdown writes the tables for a page.
func (r *Result) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## Strategies compared\n\n%s.\n\n", escapeMarkdown.Replace(r.Summary()))
	for _, fact := range r.Facts() {
		fmt.Fprintf(&b, "- %s: %s\n", fact[0], code(fact[1], fact[0] == "command"))
	}
	for _, t := range r.tables() {
		fmt.Fprintf(&b, "\n### %s\n\n", t.title)
		line := func(cells []string) {
			for _, cell := range cells {
				b.WriteString("| " + escapeMarkdown.Replace(cell) + " ")
			}
			b.WriteString("|\n")
		}
		line(t.head)
		for i := range t.head {
			if i < t.words {
				b.WriteString("|---")
			} else {
				b.WriteString("|--:")
			}
		}
		b.WriteString("|\n")
		for _, row := range t.rows {
			line(row)
		}
		for _, n := range t.notes {
			fmt.Fprintf(&b, "\n%s\n", escapeMarkdown.Replace(n))
		}
	}
	for i, n := range r.NotRun {
		if i == 0 {
			b.WriteString("\n### Not run\n\n")
		}
		fmt.Fprintf(&b, "- %s: %s\n", code(n.Strategy, true), escapeMarkdown.Replace(n.Why))
	}
	for i, p := range r.Problems {
		if i == 0 {
			b.WriteString("\n### Problems\n\n")
		}
		fmt.Fprintf(&b, "- %s\n", escapeMarkdown.Replace(p))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func code(s string, is bool) string {
	if is && !strings.ContainsAny(s, "`\n") {
		return "`" + s + "`"
	}
	return escapeMarkdown.Replace(s)
}

// WriteJSON writes everything for programs; see Result for the schema.
func (r *Result) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// WriteCSV writes one line for each round of each strategy and each floor.
func (r *Result) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	line := func(cells ...string) { _ = c.Write(cells) } // kept until Error
	figure := func(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
	line("kind", "name", "concurrency", "round", "verdict", "runs", "sold",
		"sales_per_second", "requests_per_second", "p50_ms", "p99_ms", "lock_wait_ms")
	for _, e := range append(append([]*Entry{}, r.Strategies...), r.Sparse...) {
		for _, round := range e.Rounds {
			line("strategy", e.Strategy, strconv.Itoa(e.Concurrency), strconv.Itoa(round.Round),
				string(round.Verdict), strconv.Itoa(round.Sales),
				strconv.FormatInt(round.Sold, 10), figure(round.SalesRate), figure(round.RequestRate),
				figure(round.P50), figure(round.P99), figure(round.LockWait))
		}
	}
	for _, f := range r.Floors {
		for _, round := range f.Rounds {
			line("floor", f.ID, strconv.Itoa(r.Settings.Concurrency), strconv.Itoa(round.Round), "", "", "", "",
				figure(round.Rate), "", "", "")
		}
	}
	c.Flush()
	return c.Error()
}
