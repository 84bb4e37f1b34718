package web

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every fault of a lab has a name and a hint in both languages.
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
		for _, file := range []string{"static/text/", "static/lab/text/"} {
			words, err := os.ReadFile(file + language + ".js")
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range faults {
				if !strings.Contains(string(words), " "+f+": ") {
					t.Errorf("%s%s.js does not name %s", file, language, f)
				}
			}
		}
	}
}

// Every rule of the judge has a name in both languages.
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
		words, err := os.ReadFile("static/text/" + language + ".js")
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range rules {
			if !strings.Contains(string(words), " "+rule+": ") {
				t.Errorf("static/text/%s.js has no words for %s", language, rule)
			}
		}
	}
}

// Every refusal of the lab, every reason why a fault cannot be had or a run proves nothing,
// every broken rule, every kind of example and every reason why answers cannot be explained
// has a sentence in Chinese; English pages show the lab's own.
func TestWhatTheLabSaysHasChinese(t *testing.T) {
	for _, list := range []struct {
		files, code, words, begin, end string
		least                          int
	}{
		{"../internal/labapi/*.go", `Code: "(\w+)"`, "static/text/zh.js", "\n  problem: (", "\n  }[code]", 15},
		{"../internal/fault/effect.go", `(?m)^\tLack\w+ += "(\w+)"`, "static/lab/text/zh.js", "\nconst lacks = {", "\n};", 7},
		{"../loadtest/result.go", `(?m)^\tCause\w+ += "(\w+)"`, "static/lab/text/zh.js", "\nconst causes = {", "\n};", 14},
		{"../internal/ledger/*.go", `(?m)^\tRule\w+ += "(\w+)"`, "static/lab/text/zh.js", "\nconst broken = {", "\n};", 20},
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
