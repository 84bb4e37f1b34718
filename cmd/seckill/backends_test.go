package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"seckill/internal/backend"
)

// The table of backends has all their flags, and the page of the command line
// lists them.
func TestBackendFlagsAreInTheTable(t *testing.T) {
	parser, err := newParser(&backend.Config{})
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string]*kong.Flag{}
	for _, f := range parser.Model.Flags {
		if f.Name != "help" {
			flags["--"+f.Name] = f
		}
	}
	for _, kind := range backend.Kinds {
		for _, a := range kind.Addresses {
			if f := flags[a.Flag]; f == nil || len(f.Envs) != 1 || f.Envs[0] != a.Env {
				t.Errorf("%s: flag %+v, want it with the variable %s", a.Flag, f, a.Env)
			}
			if row := "| `" + a.Flag + "` | `" + a.Env + "` |"; !strings.Contains(page(t, "docs/cli.md"), row) {
				t.Errorf("docs/cli.md has no row %s", row)
			}
			delete(flags, a.Flag)
		}
	}
	for name := range flags {
		t.Errorf("%s is not in the table", name)
	}
}
