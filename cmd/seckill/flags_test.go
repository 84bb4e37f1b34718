package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
)

// flagsOf are the flags of a grammar, by their names as they are typed.
func flagsOf(t *testing.T, grammar any) map[string]*kong.Flag {
	t.Helper()
	parser, err := newParser(grammar, kong.NoDefaultHelp())
	labtest.Must(t, err)
	flags := map[string]*kong.Flag{}
	for _, f := range parser.Model.Flags {
		flags["--"+f.Name] = f
	}
	return flags
}

// The table of backends has all their flags, and the page of the command line
// lists them.
func TestBackendFlagsAreInTheTable(t *testing.T) {
	flags := flagsOf(t, &backend.Config{})
	for _, kind := range backend.Kinds {
		for _, a := range kind.Addresses {
			if f := flags[a.Flag]; f == nil || !slices.Equal(f.Envs, []string{a.Env}) {
				t.Errorf("%s: flag %+v, want it with the variable %s", a.Flag, f, a.Env)
			}
			if row := "| `" + a.Flag + "` | `" + a.Env + "` |"; !strings.Contains(page(t, "docs/cli.md"), row) {
				t.Errorf("docs/cli.md has no row %s", row)
			}
			delete(flags, a.Flag)
		}
	}
	if len(flags) > 0 {
		t.Errorf("not in the table: %v", slices.Collect(maps.Keys(flags)))
	}
}

// docker-compose.yml sets what seckill up reads.
func TestVariablesOfCompose(t *testing.T) {
	variables := map[string]bool{}
	for _, f := range flagsOf(t, &UpCmd{}) {
		for _, name := range f.Envs {
			variables[name] = true
		}
	}
	for _, name := range regexp.MustCompile(`SECKILL_[A-Z_]+`).FindAllString(page(t, "docker-compose.yml"), -1) {
		if !variables[name] {
			t.Errorf("docker-compose.yml sets %s, which seckill up does not read", name)
		}
	}
}
