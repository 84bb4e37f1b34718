package measure

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"seckill/internal/numbers"
)

// A Table is one part of a report: words on the left, figures on the right.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
	Notes []string // how to read it; on a terminal
	Words int      // columns that are words, from the left
}

// A Report is a result for people, in the forms that all commands write: as text
// for a terminal, as Markdown, as CSV, and as JSON for programs.
type Report struct {
	Answer   []string    // what it came to, in sentences; first of all
	Facts    [][2]string // what it rests on, by name; not in Markdown
	Tables   []Table     // those without rows are left out
	Problems []string
	Summary  string // in one sentence
	JSON     any
	From     string // where it comes from, in a line of Markdown

	// Name is that of the result's block in Markdown files, and of its member in the file
	// that the lessons read, which is Figures, or else JSON.
	Name    string
	Figures any
}

// WriteText writes the report for a terminal: its tables in Markdown, too, with aligned
// columns.
func (r Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, line := range r.Answer {
		fmt.Fprintln(&b, line)
	}
	r.tables(&b, true)
	b.WriteString("\n")
	for _, fact := range r.Facts {
		fmt.Fprintf(&b, "%-12s%s\n", fact[0], fact[1])
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "Problem: %s\n", p)
	}
	if r.Summary != "" {
		fmt.Fprintf(&b, "\n%s.\n", r.Summary)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteMarkdown writes the report for a page.
func (r Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s.\n", r.From)
	for _, line := range slices.Concat(r.Answer, r.Problems) {
		fmt.Fprintf(&b, "\n%s\n", line)
	}
	r.tables(&b, false)
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteCSV writes the facts and the tables.
func (r Report) WriteCSV(w io.Writer) error {
	var lines [][]string
	for _, fact := range r.Facts {
		lines = append(lines, fact[:])
	}
	for _, t := range r.Tables {
		if t.Rows != nil {
			lines = append(append(lines, t.Head), t.Rows...)
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// WriteJSON writes the result for programs.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(r.JSON)
}

func (r Report) tables(b *strings.Builder, terminal bool) {
	for _, t := range r.Tables {
		if t.Rows != nil {
			t.write(b, terminal)
		}
	}
}

// write writes the table in Markdown; for a terminal its columns are aligned, and the
// notes follow.
func (t Table) write(b *strings.Builder, terminal bool) {
	fmt.Fprintf(b, "\n### %s\n\n", t.Title)
	rule := make([]string, len(t.Head))
	for i := range rule {
		if rule[i] = "--:"; i < t.Words {
			rule[i] = "---"
		}
	}
	rows, widths := slices.Concat([][]string{t.Head, rule}, t.Rows), make([]int, len(t.Head))
	for i := range widths {
		for _, row := range rows {
			if terminal {
				widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
			}
		}
		if i < t.Words { // to the left
			widths[i] = -widths[i]
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			fmt.Fprintf(b, "| %*s ", widths[i], strings.ReplaceAll(cell, "|", `\|`))
		}
		b.WriteString("|\n")
	}
	for _, n := range t.Notes {
		if terminal {
			fmt.Fprintf(b, "\n%s\n", n)
		}
	}
}

// None stands for a figure that does not exist.
const None = "–"

// Number shows three significant digits, and all of them from 1,000 on.
func Number(x float64) string {
	switch {
	case x >= 999.5:
		return numbers.Thousands(int64(x + .5))
	case x >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case x >= 9.995:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
