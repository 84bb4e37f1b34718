package measure

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestTables(t *testing.T) {
	figures := Table{Head: []string{"lock", "locks_per_second"}, Rows: [][]string{{"a,b", Plain(1_234_567)}, {"ü", Plain(1. / 3)}}}
	r := Report{CSV: figures, Tables: []Table{{Title: "Locks", Head: []string{"lock", "locks/s"}, Words: 1,
		Rows: [][]string{{"a|b", "5.00"}, {"ü", "100"}}, Notes: []string{"It rained."}}}}
	for _, c := range []struct {
		write func(*bytes.Buffer) error
		want  string
	}{
		{func(b *bytes.Buffer) error { return r.WriteText(b) },
			"Locks\n\n  lock  locks/s\n  a|b      5.00\n  ü         100\n\nIt rained.\n\n"},
		{func(b *bytes.Buffer) error { return r.WriteMarkdown(b) },
			"### Locks\n\n| lock | locks/s |\n|---|--:|\n| a\\|b | 5.00 |\n| ü | 100 |\n\nIt rained.\n\n"},
		{func(b *bytes.Buffer) error { return r.WriteCSV(b) }, "lock,locks_per_second\n\"a,b\",1234567\nü,0.333333\n"},
	} {
		var b bytes.Buffer
		if err := c.write(&b); err != nil || b.String() != c.want {
			t.Errorf("%v, got\n%s\nwant\n%s", err, fmt.Sprintf("%q", b.String()), fmt.Sprintf("%q", c.want))
		}
	}
}

func TestWordsFitTheScreen(t *testing.T) {
	long := strings.Repeat("twenty letters of it ", 9)
	var b bytes.Buffer
	r := Report{Tables: []Table{{Head: []string{"cell", "what"}, Words: 2, Rows: [][]string{{"naive", long}, {"zk", ""}}}}}
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > 101 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if words := strings.Fields(b.String()); strings.Join(words, " ") != "cell what naive "+long+"zk" {
		t.Errorf("words are lost: %s", b.String())
	}
}
