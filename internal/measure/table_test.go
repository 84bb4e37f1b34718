package measure

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTables(t *testing.T) {
	tables := []Table{{Title: "Locks", Head: []string{"lock", "locks/s"}, Words: 1,
		Rows: [][]string{{"a|b", "5.00"}, {"ü", "100"}}, Notes: []string{"It rained."}}}
	for _, c := range []struct {
		write func(*bytes.Buffer) error
		want  string
	}{
		{func(b *bytes.Buffer) error { return WriteText(b, tables) },
			"Locks\n\n  lock  locks/s\n  a|b      5.00\n  ü         100\n\nIt rained.\n"},
		{func(b *bytes.Buffer) error { return WriteMarkdown(b, tables) },
			"### Locks\n\n| lock | locks/s |\n|---|--:|\n| a\\|b | 5.00 |\n| ü | 100 |\n\nIt rained.\n"},
	} {
		var b bytes.Buffer
		if err := c.write(&b); err != nil || b.String() != c.want {
			t.Errorf("%v, got\n%s\nwant\n%s", err, fmt.Sprintf("%q", b.String()), fmt.Sprintf("%q", c.want))
		}
	}
}

func TestProseKeepsToItsWidth(t *testing.T) {
	long := strings.Repeat("words and more ", 30)
	var b bytes.Buffer
	if err := WriteText(&b, []Table{{Title: "Words", Head: []string{"article", "says", "this run", Command}, Prose: true,
		Rows: [][]string{{"A", long, long, "seckill " + strings.Repeat("x", 200)}}, Notes: []string{long}}}); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if utf8.RuneCountInString(line) > proseWidth && !strings.HasPrefix(line, "     $ seckill x") {
			t.Errorf("%d columns: %q", utf8.RuneCountInString(line), line)
		}
	}
	if n := strings.Count(strings.Join(strings.Fields(b.String()), " "), "words and more"); n != 90 {
		t.Errorf("%d of 90 words are there", n)
	}
}
