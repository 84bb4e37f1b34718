package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
	"seckill/internal/tables"
	"seckill/strategies"
)

const root = "../.."

// keptMatrix returns the matrix that make prove computed last.
func keptMatrix(t *testing.T) *prove.Matrix {
	t.Helper()
	f, err := os.Open(filepath.Join(root, "web/guarantees/matrix.json"))
	labtest.Must(t, err)
	defer f.Close()
	m, err := prove.ReadMatrix(f)
	labtest.Must(t, err)
	return m
}

// What docs/guarantees.md shows, what was computed last, and what the strategies say
// of themselves are one thing. When this fails: make prove.
func TestMatrixReadmeAndStrategiesAgree(t *testing.T) {
	m := keptMatrix(t)
	file := filepath.Join(root, "docs/guarantees.md")
	text, err := os.ReadFile(file)
	labtest.Must(t, err)
	var shown bytes.Buffer
	labtest.Must(t, tables.WithBlock(file, prove.Block, m.WriteMarkdown)(&shown))
	if shown.String() != string(text) {
		t.Errorf("%s shows another matrix", file)
	}
	if !slices.EqualFunc(m.Questions, prove.Questions(), func(a, b prove.Question) bool {
		return a.ID == b.ID && a.Title == b.Title && a.Asks == b.Asks
	}) {
		t.Error("other questions were asked than are asked today")
	}
	kept := map[string]bool{} // the counterexamples' files that the matrix names
	all := strategies.All()
	if !slices.EqualFunc(m.Rows, all, func(r prove.Row, i catalog.Info) bool { return r.Strategy == i.Name }) {
		t.Fatal("other strategies were asked than there are today")
	}
	for i, row := range m.Rows {
		if row.Title != all[i].TitleIn("en") {
			t.Errorf("%s is %q today, and was %q", row.Strategy, all[i].TitleIn("en"), row.Title)
		}
		for q, said := range all[i].Guarantees {
			if c := row.Cells[string(q)]; c.Answer != prove.Answer(said) && c.Answer != prove.NotAsked {
				t.Errorf("%s, %s: the strategy says that it %s, and it %s", row.Strategy, q, said, c.Summary())
			}
		}
		breaks, shown := false, false
		for id, c := range row.Cells {
			if c.Answer == prove.Failed || c.Answer == prove.Missing {
				t.Errorf("%s, %s: %s", row.Strategy, id, c.Summary())
			}
			breaks = breaks || c.Answer == prove.Breaks
			for _, f := range append([]prove.Finding{{Rule: c.Rule, Example: c.Example}}, c.Also...) {
				if f.Example != "" {
					shown, kept[filepath.Base(f.Example)] = true, true
					checkExample(t, f, row.Strategy, id)
				}
			}
		}
		if breaks && !shown { // the page draws one beside its lesson
			t.Errorf("%s breaks, and no counterexample of it is kept", row.Strategy)
		}
	}
	files, err := filepath.Glob(filepath.Join(root, "web/guarantees/*.*.json"))
	labtest.Must(t, err)
	for _, file := range files {
		if !kept[filepath.Base(file)] {
			t.Errorf("%s is the counterexample of no cell", file)
		}
	}
}

// A "breaks" can be replayed, for each rule.
func checkExample(t *testing.T, found prove.Finding, strategy, question string) {
	f, err := os.Open(filepath.Join(root, found.Example))
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	if e, err := game.ReadExample(f); err != nil || e.Strategy != strategy || e.Question != question ||
		!slices.ContainsFunc(e.Problems, func(p explore.Problem) bool { return p.Rule == found.Rule }) {
		t.Errorf("%s: %s, %s, %v (%v): want a counterexample of %s, %s that breaks %s",
			found.Example, e.Strategy, e.Question, e.Problems, err, strategy, question, found.Rule)
	}
}
