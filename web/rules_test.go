package web

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every reason why a fault cannot be had has a sentence in both languages.
func TestLacksHaveWords(t *testing.T) {
	source, err := os.ReadFile("../internal/fault/lack.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`(?m)^\tLack\w+ += "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 7 {
		t.Fatalf("only %d codes were found: %v", len(codes), codes)
	}
	for _, language := range []string{"en", "zh"} {
		words, err := os.ReadFile("static/lab/text/" + language + ".js")
		if err != nil {
			t.Fatal(err)
		}
		_, lacks, _ := strings.Cut(string(words), "\n  lacks: {\n")
		lacks, _, _ = strings.Cut(lacks, "\n  },\n")
		for _, code := range codes {
			if !strings.Contains(lacks, " "+code[1]+": ") {
				t.Errorf("static/lab/text/%s.js has no sentence for %s", language, code[1])
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
