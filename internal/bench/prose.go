package bench

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// proseWidth is about what a terminal has and an eye likes.
const proseWidth = 100

// writeProse writes each row as a paragraph: the first two cells, and the
// others below, each by the name of its column.
func writeProse(b *strings.Builder, t Table) {
	for _, row := range t.Rows {
		indent := utf8.RuneCountInString(row[0]) + 4
		fmt.Fprintf(b, "  %s  %s\n", row[0], wrap(row[1], indent, indent))
		for i := 2; i < len(row); i++ {
			name := t.Head[i] + ": "
			text := wrap(name+row[i], indent, indent+2)
			if t.Head[i] == command { // is copied: it stays in one piece
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

const command = "command"

// wrap breaks text between words; it begins at column at, and goes on at
// column then.
func wrap(text string, at, then int) string {
	var b strings.Builder
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > proseWidth:
			b.WriteString("\n" + strings.Repeat(" ", then))
			at = then
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
