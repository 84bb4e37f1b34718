package measure

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTables(t *testing.T) {
	r := Report{Tables: []Table{{Title: "Locks", Head: []string{"lock", "locks/s"}, Words: 1,
		Rows: [][]string{{"a|b", "5.00"}, {"ü", "100"}}, Notes: []string{"It rained."}}}}
	for _, c := range []struct {
		write func(*bytes.Buffer) error
		want  string
	}{
		{func(b *bytes.Buffer) error { return r.WriteText(b) },
			"Locks\n\n  lock  locks/s\n  a|b      5.00\n  ü         100\n\nIt rained.\n\n"},
		{func(b *bytes.Buffer) error { return r.WriteMarkdown(b) },
			"### Locks\n\n| lock | locks/s |\n|---|--:|\n| a\\|b | 5.00 |\n| ü | 100 |\n\nIt rained.\n\n"},
		{func(b *bytes.Buffer) error { return r.WriteCSV(b) }, "lock,locks/s\na|b,5.00\nü,100\n"},
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
	if err := (Report{Tables: []Table{{Title: "Words", Head: []string{"article", "says", "this run", "command"}, Prose: true,
		Rows: [][]string{{"A", long, long, "seckill"}}, Notes: []string{long}}}}).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if utf8.RuneCountInString(line) > proseWidth {
			t.Errorf("%d columns: %q", utf8.RuneCountInString(line), line)
		}
	}
	if n := strings.Count(strings.Join(strings.Fields(b.String()), " "), "words and more"); n != 90 {
		t.Errorf("%d of 90 words are there", n)
	}
}
