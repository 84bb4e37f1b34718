package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	for _, file := range labtest.Value(filepath.Glob(filepath.Join(root, "web/guarantees/*.*.json"))).Must(t) {
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

// The README and the pages state facts from the guarantee matrix and from the figures. If a test
// here fails after make figures or make prove, correct the sentence in both languages.

// matrix returns a function that looks up an answer in the published guarantee matrix.
func matrix(t *testing.T) func(strategy, question string) prove.Answer {
	t.Helper()
	m := keptMatrix(t)
	return func(strategy, question string) prove.Answer {
		i := slices.IndexFunc(m.Rows, func(r prove.Row) bool { return r.Strategy == strategy })
		if i < 0 {
			t.Fatalf("the matrix has no row %q", strategy)
		}
		return m.Rows[i].Cells[question].Answer
	}
}

// The table of families counts the strategies by what seckill strategies says of each. The matrix must say the same.
func TestFamiliesOfTheGuarantees(t *testing.T) {
	answer, told, families := matrix(t), map[string]string{}, map[string]map[string]int{}
	for _, info := range strategies.All() {
		if families[info.Family] == nil {
			families[info.Family] = map[string]int{}
		}
		told[info.Name] = sellsWrongly(info)
		families[info.Family][told[info.Name]]++
		breaks := slices.ContainsFunc(prove.Questions(), func(q prove.Question) bool {
			id := catalog.Question(q.ID)
			return id != catalog.OtherSKUs && id != catalog.NodeLoss && answer(info.Name, q.ID) == prove.Breaks
		})
		labtest.Same(t, breaks, told[info.Name] != "",
			"seckill strategies says %q of %s, and a break in the matrix", told[info.Name], info.Name)
	}
	row := regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| [^|]+ \\| (\\d+)([^|]*) \\| (\\d+)[^|]* \\| (\\d+) \\|$")
	for _, name := range []string{"docs/guarantees.md"} {
		rows := row.FindAllStringSubmatch(page(t, name), -1)
		labtest.Same(t, len(rows), len(families), "the number of families in %s", name)
		for _, m := range rows {
			c := families[m[1]]
			got, want := m[2]+" "+m[4]+" "+m[5], fmt.Sprintf("%d %d %d", c[""], c[sometimes], c["by itself"])
			labtest.Same(t, got, want, "%s, %s: right, broken by a fault, overselling", name, m[1])
			for _, s := range inlineCode(m[3]) {
				if said, known := told[s]; !known || said != "" {
					t.Errorf("%s, %s: %s does not keep the stock right", name, m[1], s)
				}
			}
		}
	}
}

// figures has the results of the last make figures.
type figures struct {
	Compare struct{ Strategies map[string]saleFigures } `json:"flash-sale"`
	Locks   struct {
		Locks map[string]map[int]struct {
			Rate [3]float64 `json:"locks_per_second"`
			P99  [3]float64 `json:"p99_ms"`
		}
	}
}

func keptFigures(t *testing.T) (kept figures) {
	t.Helper()
	labtest.Must(t, json.Unmarshal([]byte(page(t, "web/static/figures.json")), &kept))
	return kept
}

func TestFindingsOfTheReadme(t *testing.T) {
	kept := keptFigures(t)
	sales, locks := kept.Compare.Strategies, kept.Locks.Locks
	answer, late := matrix(t), 0
	for _, info := range strategies.All() {
		if info.Locker != nil && answer(info.Name, string(catalog.LateCommand)) == prove.Breaks {
			late++
		}
	}
	of := strategies.All()
	for name, counts := range map[string][]string{
		"README.md": {fmt.Sprintf("%d locks break this way", late),
			fmt.Sprintf("**%d ways to deduct stock**", len(of))},
		"README.zh.md": {fmt.Sprintf("有 %d 种锁会因此出错", late), fmt.Sprintf("**%d 种扣库存的策略**", len(of))},
	} {
		wants := counts
		for _, figure := range []float64{
			sales["conditional"].Sent[0], sales["for-update"].Sent[0], sales["atomic"].Sent[0],
			sales["redlock"].Sent[0], sales["redlock"].Rate[0], sales["redsync"].Rate[0],
			locks["redis-lua"][8].Rate[0], locks["get-lock"][8].Rate[0], locks["redis-lua"][8].P99[0],
			locks["get-lock"][8].P99[0], locks["redis-lua-gated"][8].P99[0],
		} {
			wants = append(wants, tables.Number(figure))
		}
		for _, strategy := range []string{"redis-lua", "merged", "redis-counter-mysql"} {
			for _, ratio := range sales[strategy].Factor {
				wants = append(wants, shownRatio(ratio))
			}
		}
		text := strings.Join(strings.Fields(page(t, name)), " ")
		for _, want := range wants {
			if !regexp.MustCompile(`(^|[^0-9,.])` + regexp.QuoteMeta(want) + `([^0-9]|$)`).MatchString(text) {
				t.Errorf("%s does not say %s", name, want)
			}
		}
	}
	ratio := regexp.MustCompile(`\n\| redis-counter-mysql \|.* ([0-9.]+) \(`)
	factor := ratio.FindStringSubmatch(page(t, "docs/figures.md"))[1]
	labtest.Contains(t, page(t, "docs/load.md"), "redis-counter-mysql answers "+factor+" × as many", "docs/load.md")
}

type saleFigures struct {
	Rate   [3]float64 `json:"answers_per_second"`
	Factor [3]float64
	Sent   [3]float64 `json:"commands_per_purchase"`
}

// What the README's table of six strategies says must agree with the matrix and the figures.
func TestTheSixOfTheReadme(t *testing.T) {
	kept := keptFigures(t)
	row := regexp.MustCompile("(?m)^\\| [^|]+ \\| `([a-z-]+)` \\| ([^|]+) \\| ([^|]+) \\| ([0-9,]+) \\|$")
	for name, right := range map[string]map[string]string{
		"README.md":    {"by itself": "no", sometimes: "without faults", "": "yes"},
		"README.zh.md": {"by itself": "否", sometimes: "无故障时", "": "是"},
	} {
		var listed, tied []string
		for _, m := range row.FindAllStringSubmatch(page(t, name), -1) {
			listed = append(listed, m[1])
			info, _ := strategyNamed("", m[1])
			labtest.Same(t, m[2], right[sellsWrongly(info)], "%s: %s is right", name, m[1])
			labtest.Same(t, strings.HasPrefix(m[3], "–"), sellsWrongly(info) == "", "%s: %s breaks never", name, m[1])
			figures := kept.Compare.Strategies[m[1]]
			labtest.Same(t, m[4], tables.Number(figures.Rate[0]), "%s: %s answers", name, m[1])
			if figures.Factor[1] < 1 && figures.Factor[2] > 1 {
				tied = append(tied, "`"+m[1]+"`")
			}
		}
		if !regexp.MustCompile(strings.Join(tied, " (and|和) ") + " (are not apart from|与) `conditional`").MatchString(page(t, name)) {
			t.Errorf("%s does not say that %v are not apart from conditional", name, tied)
		}
		labtest.Same(t, listed, catalog.SixWays, "%s lists", name)
	}
}

// For each real bug, the page names a counterexample of a broken strategy, and a strategy that
// holds in the same question.
func TestTheRealBugs(t *testing.T) {
	answer := matrix(t)
	rows := regexp.MustCompile("(?m)^\\| \\[[^]]+\\]\\(https://github.com/[^)]+/(?:issues|pull)/\\d+\\), \\d{4} \\|.*\\| `([a-z-]+)\\.([a-z-]+)` \\| `([a-z-]+)` \\|$").
		FindAllStringSubmatch(page(t, "docs/bugs.md"), -1)
	labtest.Same(t, len(rows), 12, "the number of bugs")
	for _, m := range rows {
		labtest.Same(t, answer(m[1], m[2]), prove.Breaks, "%s.%s: the proof answers", m[1], m[2])
		if got := answer(m[3], m[2]); got == prove.Breaks {
			t.Errorf("%s breaks in %s as well", m[3], m[2])
		}
		labtest.Must(t, accepted([]string{"prove", "--replay", m[1] + "." + m[2]}))
	}
}

// shownRatio formats a ratio as the README does.
func shownRatio(x float64) string {
	if x < 1 {
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.1f", x)
}
