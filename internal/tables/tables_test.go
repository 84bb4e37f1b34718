package tables

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
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

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A block is written between its own marks, and other blocks stay.
func TestWithBlock(t *testing.T) {
	const text = "before\n<!-- a: x -->\nold\n<!-- /a -->\nbetween\n<!-- b: y -->\nkept\n<!-- /b -->\nafter\n"
	var b bytes.Buffer
	write := WithBlock(file(t, text), "a", func(w io.Writer) error { _, err := io.WriteString(w, "new\n"); return err })
	if want, err := strings.Replace(text, "old", "new", 1), write(&b); b.String() != want || err != nil {
		t.Errorf("%s (%v), want %s", &b, err, want)
	}
	for _, more := range []string{"<!-- c: z -->\n", "<!-- /c -->\n<!-- c: z -->\n"} {
		if err := CheckBlock(file(t, text+more), "c"); err == nil || !strings.Contains(err.Error(), "no lines <!-- c: … -->") {
			t.Errorf("with %q: %v", more, err)
		}
	}
	if err := CheckBlock(filepath.Join(t.TempDir(), "new.md"), "c"); err != nil {
		t.Errorf("a file that is not there yet: %v", err)
	}
}

// WithMember replaces the member with this name and keeps the others.
func TestWithMember(t *testing.T) {
	for old, want := range map[string]string{
		`{"b":{"x":1.50},"a":0}`: "{\"a\":7,\n\"b\":{\"x\":1.50}}\n",
		`{}`:                     "{\"a\":7}\n",
	} {
		var b bytes.Buffer
		if err := WithMember(file(t, old), "a", 7)(&b); err != nil || b.String() != want {
			t.Errorf("%s: %s (%v), want %s", old, &b, err, want)
		}
	}
	if err := WithMember(filepath.Join(t.TempDir(), "new.json"), "a", 7)(io.Discard); err != nil {
		t.Errorf("a file that is not there yet: %v", err)
	}
	if err := WithMember(file(t, "text"), "a", 7)(io.Discard); err == nil {
		t.Error("what is no JSON was written over")
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Number(0), "0.00"}, {Number(9.994), "9.99"}, {Number(9.996), "10.0"}, {Number(99.96), "100"}, {Number(999.7), "1,000"},
		{Number(1451.26), "1,451"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}
