package main

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/alecthomas/kong"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
)

// pages returns all Markdown files for readers of the repository, by their path from its root. It
// leaves out lessons and chapters, which have tests of their own.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) < 4 {
			t.Fatalf("%s: %d pages (%v)", pattern, len(files), err)
		}
		for _, file := range files {
			name := labtest.Value(filepath.Rel(root, file)).Must(t)
			texts[filepath.ToSlash(name)] = read(t, file)
		}
	}
	return texts
}

func page(t *testing.T, name string) string {
	t.Helper()
	return read(t, filepath.Join(root, filepath.FromSlash(name)))
}

func read(t *testing.T, file string) string {
	t.Helper()
	return string(labtest.Value(os.ReadFile(file)).Must(t))
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fence   = regexp.MustCompile("(?ms)^( *)```[a-z]*\n(.*?)^ *```$")
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// Every link to a file or a heading leads to an existing one.
func TestLinksOfThePages(t *testing.T) {
	texts := pages(t)
	for name, text := range texts {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			path, anchor, _ := strings.Cut(m[1], "#")
			to := name
			if path != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(name), path))
			}
			labtest.Value(os.Stat(filepath.Join(root, to))).Check(t, nil, "%s links to %s", name, m[1])
			if anchor != "" && !slices.Contains(anchors(texts[to]), anchor) {
				t.Errorf("%s links to %s: there is no such heading, only %q", name, m[1], anchors(texts[to]))
			}
		}
	}
}

// anchors returns the names that GitHub gives to a page's headings in links.
func anchors(text string) (names []string) {
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case strings.ContainsRune("`*.,:;!?'\"()/·–—", r):
				return -1
			}
			return r
		}, strings.ToLower(m[1])))
	}
	return names
}

var columnEnds = regexp.MustCompile(`\s\s+.*| +#.*`)

// inlineCode returns the words between backticks, sorted and each once. The languages may use them
// in different orders.
func inlineCode(text string) []string {
	words := map[string]bool{}
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		words[m[1]] = true
	}
	return slices.Sorted(maps.Keys(words))
}

// The program accepts every seckill command line in the pages, chapters and lessons.
func TestCommandsOfThePages(t *testing.T) {
	inline := regexp.MustCompile("`(seckill [^`\n]+)`")
	typed := regexp.MustCompile(`(?m)^\s*(?:\$ )?(?:bin/)?(seckill .+)$`)
	figures := regexp.MustCompile(`(?m)^> figures: (seckill .+)$`)
	checked, known := 0, map[string]bool{}
	texts := pages(t)
	for _, pattern := range []string{"web/course/*.md", "strategies/*/*.md"} {
		for _, file := range labtest.Value(filepath.Glob(filepath.Join(root, pattern))).Must(t) {
			texts[file] = read(t, file)
		}
	}
	for name, text := range texts {
		var lines []string
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			for _, line := range typed.FindAllStringSubmatch(m[2], -1) {
				lines = append(lines, columnEnds.ReplaceAllString(line[1], ""))
			}
		}
		for _, m := range inline.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			lines = append(lines, m[1])
		}
		for _, m := range figures.FindAllStringSubmatch(text, -1) {
			lines = append(lines, m[1])
		}
		for _, line := range lines {
			checked++
			if known[line] { // checked already for another page
				continue
			}
			known[line] = true
			labtest.Check(t, accepted(strings.Fields(strings.NewReplacer("'", "", `"`, "", "STRATEGY.QUESTION",
				"naive.oversell").Replace(line))[1:]), nil, "%s: %s", name, line)
		}
	}
	if checked < 50 {
		t.Errorf("only %d commands were found", checked)
	}
}

// lacking matches the errors of a command line in which readers must fill in their own files,
// servers and strategies.
var lacking = regexp.MustCompile(`no such file or directory|the (ledger needs|verdict is read)|"my-lock"`)

// quietParser makes the parser once: that takes longer than parsing a hundred command lines.
var quietParser = sync.OnceValues(func() (*kong.Kong, error) {
	return newParser(&commands{}, kong.Name("seckill"), kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}),
		kong.BindTo(context.Background(), (*context.Context)(nil)))
})

// accepted parses a command line and runs nothing. It also accepts a bare command without required
// arguments, because texts mention commands.
func accepted(args []string) error {
	parser, err := quietParser()
	if err != nil {
		return err
	}
	if _, err = parser.Parse(args); err == nil || lacking.MatchString(err.Error()) {
		return nil
	}
	if node := parser.Model.Node; !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") }) {
		for _, word := range args {
			i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word })
			if i < 0 {
				return err
			}
			node = node.Children[i]
		}
		return nil
	}
	return err
}

// The Makefile has every make target that the pages mention, with a help line.
func TestTargetsOfThePages(t *testing.T) {
	makefile := read(t, filepath.Join(root, "Makefile"))
	target := regexp.MustCompile("(?m)(?:^|`|' )make ([a-z]+)")
	found := map[string]bool{}
	for name, text := range pages(t) {
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			found[m[1]] = true
			labtest.Contains(t, makefile, "\n## "+m[1]+": ", "%s: make %s: the Makefile", name, m[1])
		}
	}
	if len(found) < 6 {
		t.Errorf("only %v were found", found)
	}
}

// flagsOf returns the flags of a grammar, by their names with the dashes.
func flagsOf(t *testing.T, grammar any) map[string]*kong.Flag {
	t.Helper()
	parser := labtest.Value(newParser(grammar, kong.NoDefaultHelp())).Must(t)
	flags := map[string]*kong.Flag{}
	for _, f := range parser.Model.Flags {
		flags["--"+f.Name] = f
	}
	return flags
}

// The table of backends in docs/cli.md lists all their flags and environment variables.
func TestBackendFlagsAreInTheTable(t *testing.T) {
	flags := flagsOf(t, &backend.Config{})
	for _, kind := range backend.Kinds {
		for _, a := range kind.Addresses {
			if f := flags[a.Flag]; f == nil || !slices.Equal(f.Envs, []string{a.Env}) {
				t.Errorf("%s: flag %+v, want it with the variable %s", a.Flag, f, a.Env)
			}
			labtest.Contains(t, page(t, "docs/cli.md"), "| `"+a.Flag+"` | `"+a.Env+"` |", "docs/cli.md")
			delete(flags, a.Flag)
		}
	}
	if len(flags) > 0 {
		t.Errorf("not in the table: %v", slices.Collect(maps.Keys(flags)))
	}
}

// seckill up reads every variable that docker-compose.yml sets.
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

// The image is made from the same files from which make build makes bin/seckill.
func TestImageIsMadeOfTheSources(t *testing.T) {
	sources := regexp.MustCompile(`SOURCES := .* --exclude-standard (.*) 2>`).FindStringSubmatch(page(t, "Makefile"))[1]
	want := strings.Fields(strings.ReplaceAll(sources, "'", ""))
	kept := regexp.MustCompile(`(?m)^!(\S+)$`).FindAllStringSubmatch(page(t, ".dockerignore"), -1)
	got := labtest.Map(kept, func(m []string) string { return m[1] })
	slices.Sort(got)
	slices.Sort(want)
	labtest.Same(t, got, want, ".dockerignore keeps, and the Makefile compiles")
}
