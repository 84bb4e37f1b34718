package web

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
)

// The page has texts in both languages for every name and code of the lab, the judge, the load generator and the
// explorer that it may show. It has a Chinese translation of every sentence of the lab.
func TestWhatIsNamedHasWords(t *testing.T) {
	const fault, rule = `(?m)^\t(?:\w+ +Name = |\{Name: )"(\w+_\w+)"`, `(?m)^\tRule\w+ += "(\w+)"`
	const exploring, actor = `(?m)^\t\w+ Fault = "([^"]+)"`, `(?m)^\t\w+ +Action = "(\w+)"`
	const both = "en zh"
	for _, list := range []struct {
		files, code string // the files that contain the codes, and a pattern for a code
		least       int    // number of codes that must be found, at least
		words       string // file of texts; each language has one
		languages   string
		begin, end  string // where the list begins and ends in that file; "": anywhere
	}{
		{"../internal/fault/*.go", fault, 23, "static/text/", both, "", ""},
		{"../internal/fault/*.go", fault, 23, "static/lab/text/", both, "", ""},
		{"../internal/judge/*.go", rule, 20, "static/text/", both, "", ""},
		{"../internal/explore/scenario.go", rule, 7, "static/text/", both, "", ""},
		{"../internal/explore/scenario.go", exploring, 9, "static/trace/text/", both, "\n  faults: {", "\n  },"},
		{"../internal/explore/scenario.go", exploring, 9, "static/trace/text/", both, "\n  faultHints: {", "\n  },"},
		{"../internal/explore/does.go", actor, 11, "static/trace/text/", both, "", ""},
		{"../internal/labapi/*.go", `(?:Code|kind): "(\w*[a-z])"`, 15, "static/text/", "zh", "\n  problem: (", "\n  }[code]"},
		{"../internal/judge/codes.go", `\d{3}, "(\w+)"`, 20, "static/text/", "zh", "\n  problem: (", "\n  }[code]"},
		{"../internal/fault/fault.go", `(?m)^\tLack\w+ += "(\w+)"`, 3, "static/lab/text/", "zh", "\nconst lacks = {", "\n};"},
		{"../loadtest/*.go", `(?:add|new)Problem\("(\w+)"`, 13, "static/lab/text/", "zh", "\nconst problems = {", "\n};"},
		{"../internal/judge/*.go", rule, 20, "static/lab/text/", "zh", "\nconst broken = {", "\n};"},
		{"../internal/judge/report.go", `form\{"(\w+)"`, 4, "static/lab/text/", "zh", "\nconst cases = {", "\n};"},
		{"../internal/judge/linear.go", `newReason\("(\w+)"`, 6, "static/lab/text/", "zh", "\nconst unexplained = {", "\n};"},
	} {
		codes := codesIn(t, list.files, list.code)
		if len(codes) < list.least {
			t.Errorf("%s: only %d codes were found: %v", list.files, len(codes), codes)
		}
		for _, language := range strings.Fields(list.languages) {
			file := list.words + language + ".js"
			if language == "en" && list.words != "static/text/" { // a screen has its English texts in its text.js
				file = strings.TrimSuffix(list.words, "/") + ".js"
			}
			words := source(t, file)
			if list.begin != "" {
				_, words, _ = strings.Cut(words, list.begin)
				words, _, _ = strings.Cut(words, list.end)
			}
			for _, code := range codes {
				if !regexp.MustCompile(`[ {]'?(?:unknown_)?` + code + `'?: `).MatchString(words) {
					t.Errorf("%s has no words for %s of %s %s", file, code, list.files, list.begin)
				}
			}
		}
	}
}

// codesIn returns the matches of a pattern in files that are not tests.
func codesIn(t *testing.T, pattern, code string) (codes []string) {
	t.Helper()
	for _, file := range labtest.Value(filepath.Glob(pattern)).Must(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range regexp.MustCompile(code).FindAllStringSubmatch(source(t, file), -1) {
			codes = append(codes, m[1])
		}
	}
	return codes
}

