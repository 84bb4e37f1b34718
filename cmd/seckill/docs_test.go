package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"seckill/internal/prove"
)

// pages are the README and what it links to.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no pages in docs (%v)", err)
	}
	texts := map[string]string{}
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
	}
	return texts
}

var (
	link    = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)
	command = regexp.MustCompile("`((?:seckill prove|go test) [^`]+)`")
)

// A link to a file leads somewhere.
func TestLinksOfThePages(t *testing.T) {
	for page, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to nothing: %v", page, err)
			}
		}
	}
}

// Every command of the page of bugs can be typed: its flags, strategies and
// questions are known, the counterexample is kept, the test is there.
func TestCommandsOfBugsFound(t *testing.T) {
	text := pages(t)[filepath.Join(root, "docs", "bugs-found.md")]
	commands := command.FindAllStringSubmatch(text, -1)
	if len(commands) < 10 {
		t.Fatalf("%d commands, want more", len(commands))
	}
	for _, m := range commands {
		words := strings.Fields(m[1])
		if words[0] == "go" {
			checkGoTest(t, words)
			continue
		}
		var c ProveCmd
		parser, err := kong.New(&c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(words[2:]); err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
		for _, id := range c.Questions {
			if !asked(id) {
				t.Errorf("%s: there is no question %q", m[1], id)
			}
		}
		if c.Replay != "" {
			checkReplay(t, c.Replay)
		}
	}
}

func asked(id string) bool {
	return slices.ContainsFunc(prove.Questions(), func(q prove.Question) bool { return q.ID == id })
}

// checkReplay: the file is there, or make prove has not asked its question yet.
func checkReplay(t *testing.T, file string) {
	t.Helper()
	parts := strings.Split(filepath.Base(file), ".") // STRATEGY.QUESTION.json
	if len(parts) != 3 || !asked(parts[1]) {
		t.Errorf("%s: there is no such question", file)
		return
	}
	if _, err := strategyNamed("--replay", parts[0]); err != nil {
		t.Errorf("%s: %v", file, err)
		return
	}
	if f, err := os.Open(filepath.Join(root, "web/guarantees/matrix.json")); err == nil {
		defer f.Close()
		m, err := prove.ReadMatrix(f)
		if err != nil || !slices.ContainsFunc(m.Questions, func(q prove.Question) bool { return q.ID == parts[1] }) {
			return
		}
	}
	checkExample(t, file, parts[0], parts[1])
}

// checkGoTest: go test PACKAGE -run NAME[/SUB] names a test.
func checkGoTest(t *testing.T, words []string) {
	t.Helper()
	if len(words) != 5 || words[3] != "-run" {
		t.Errorf("%q: want go test PACKAGE -run NAME", words)
		return
	}
	name, sub, _ := strings.Cut(words[4], "/")
	files, _ := filepath.Glob(filepath.Join(root, words[2], "*_test.go"))
	if !slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "func "+name+"(") && strings.Contains(string(text), sub)
	}) {
		t.Errorf("%q: there is no such test", words)
	}
}
