package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
	"seckill/strategies"
)

// What the README and the pages state as a fact is one. When a figure has
// changed (make figures, make prove), mend the sentence in both languages.

// matrix answers what the kept guarantee matrix says of a strategy's question.
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

// The README's table of families counts the strategies by what seckill strategies says of
// each, which is what the matrix says.
func TestFamiliesOfTheReadme(t *testing.T) {
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
		if breaks != (told[info.Name] != "") {
			t.Errorf("seckill strategies says %q of %s; that the matrix has a break is %t", told[info.Name], info.Name, breaks)
		}
	}
	row := regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| [^|]+ \\| (\\d+)([^|]*) \\| (\\d+)[^|]* \\| (\\d+) \\|$")
	for _, name := range []string{"README.md", "README.zh.md"} {
		rows := row.FindAllStringSubmatch(page(t, name), -1)
		if len(rows) != len(families) {
			t.Errorf("%s has %d families, want %d", name, len(rows), len(families))
		}
		for _, m := range rows {
			c := families[m[1]]
			if got, want := m[2]+" "+m[4]+" "+m[5], fmt.Sprintf("%d %d %d", c[""], c[sometimes], c["by itself"]); got != want {
				t.Errorf("%s, %s: right, broken by a fault, overselling are %s, want %s", name, m[1], got, want)
			}
			for _, s := range inlineCode(m[3]) {
				if said, known := told[s]; !known || said != "" {
					t.Errorf("%s, %s: %s does not keep the stock right", name, m[1], s)
				}
			}
		}
	}
}

func TestFindingsOfTheReadme(t *testing.T) {
	var figures struct {
		Compare struct {
			Strategies map[string]struct {
				Rate   [3]float64 `json:"answers_per_second"`
				Factor [3]float64
				Sent   [3]float64 `json:"commands_per_purchase"`
			}
		} `json:"flash-sale"`
		Locks struct {
			Locks map[string]map[int]struct {
				Rate [3]float64 `json:"locks_per_second"`
				P99  [3]float64 `json:"p99_ms"`
			}
		}
	}
	labtest.Must(t, json.Unmarshal([]byte(read(t, filepath.Join(root, "web/static/figures.json"))), &figures))
	sales, locks := figures.Compare.Strategies, figures.Locks.Locks
	answer, late := matrix(t), 0
	for _, info := range strategies.All() {
		if info.Locker != nil && answer(info.Name, string(catalog.LateCommand)) == prove.Breaks {
			late++
		}
	}
	of := strategies.All()
	for name, counts := range map[string][]string{
		"README.md":    {fmt.Sprintf("%d locks break this way", late), fmt.Sprintf("**%d ways to deduct stock**", len(of))},
		"README.zh.md": {fmt.Sprintf("有 %d 种锁会因此出错", late), fmt.Sprintf("**%d 种扣库存的策略**", len(of))},
	} {
		wants := counts
		for _, figure := range []float64{
			sales["conditional"].Rate[0], sales["for-update"].Rate[0], sales["redis-lua"].Rate[0], sales["zk"].Rate[0], sales["redis-watchdog"].Rate[0],
			sales["redlock"].Sent[0], sales["redlock"].Rate[0], sales["redis-lua"].Sent[0],
			sales["redis-counter-mysql"].Factor[0], sales["merged"].Factor[0],
			locks["redis-lua"][8].Rate[0], locks["get-lock"][8].Rate[0], locks["redis-lua"][8].P99[0], locks["get-lock"][8].P99[0],
		} {
			wants = append(wants, shown(figure))
		}
		text := strings.Join(strings.Fields(page(t, name)), " ")
		for _, want := range wants {
			if !regexp.MustCompile(`(^|[^0-9,.])` + regexp.QuoteMeta(want) + `([^0-9]|$)`).MatchString(text) {
				t.Errorf("%s does not say %s", name, want)
			}
		}
	}
	if want := "redis-counter-mysql answers " + regexp.MustCompile(`\n\| redis-counter-mysql \|.* ([0-9.]+) \(`).FindStringSubmatch(page(t, "docs/figures.md"))[1] + " × as many"; !strings.Contains(page(t, "docs/load.md"), want) {
		t.Errorf("docs/load.md does not say %q", want)
	}
}

// shown is a figure with three digits, as docs/figures.md has it.
func shown(x float64) string {
	switch {
	case x >= 1000:
		return fmt.Sprintf("%d,%03d", int(x+.5)/1000, int(x+.5)%1000)
	case x >= 100:
		return fmt.Sprint(int(x + .5))
	}
	return fmt.Sprintf("%.1f", x)
}
