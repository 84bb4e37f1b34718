package prove

import (
	"fmt"
	"io"
	"strings"

	"seckill/internal/backend"
	"seckill/internal/tables"
)

var answerWords = map[Answer]struct{ sign, words string }{
	Holds: {"✓", "holds"}, Breaks: {"✗", "breaks"}, Measured: {"•", "measured"}, NotAsked: {"–", "does not apply"},
	Failed: {"!", "failed"}, Missing: {"?", "not computed"},
}

// Sign returns the answer as a symbol of at most three characters. Parentheses mean that not all schedules were run.
func (c Cell) Sign() string {
	if c.Answer == Holds && !c.Exhausted {
		return "(✓)"
	}
	return answerWords[c.Answer].sign
}

// describeBound returns a text in parentheses that says how many schedules were run. It returns "" if none was run.
func (c Cell) describeBound() string {
	switch {
	case c.Schedules == 0:
		return ""
	case c.Answer == Breaks:
		return fmt.Sprintf(" (found in %d schedules)", c.Schedules)
	case c.Exhausted:
		return fmt.Sprintf(" (all %d schedules)", c.Schedules)
	}
	bound := fmt.Sprintf(" (%d schedules", c.Schedules-c.Random)
	if c.Preemptions != nil {
		bound += ", all with at most " + tables.Count(*c.Preemptions, "preemption")
	}
	if c.Random > 0 {
		bound += fmt.Sprintf(", and %d at random", c.Random)
	}
	if c.Orders > 0 {
		bound += fmt.Sprintf("; %d sequences of conflicting commands", c.Orders)
	}
	return bound + fmt.Sprintf("; %d turns not taken)", c.NotRun)
}

// Summary returns the cell on one line.
func (c Cell) Summary() string {
	words := answerWords[c.Answer].words
	if c.Text != "" {
		words += ": " + c.Text
	}
	return words + c.describeBound()
}

// WriteText writes the matrix for a terminal: a table of signs, then the violations, with the files of their
// counterexamples, and the measurements.
func (m *Matrix) WriteText(w io.Writer) error {
	var b strings.Builder
	width := len("strategy")
	for _, r := range m.Rows {
		width = max(width, len(r.Strategy))
	}
	for i, q := range m.Questions {
		fmt.Fprintf(&b, "%s   %s┌ %s\n", strings.Repeat(" ", width), strings.Repeat("│  ", i), q.Title)
	}
	for _, r := range m.Rows {
		fmt.Fprintf(&b, "%-*s  ", width, r.Strategy)
		for _, q := range m.Questions {
			sign := r.Cells[q.ID].Sign()
			if sign != "(✓)" {
				sign = " " + sign
			}
			fmt.Fprintf(&b, "%-3s", sign)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n✓ holds in all schedules   (✓) holds in the schedules that were tried   ✗ breaks   " +
		"• measured   – does not apply   ! failed   ? not computed\n\n")
	for _, r := range m.Rows {
		for _, q := range m.Questions {
			if c := r.Cells[q.ID]; c.Answer == Breaks || c.Answer == Measured || c.Answer == Failed {
				line := fmt.Sprintf("%s %s · %s: %s%s  %s", c.Sign(), r.Strategy, q.Title, c.Text, c.describeBound(), c.Example)
				b.WriteString(strings.TrimRight(line, " ") + "\n")
				for _, f := range c.Also {
					b.WriteString(strings.TrimRight(fmt.Sprintf("    also: %s  %s", f.Text, f.Example), " ") + "\n")
				}
			}
		}
	}
	fmt.Fprintf(&b, "\nSeed %d, %d schedules a search, %s in all, on %s\n", m.Seed, m.Schedules, m.Took,
		strings.Join(backend.Versions(m.Backends), ", "))
	_, err := io.WriteString(w, b.String())
	return err
}

// Block identifies the part of a Markdown file into which WriteMarkdown's text is written.
const Block = "matrix"

// WriteMarkdown writes the matrix for a page that has no room for all questions. It writes the columns that help to
// choose a strategy. For each strategy it also writes the IDs of the other questions whose answer is Breaks. It leaves
// out times, so that two runs give the same text.
func (m *Matrix) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	columns, others := []Question{}, []Question{}
	for _, q := range m.Questions {
		if q.Choosing {
			columns = append(columns, q)
		} else {
			others = append(others, q)
		}
	}
	b.WriteString("| strategy |")
	for _, q := range columns {
		fmt.Fprintf(&b, " %s |", q.Title)
	}
	b.WriteString(" what else breaks |\n|---|" + strings.Repeat(":-:|", len(columns)) + "---|\n")
	for _, r := range m.Rows {
		fmt.Fprintf(&b, "| `%s` |", r.Strategy)
		for _, q := range columns {
			fmt.Fprintf(&b, " %s |", r.Cells[q.ID].markdown())
		}
		var breaks []string
		for _, q := range others {
			if r.Cells[q.ID].Answer == Breaks {
				breaks = append(breaks, q.ID)
			}
		}
		if len(breaks) > 0 {
			b.WriteString(" " + strings.Join(breaks, ", "))
		}
		b.WriteString(" |\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c Cell) markdown() string {
	switch {
	case c.Answer == Holds && c.Wait > 0:
		return fmt.Sprintf("%s within %g s", c.Sign(), c.Wait)
	case c.Answer == Measured:
		short, _, _ := strings.Cut(c.Text, ";")
		return short
	}
	return c.Sign()
}
