package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
	"seckill/internal/tables"
	"seckill/strategies"
	"seckill/strategies/sqlrow"
)

const root = "../.."

// keptMatrix returns the matrix of the last make prove.
func keptMatrix(t *testing.T) *prove.Matrix {
	t.Helper()
	f := labtest.Value(os.Open(filepath.Join(root, "web/guarantees/matrix.json"))).Must(t)
	defer f.Close()
	return labtest.Value(prove.ReadMatrix(f)).Must(t)
}

// docs/guarantees.md shows the matrix that was computed last, and the strategies declare the same
// answers. If this test fails, run make prove.
func TestMatrixReadmeAndStrategiesAgree(t *testing.T) {
	m := keptMatrix(t)
	file := filepath.Join(root, "docs/guarantees.md")
	text := labtest.Value(os.ReadFile(file)).Must(t)
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
	kept := map[string]bool{} // names of the counterexample files to which the matrix refers
	all := strategies.All()
	if !slices.EqualFunc(m.Rows, all, func(r prove.Row, i catalog.Info) bool { return r.Strategy == i.Name }) {
		t.Fatal("other strategies were asked than there are today")
	}
	for i, row := range m.Rows {
		labtest.Same(t, all[i].TitleIn("en"), row.Title, "the title of %s", row.Strategy)
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
		if breaks && !shown { // the page draws a counterexample beside its lesson
			t.Errorf("%s breaks, and no counterexample of it is kept", row.Strategy)
		}
	}
	files := labtest.Value(filepath.Glob(filepath.Join(root, "web/guarantees/*.*.json"))).Must(t)
	for _, file := range files {
		if !kept[filepath.Base(file)] {
			t.Errorf("%s is the counterexample of no cell", file)
		}
	}
}

// checkExample checks that the matrix has a counterexample for a rule that a strategy breaks.
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

// If a strategy has another result than the matrix in this program, seckill prove ends with a
// status of its own. The same holds for a strategy without a row in the matrix that breaks a
// promise. With fewer schedules, the proof may miss a failure; that is no difference.
func TestProveDiffers(t *testing.T) {
	honest := sqlrow.Naive
	t.Cleanup(func() { sqlrow.Naive = honest })
	dsn := "--mysql-dsn=" + labtest.Start(t, backend.SQL).Config().MySQLDSN
	ask := func(flags ...string) (status int, m *prove.Matrix, said string) {
		var out, progress bytes.Buffer
		status = runProgram(t.Context(), func() {},
			append([]string{"prove", "--questions=oversell", "--budget=500ms", "--json=-",
				"--examples=" + t.TempDir(), dsn, "--strategies=" + sqlrow.Naive.Name}, flags...), &out, &progress)
		m = labtest.Value(prove.ReadMatrix(&out)).Must(t)
		return status, m, progress.String()
	}

	sqlrow.Naive.New = sqlrow.Conditional.New
	if status, _, said := ask(); status != statusDiffers ||
		!strings.Contains(said, "naive, no oversell: it is said that it breaks oversold, and it holds") {
		t.Errorf("naive sells right: status %d, want %d, and said\n%s", status, statusDiffers, said)
	}
	if status, m, said := ask("--quiet", "--schedules=1"); status != 0 || said != "" ||
		m.Rows[0].Cells["oversell"].Answer != prove.Holds {
		t.Errorf("with a smaller bound: status %d, want 0, and said\n%s", status, said)
	}
	sqlrow.Naive.New = sqlrow.Atomic.New
	if status, _, said := ask(); status != statusDiffers ||
		!strings.Contains(said, "it is said that it breaks oversold, and it breaks oversold, negative_stock") {
		t.Errorf("naive breaks another rule, too: status %d, want %d, and said\n%s", status, statusDiffers, said)
	}
	sqlrow.Naive.New, sqlrow.Naive.Name = honest.New, "new"
	if status, _, said := ask("--quiet"); status != 0 || said != "" {
		t.Errorf("a new strategy that is honest: status %d, want 0, and said\n%s", status, said)
	}
	sqlrow.Naive.Guarantees = catalog.Guarantees{catalog.Oversell: catalog.Holds}
	if status, _, said := ask(); status != statusDiffers ||
		!strings.Contains(said, "new, no oversell: it is said that it holds, and it breaks") {
		t.Errorf("a new strategy that oversells: status %d, want %d, and said\n%s", status, statusDiffers, said)
	}
}

// The page's chooser recommends strategies that fit, by the published matrix and figures. Node runs
// the same module in testdata/choose.mjs, which prints errors.
func TestChooser(t *testing.T) {
	type listed struct {
		catalog.Info
		Broken bool                 `json:"broken"`
		Needs  []backend.Capability `json:"needs"` // an empty list where there are none
	}
	list := labtest.Map(strategies.All(), func(i catalog.Info) listed {
		return listed{i, i.Broken(), append([]backend.Capability{}, i.Needs...)}
	})
	text := labtest.Value(json.Marshal(list)).Must(t)
	node := exec.CommandContext(t.Context(), "node", "cmd/seckill/testdata/choose.mjs")
	node.Dir, node.Stdin = root, bytes.NewReader(text)
	if said, err := node.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("node (if it is missing: deploy/deps.sh --tests): %v\n%.2000s", err, said)
	}
}
