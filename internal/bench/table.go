package bench

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Table is a part of a report, for people. Its first column is words, the
// others are figures.
type Table struct {
	Title string
	Notes []string
	Head  []string
	Rows  [][]string
	Prose bool // cells are sentences: on a terminal they stand below each other
}

// WriteText writes tables for a terminal.
func WriteText(w io.Writer, tables []Table) error {
	var b strings.Builder
	for i, t := range tables {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s\n\n", t.Title)
		if t.Prose {
			writeProse(&b, t)
			continue
		}
		widths := make([]int, len(t.Head))
		for _, row := range append([][]string{t.Head}, t.Rows...) {
			for i, cell := range row {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
		for _, row := range append([][]string{t.Head}, t.Rows...) {
			var line strings.Builder
			for i, cell := range row {
				fill := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
				if i == 0 || !figure(t, i) {
					line.WriteString("  " + cell + fill)
				} else {
					line.WriteString("  " + fill + cell)
				}
			}
			b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		}
		for _, n := range t.Notes {
			fmt.Fprintf(&b, "\n%s\n", n)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteMarkdown writes tables for a page.
func WriteMarkdown(w io.Writer, tables []Table) error {
	var b strings.Builder
	escape := strings.NewReplacer("|", `\|`, "\n", " ")
	for i, t := range tables {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "### %s\n\n", t.Title)
		line := func(cells []string) {
			for _, cell := range cells {
				b.WriteString("| " + escape.Replace(cell) + " ")
			}
			b.WriteString("|\n")
		}
		line(t.Head)
		for i := range t.Head {
			if figure(t, i) {
				b.WriteString("|--:")
			} else {
				b.WriteString("|---")
			}
		}
		b.WriteString("|\n")
		for _, row := range t.Rows {
			line(row)
		}
		for _, n := range t.Notes {
			fmt.Fprintf(&b, "\n%s\n", escape.Replace(n))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// figure: every cell of a column begins with a digit or has nothing to say.
func figure(t Table, column int) bool {
	for _, row := range t.Rows {
		if c := row[column]; c != "" && c != none && (c[0] < '0' || c[0] > '9') {
			return false
		}
	}
	return len(t.Rows) > 0
}

const none = "–"

// number is a figure with three digits that count.
func number(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

func (s Spread) String() string {
	if s.Low == s.High {
		return number(s.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", number(s.Median), number(s.Low), number(s.High))
}
