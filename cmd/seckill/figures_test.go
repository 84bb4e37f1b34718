package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is no result is said by its file, and nothing is written.
func TestFiguresRefuses(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	empty, broken, sales := file("empty.json", "{}"), file("broken.json", "{"), file("sales.json", `{"format":1,"strategies":[]}`)
	out := filepath.Join(folder, "out.json")
	for _, test := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"--compare", sales, "--locks", empty, "--claims", empty}, statusUsage, "say where the figures go"},
		{[]string{"--compare", "/nowhere", "--locks", empty, "--claims", empty, "--json", out}, statusUsage, "no such file"},
		{[]string{"--compare", broken, "--locks", empty, "--claims", empty, "--json", out}, statusFailed, "broken.json: unexpected end"},
		{[]string{"--compare", empty, "--locks", empty, "--claims", empty, "--json", out}, statusFailed, "empty.json: this is no result of seckill compare"},
		{[]string{"--compare", sales, "--locks", empty, "--claims", empty, "--json", out}, statusFailed, "has no figures"},
	} {
		var stderr bytes.Buffer
		status := run(t.Context(), func() {}, append([]string{"figures"}, test.args...), &bytes.Buffer{}, &stderr)
		if status != test.status || !strings.Contains(stderr.String(), test.says) {
			t.Errorf("%v: exit status %d, want %d and %q: %s", test.args, status, test.status, test.says, &stderr)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("something was written all the same")
	}
}
