package web

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every reason why a fault cannot be had, and why a run proves nothing, has a
// sentence in both languages.
func TestCodesHaveWords(t *testing.T) {
	for _, list := range []struct {
		file, constant, words string
		least                 int
	}{
		{"../internal/fault/effect.go", "Lack", "lacks", 7},
		{"../loadtest/result.go", "Cause", "causes", 14},
	} {
		source, err := os.ReadFile(list.file)
		if err != nil {
			t.Fatal(err)
		}
		codes := regexp.MustCompile(`(?m)^\t`+list.constant+`\w+ += "(\w+)"`).FindAllStringSubmatch(string(source), -1)
		if len(codes) < list.least {
			t.Fatalf("%s: only %d codes were found: %v", list.file, len(codes), codes)
		}
		for _, language := range []string{"en", "zh"} {
			words, err := os.ReadFile("static/lab/text/" + language + ".js")
			if err != nil {
				t.Fatal(err)
			}
			_, sentences, _ := strings.Cut(string(words), "\n  "+list.words+": {\n")
			sentences, _, _ = strings.Cut(sentences, "\n  },\n")
			for _, code := range codes {
				if !strings.Contains(sentences, " "+code[1]+": ") {
					t.Errorf("static/lab/text/%s.js has no sentence for %s", language, code[1])
				}
			}
		}
	}
}

// Every fault of a lab has a name, a hint and a past tense in both languages.
func TestFaultsHaveWords(t *testing.T) {
	files, err := filepath.Glob("../internal/fault/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var faults []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^(?:const|\t)\s*\w+ +Name += "(\w+_\w+)"`).FindAllStringSubmatch(string(source), -1) {
			faults = append(faults, m[1])
		}
	}
	if len(faults) < 18 {
		t.Fatalf("only %d faults were found: %v", len(faults), faults)
	}
	for _, language := range []string{"en", "zh"} {
		for file, times := range map[string]int{"static/text/": 1, "static/lab/text/": 2} {
			words, err := os.ReadFile(file + language + ".js")
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range faults {
				if n := strings.Count(string(words), " "+f+": "); n < times {
					t.Errorf("%s%s.js names %s %d times, want %d", file, language, f, n, times)
				}
			}
		}
	}
}

// Every rule of the judge has a name and a sentence in both languages.
func TestRulesHaveWords(t *testing.T) {
	files, err := filepath.Glob("../internal/ledger/*.go")
	if err != nil {
		t.Fatal(err)
	}
	rule := regexp.MustCompile(`(?m)^\tRule\w+ += "(\w+)"`)
	var rules []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range rule.FindAllStringSubmatch(string(source), -1) {
			rules = append(rules, m[1])
		}
	}
	if len(rules) < 20 {
		t.Fatalf("only %d rules were found: %v", len(rules), rules)
	}
	for _, language := range []string{"en", "zh"} {
		for _, file := range []string{"static/text/", "static/lab/text/"} {
			words, err := os.ReadFile(file + language + ".js")
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range rules {
				if rule == "not_linearizable" && file == "static/lab/text/" {
					continue // the judge's own words say which answers
				}
				if !strings.Contains(string(words), " "+rule+": ") {
					t.Errorf("%s%s.js has no words for %s", file, language, rule)
				}
			}
		}
	}
}

// Every refusal of the lab, every kind of example and every reason why answers
// cannot be explained has a sentence in Chinese; English pages show the server's.
func TestWhatTheLabSaysHasChinese(t *testing.T) {
	for _, list := range []struct {
		files, code, words, begin, end string
		least                          int
	}{
		{"../internal/labapi/*.go", `Code: "(\w+)"`, "static/text/zh.js", "\n  problem: (", "\n  }[code]", 15},
		{"../internal/ledger/report.go", `form\{"(\w+)"`, "static/lab/text/zh.js", "\nconst cases = {", "\n};", 15},
		{"../internal/linear/linear.go", `because\("(\w+)"`, "static/lab/text/zh.js", "\nconst unexplained = {", "\n};", 6},
	} {
		words, err := os.ReadFile(list.words)
		if err != nil {
			t.Fatal(err)
		}
		_, sentences, _ := strings.Cut(string(words), list.begin)
		sentences, _, _ = strings.Cut(sentences, list.end)
		files, err := filepath.Glob(list.files)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, code := range regexp.MustCompile(list.code).FindAllStringSubmatch(string(source), -1) {
				found[code[1]] = true
				if !strings.Contains(sentences, " "+code[1]+": ") {
					t.Errorf("%s has no sentence for %s of %s", list.words, code[1], file)
				}
			}
		}
		if len(found) < list.least {
			t.Errorf("%s: only %d codes were found: %v", list.files, len(found), found)
		}
	}
}
