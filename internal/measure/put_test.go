package measure

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
)

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	labtest.Must(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// A block stands between its own marks, and the blocks of others stay.
func TestWithBlock(t *testing.T) {
	const text = "before\n<!-- a: x -->\nold\n<!-- /a -->\nbetween\n<!-- b: y -->\nkept\n<!-- /b -->\nafter\n"
	var b bytes.Buffer
	labtest.Must(t, WithBlock(file(t, text), "a", func(w io.Writer) error { _, err := io.WriteString(w, "new\n"); return err })(&b))
	if want := strings.Replace(text, "old", "new", 1); b.String() != want {
		t.Errorf("%s, want %s", &b, want)
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

// A member takes the place of the one of its name, and the others stay.
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
