package compare

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"seckill/internal/measure"
)

// tables of the report; those without rows are left out.
func (r *Result) tables() (all []measure.Table) {
	candidates := []measure.Table{r.strategyTable(), r.costTable(), r.pairTable(), r.salesTable(), r.serviceTable(), r.baselineTable(), r.findingTable(), r.claimTable()}
	if r.Against != nil {
		candidates = append(candidates, r.changeTable())
	}
	for _, t := range candidates {
		if len(t.Rows) > 0 || len(t.Notes) > 0 && t.Title != "Strategies" {
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
	b.WriteString("\n")
	if err := measure.WriteText(&b, r.tables()); err != nil {
		return err
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

// WriteMarkdown writes the tables for a page.
func (r *Result) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## Strategies compared\n\n%s.\n\n", measure.Markdown(r.Summary()))
	for _, fact := range r.Facts() {
		fmt.Fprintf(&b, "- %s: %s\n", fact[0], code(fact[1], fact[0] == "command"))
	}
	b.WriteString("\n")
	if err := measure.WriteMarkdown(&b, r.tables()); err != nil {
		return err
	}
	for i, n := range r.NotRun {
		if i == 0 {
			b.WriteString("\n### Not run\n\n")
		}
		fmt.Fprintf(&b, "- %s: %s\n", code(n.Strategy, true), measure.Markdown(n.Why))
	}
	for i, p := range r.Problems {
		if i == 0 {
			b.WriteString("\n### Problems\n\n")
		}
		fmt.Fprintf(&b, "- %s\n", measure.Markdown(p))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func code(s string, is bool) string {
	if is && !strings.ContainsAny(s, "`\n") {
		return "`" + s + "`"
	}
	return measure.Markdown(s)
}

// WriteJSON writes everything for programs; see Result for the schema.
func (r *Result) WriteJSON(w io.Writer) error { return measure.WriteJSON(w, r) }

// WriteCSV writes one line per round of each strategy and each baseline, whose
// kind is "floor".
func (r *Result) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	line := func(cells ...string) { _ = c.Write(cells) } // errors are kept until Error
	figure := func(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
	known := func(x *float64) string {
		if x == nil {
			return ""
		}
		return figure(*x)
	}
	line("kind", "name", "concurrency", "round", "verdict", "runs", "sold",
		"sales_per_second", "requests_per_second", "p50_ms", "p99_ms", "lock_wait_ms",
		"sell_out_s", "asked", "failed", "busy", "services_ms", "servers_ms", "generator_ms")
	for _, e := range r.entries() {
		for _, round := range e.Rounds {
			p := round.Processor
			if p == nil {
				p = &Processor{}
			}
			line("strategy", e.Strategy, strconv.Itoa(e.Concurrency), strconv.Itoa(round.Round),
				string(round.Verdict), strconv.Itoa(round.Sales),
				strconv.FormatInt(round.Sold, 10), figure(round.SalesRate), figure(round.RequestRate),
				figure(round.P50), figure(round.P99), figure(round.LockWait),
				figure(round.SellOut), strconv.Itoa(round.Asked), strconv.Itoa(round.Failed), strconv.Itoa(round.Busy),
				known(p.Services), known(p.Servers), known(p.Generator))
		}
	}
	for _, b := range r.Baselines {
		for _, round := range b.Rounds {
			line("floor", b.ID, strconv.Itoa(b.Concurrency), strconv.Itoa(round.Round), "", "", "", "",
				figure(round.Rate), "", "", "", "", "", "", "", "", "", "")
		}
	}
	c.Flush()
	return c.Error()
}
