package measure

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Table is one part of a report: words on the left, figures on the right.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
	Notes []string
	Words int // columns that are words, from the left
	// Prose: cells are sentences; on a terminal they stand below each other.
	// The column "command" is never broken into lines.
	Prose bool
}

// WriteText writes tables for a terminal.
func WriteText(w io.Writer, tables []Table) error { return write(w, tables, Table.text) }

// WriteMarkdown writes tables for a page.
func WriteMarkdown(w io.Writer, tables []Table) error { return write(w, tables, Table.markdown) }

func write(w io.Writer, tables []Table, one func(Table, *strings.Builder)) error {
	var b strings.Builder
	for i, t := range tables {
		if i > 0 {
			b.WriteString("\n")
		}
		one(t, &b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t Table) text(b *strings.Builder) {
	fmt.Fprintf(b, "%s\n\n", t.Title)
	if t.Prose {
		t.prose(b)
		return
	}
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

// Markdown escapes text.
func Markdown(text string) string { return escapeMarkdown.Replace(text) }

var escapeMarkdown = strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "*", `\*`, "_", `\_`)

func (t Table) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "### %s\n\n", Markdown(t.Title))
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
	for _, n := range t.Notes {
		fmt.Fprintf(b, "\n%s\n", Markdown(n))
	}
}

// proseWidth is the longest line of prose, in characters.
const proseWidth = 100

// prose writes each row as a paragraph: the first two cells, and the others
// below, each after the name of its column.
func (t Table) prose(b *strings.Builder) {
	for _, row := range t.Rows {
		indent := utf8.RuneCountInString(row[0]) + 4
		fmt.Fprintf(b, "  %s  %s\n", row[0], wrap(row[1], indent, indent))
		for i := 2; i < len(row); i++ {
			text := wrap(t.Head[i]+": "+row[i], indent, indent+2)
			if t.Head[i] == Command {
				text = "$ " + row[i]
			}
			fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", indent), text)
		}
		b.WriteString("\n")
	}
	for _, n := range t.Notes {
		fmt.Fprintf(b, "%s\n", wrap(n, 0, 0))
	}
}

// Command heads a column of shell commands.
const Command = "command"

// wrap breaks text between words. The first line begins at column first, the
// others at column next.
func wrap(text string, first, next int) string {
	var b strings.Builder
	at := first
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > proseWidth:
			b.WriteString("\n" + strings.Repeat(" ", next))
			at = next
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
