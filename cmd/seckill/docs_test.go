package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
)

// pages are all Markdown files for readers of the repository, by their path
// from its root. Lessons and chapters have tests of their own.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) < 4 {
			t.Fatalf("%s: %d pages (%v)", pattern, len(files), err)
		}
		for _, file := range files {
			name, err := filepath.Rel(root, file)
			labtest.Must(t, err)
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
	text, err := os.ReadFile(file)
	labtest.Must(t, err)
	return string(text)
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fence   = regexp.MustCompile("(?ms)^( *)```[a-z]*\n(.*?)^ *```$")
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// A link to a file or a heading leads somewhere.
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
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			}
			if anchor != "" && !slices.Contains(anchors(texts[to]), anchor) {
				t.Errorf("%s links to %s: there is no such heading, only %q", name, m[1], anchors(texts[to]))
			}
		}
	}
}

// anchors are a page's headings, as GitHub names them in links.
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

// inlineCode are the words between backticks, each once: sentences put them in
// other places in each language.
func inlineCode(text string) []string {
	words := map[string]bool{}
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		words[m[1]] = true
	}
	return slices.Sorted(maps.Keys(words))
}
