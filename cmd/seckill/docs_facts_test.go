package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
	"seckill/internal/tables"
	"seckill/strategies"
)

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
