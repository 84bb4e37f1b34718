package web

import (
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TypeScript checks the page's modules, which stay JavaScript: what it knows
// is in their comments and in types/.
func TestTypes(t *testing.T) {
	tsc, err := exec.LookPath("tsc")
	if err != nil {
		t.Fatalf("no tsc was found (run: deploy/deps.sh --tests): %v", err)
	}
	said, err := exec.CommandContext(t.Context(), tsc, "--project", "tsconfig.json", "--pretty", "false", "--listFiles").CombinedOutput()
	var wrong []string
	read := map[string]bool{}
	for line := range strings.Lines(string(said)) {
		line = strings.TrimSpace(line)
		if _, name, ours := strings.Cut(line, "/web/static/"); ours && strings.HasPrefix(line, "/") {
			read[name] = true
		} else if !strings.HasPrefix(line, "/") {
			wrong = append(wrong, line)
		}
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", tsc, err, strings.Join(wrong, "\n"))
	}
	each(t, func(name, _ string) {
		if path.Ext(name) == ".js" && !read[name] {
			t.Errorf("%s is not checked: see the lists of files in tsconfig.json", name)
		}
	})
}

var afterWords = regexp.MustCompile(`(?m)^.*/\*\* [^@\n]*[^@{(\s] @(?:param|returns|template|type)\b.*$`)

// TypeScript before 5 takes a tag for prose when words come before it on the
// first line of a comment, and checks nothing.
func TestTagsBeginTheirLine(t *testing.T) {
	each(t, func(name, text string) {
		if path.Ext(name) != ".js" {
			return
		}
		for _, line := range afterWords.FindAllString(text, -1) {
			t.Errorf("%s: put the tag on a line of its own:\n%s", name, line)
		}
	})
}