// Every question of the proof has a group on the page and a Chinese text. Its English text comes with the matrix.
func TestQuestionsHaveWords(t *testing.T) {
	groups := source(t, "static/guarantees/rows.js")
	for _, q := range prove.Questions() {
		for _, file := range []string{"static/text/zh.js", "static/guarantees/text/asks.zh.js"} { // its title, what it asks
			if !regexp.MustCompile(`(?m)^  ['"]?` + q.ID + `['"]?: ['"]`).MatchString(source(t, file)) {
				t.Errorf("%s has no words for the question %s", file, q.ID)
			}
		}
		labtest.Contains(t, groups, "'"+q.ID+"'", "static/guarantees/rows.js")
	}
}

// The results of the prover can be read in both languages.
func TestMeasuredCellsHaveWords(t *testing.T) {
	var matrix struct {
		Rows []struct {
			Cells map[string]struct{ Answer, Text string }
		}
	}
	labtest.Must(t, json.Unmarshal([]byte(source(t, "guarantees/matrix.json")), &matrix))
	seen := 0
	for _, file := range []string{"text.js", "text/zh.js"} {
		words := strings.ReplaceAll(source(t, "static/guarantees/"+file), `\'`, "'")
		for _, row := range matrix.Rows {
			for question, c := range row.Cells {
				if c.Answer != "measured" {
					continue
				}
				for part := range strings.SplitSeq(c.Text, "; ") {
					seen++
					labtest.Contains(t, words, "    '"+part+"': ['", "%s, for %q", file, question)
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d measured parts were found", seen)
	}
}

// Every sentence of the proof has a Chinese translation: those of cells, problems, answers and scenarios.
func TestProofSpeaksChinese(t *testing.T) {
	dictionary := source(t, "static/guarantees/text/proof.zh.js")
	holes := regexp.MustCompile(`-?\d+(?:\.\d+)?|\b(?:A|B|C|next)\b`)
	seen := map[string]bool{}
	check := func(where, text string) {
		key := holes.ReplaceAllStringFunc(text, func(hole string) string {
			if strings.ContainsAny(hole, "0123456789") {
				return "#"
			}
			return "@"
		})
		if text == "" || seen[key] {
			return
		}
		seen[key] = true
		if quoted, _ := json.Marshal(key); !strings.Contains(dictionary, "  "+string(quoted)+": ") {
			t.Errorf("%s: proof.zh.js has no sentence for %s", where, quoted)
		}
	}
	type cell struct {
		Answer, Text string
		Also         []struct{ Text string }
	}
	files := labtest.Value(filepath.Glob("guarantees/*.json")).Must(t)
	held, _ := filepath.Glob("static/lessons/held.*.json")
	for _, path := range append(files, held...) {
		var file struct {
			Rows     []struct{ Cells map[string]cell }
			Scenario struct{ Name string }
			Problems []struct{ Message string }
			Told     []struct{ Answer string }
		}
		labtest.Check(t, json.Unmarshal([]byte(source(t, path)), &file), nil, "%s", path)
		for _, row := range file.Rows {
			for question, c := range row.Cells {
				if c.Answer != "measured" {
					check(path+" "+question, c.Text)
				}
				for _, also := range c.Also {
					check(path+" "+question, also.Text)
				}
			}
		}
		check(path, file.Scenario.Name)
		for _, p := range file.Problems {
			check(path, p.Message)
		}
		for _, told := range file.Told {
			check(path, told.Answer)
		}
	}
	if len(seen) < 60 {
		t.Errorf("only %d sentences were found", len(seen))
	}
}

func source(t *testing.T, file string) string {
	t.Helper()
	return string(labtest.Value(os.ReadFile(file)).Must(t))
}

// TypeScript checks the page's modules, which are JavaScript. It reads the types from their comments and from types/.
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
	labtest.Must(t, fs.WalkDir(Files(), ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".js" && !read[name] {
			t.Errorf("%s is not checked: see the lists of files in tsconfig.json", name)
		}
		return err
	}))
}
