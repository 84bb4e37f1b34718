package web

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
)

// Every question of the proof has a group on the page and a Chinese text. Its English text comes with the matrix.
func TestQuestionsHaveWords(t *testing.T) {
	groups := source(t, "static/guarantees/rows.js")
	for _, q := range prove.Questions() {
		for _, file := range []string{"static/text/zh.js", "static/guarantees/text/asks.zh.js"} { // its title, what it asks
			if !regexp.MustCompile(`(?m)^  ['"]?` + q.ID + `['"]?: ['"]`).MatchString(source(t, file)) {
				t.Errorf("%s has no words for the question %s", file, q.ID)
			}
		}
		if !strings.Contains(groups, "'"+q.ID+"'") {
			t.Errorf("static/guarantees/rows.js has no group of columns for %s", q.ID)
		}
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
	for _, file := range []string{"en.js", "zh.js"} {
		words := strings.ReplaceAll(source(t, "static/guarantees/text/"+file), `\'`, "'")
		for _, row := range matrix.Rows {
			for question, c := range row.Cells {
				if c.Answer != "measured" {
					continue
				}
				for part := range strings.SplitSeq(c.Text, "; ") {
					seen++
					if !strings.Contains(words, "    '"+part+"': ['") {
						t.Errorf("%s has no words for %q (%s)", file, part, question)
					}
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
	files, err := filepath.Glob("guarantees/*.json")
	labtest.Must(t, err)
	held, _ := filepath.Glob("static/lessons/held.*.json")
	for _, path := range append(files, held...) {
		var file struct {
			Rows     []struct{ Cells map[string]cell }
			Scenario struct{ Name string }
			Problems []struct{ Message string }
			Told     []struct{ Answer string }
		}
		if err := json.Unmarshal([]byte(source(t, path)), &file); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
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
	text, err := os.ReadFile(file)
	labtest.Must(t, err)
	return string(text)
}
