package measure

import (
	"bytes"
	"fmt"
	"testing"
)

func TestTables(t *testing.T) {
	r := Report{From: "`run`", Answer: []string{"a_b holds."}, Facts: [][2]string{{"run", "a, b"}}, Tables: []Table{{Title: "Locks", Head: []string{"lock", "locks/s"}, Words: 1,
		Rows: [][]string{{"a|b", "5.00"}, {"ü", "100"}}, Notes: []string{"It rained."}}}}
	for _, c := range []struct {
		write func(*bytes.Buffer) error
		want  string
	}{
		{func(b *bytes.Buffer) error { return r.WriteText(b) },
			"a_b holds.\n\n### Locks\n\n| lock | locks/s |\n| ---  |     --: |\n| a\\|b |    5.00 |\n| ü    |     100 |\n\nIt rained.\n\nrun         a, b\n"},
		{func(b *bytes.Buffer) error { return r.WriteMarkdown(b) },
			"\n`run`.\n\na_b holds.\n\n### Locks\n\n| lock | locks/s |\n| --- | --: |\n| a\\|b | 5.00 |\n| ü | 100 |\n"},
		{func(b *bytes.Buffer) error { return r.WriteCSV(b) }, "run,\"a, b\"\nlock,locks/s\na|b,5.00\nü,100\n"},
	} {
		var b bytes.Buffer
		if err := c.write(&b); err != nil || b.String() != c.want {
			t.Errorf("%v, got\n%s\nwant\n%s", err, fmt.Sprintf("%q", b.String()), fmt.Sprintf("%q", c.want))
		}
	}
}
