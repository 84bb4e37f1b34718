package web

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
)

// The page has texts in both languages for every name and code of the lab, the judge, the load generator and the
// explorer that it may show. It has a Chinese translation of every sentence of the lab.
func TestWhatIsNamedHasWords(t *testing.T) {
	const fault, rule = `(?m)^\t(?:\w+ +Name = |\{Name: )"(\w+_\w+)"`, `(?m)^\tRule\w+ += "(\w+)"`
	const exploring, actor = `(?m)^\t\w+ Fault = "([^"]+)"`, `(?m)^\t\w+ +Action = "(\w+)"`
	const both = "en zh"
	for _, list := range []struct {
		files, code string // where they are, and what they look like
		least       int    // that are found
		words       string // the file of words, of a language
		languages   string
		begin, end  string // of the list in it; "": anywhere
	}{
		{"../internal/fault/*.go", fault, 23, "static/text/", both, "", ""},
		{"../internal/fault/*.go", fault, 23, "static/lab/text/", both, "", ""},
		{"../internal/judge/*.go", rule, 20, "static/text/", both, "", ""},
		{"../internal/explore/scenario.go", rule, 7, "static/text/", both, "", ""},
		{"../internal/explore/scenario.go", exploring, 9, "static/trace/text/", both, "\n  faults: {", "\n  },"},
		{"../internal/explore/scenario.go", exploring, 9, "static/trace/text/", both, "\n  faultHints: {", "\n  },"},
		{"../internal/explore/does.go", actor, 11, "static/trace/text/", both, "", ""},
		{"../internal/labapi/*.go", `(?:Code|kind\w+): "(\w+)"`, 15, "static/text/", "zh", "\n  problem: (", "\n  }[code]"},
		{"../internal/judge/codes.go", `\d{3}, "(\w+)"`, 20, "static/text/", "zh", "\n  problem: (", "\n  }[code]"},
		{"../internal/fault/fault.go", `(?m)^\tLack\w+ += "(\w+)"`, 3, "static/lab/text/", "zh", "\nconst lacks = {", "\n};"},
		{"../loadtest/result.go", `(?m)^\tProblem\w+ += "(\w+)"`, 10, "static/lab/text/", "zh", "\nconst problems = {", "\n};"},
		{"../internal/judge/*.go", rule, 20, "static/lab/text/", "zh", "\nconst broken = {", "\n};"},
		{"../internal/judge/report.go", `form\{"(\w+)"`, 4, "static/lab/text/", "zh", "\nconst cases = {", "\n};"},
		{"../internal/judge/linear.go", `newReason\("(\w+)"`, 6, "static/lab/text/", "zh", "\nconst unexplained = {", "\n};"},
	} {
		codes := codesIn(t, list.files, list.code)
		if len(codes) < list.least {
			t.Errorf("%s: only %d codes were found: %v", list.files, len(codes), codes)
		}
		for _, language := range strings.Fields(list.languages) {
			words := source(t, list.words+language+".js")
			if list.begin != "" {
				_, words, _ = strings.Cut(words, list.begin)
				words, _, _ = strings.Cut(words, list.end)
			}
			for _, code := range codes {
				if !regexp.MustCompile(`[ {]'?` + code + `'?: `).MatchString(words) {
					t.Errorf("%s%s.js has no words for %s of %s %s", list.words, language, code, list.files, list.begin)
				}
			}
		}
	}
}

// codesIn returns the matches of a pattern in files that are not tests.
func codesIn(t *testing.T, pattern, code string) (codes []string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	labtest.Must(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range regexp.MustCompile(code).FindAllStringSubmatch(source(t, file), -1) {
			codes = append(codes, m[1])
		}
	}
	return codes
}
