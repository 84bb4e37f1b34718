package measure

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"seckill/internal/numbers"
)

// A Table is one part of a report: words on the left, figures on the right.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
	Notes []string // how to read it; only in text
	Words int      // columns that are words, from the left
}

// A Report is a result for people, in the forms that all commands write: as text
// for a terminal, as Markdown, as CSV, and as JSON for programs.
type Report struct {
	Answer   []string    // what it came to, in sentences; first of all
	Facts    [][2]string // what it rests on, by name; only in text
	Tables   []Table     // those without rows are left out
	Problems []string
	Summary  string // in one sentence
	CSV      Table  // the figures for programs: heads with units, Plain numbers
	JSON     any
	From     string // where it comes from, in a line of Markdown

	// Name is that of the result's block in Markdown files, and of its member in the file
	// that the lessons read, which is Figures.
	Name    string
	Figures any
}

// WriteText writes the report for a terminal.
func (r Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, line := range r.Answer {
		fmt.Fprintln(&b, line)
	}
	if r.Answer != nil {
		fmt.Fprintln(&b)
	}
	for _, t := range r.Tables {
		if t.Rows != nil {
			t.text(&b)
			fmt.Fprintln(&b)
		}
	}
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
		fmt.Fprintf(&b, "\n%s\n", Markdown(line))
	}
	for _, t := range r.Tables {
		if t.Rows != nil {
			t.markdown(&b)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteCSV writes the figures, or else the tables.
func (r Report) WriteCSV(w io.Writer) error {
	tables := r.Tables
	if r.CSV.Head != nil {
		tables = []Table{r.CSV}
	}
	var lines [][]string
	for _, t := range tables {
		lines = append(append(lines, t.Head), t.Rows...)
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

func (t Table) text(b *strings.Builder) {
	fmt.Fprintf(b, "%s\n\n", t.Title)
	rows := append([][]string{t.Head}, t.Rows...)
	widths := make([]int, len(t.Head))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			fill := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < t.Words {
				line += "  " + cell + fill
			} else {
				line += "  " + fill + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for _, n := range t.Notes {
		fmt.Fprintf(b, "\n%s\n", n)
	}
}

// Markdown escapes text, and leaves out the spaces that align it on a terminal.
func Markdown(text string) string {
	return escapeMarkdown.Replace(strings.Join(strings.Fields(text), " "))
}

var escapeMarkdown = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`)

func (t Table) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n", Markdown(t.Title))
	line := func(cells []string) {
		for _, cell := range cells {
			b.WriteString("| " + Markdown(cell) + " ")
		}
		b.WriteString("|\n")
	}
	line(t.Head)
	for i := range t.Head {
		if i < t.Words {
			b.WriteString("|---")
		} else {
			b.WriteString("|--:")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.Rows {
		line(row)
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

// Plain shows a number to programs, to six decimals.
func Plain(x float64) string { return strconv.FormatFloat(math.Round(x*1e6)/1e6, 'f', -1, 64) }

// Milliseconds converts a duration to a figure.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
