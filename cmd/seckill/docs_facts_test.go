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

// The classes of the README's table of families.
const (
	keepsRight = iota
	breaksUnderFault
	oversells
)

// class of a strategy. That buyers of other SKUs wait is no matter of the
// stock, and the table leaves the loss of a whole server out.
func class(info catalog.Info, answer func(strategy, question string) prove.Answer) int {
	if info.Broken() {
		return oversells
	}
	for _, q := range prove.Questions() {
		if id := catalog.Question(q.ID); id != catalog.OtherSKUs && id != catalog.NodeLoss && answer(info.Name, q.ID) == prove.Breaks {
			return breaksUnderFault
		}
	}
	return keepsRight
}

func TestFamiliesOfTheReadme(t *testing.T) {
	answer := matrix(t)
	type counts [3]int
	families, classes := map[string]*counts{}, map[string]int{}
	for _, info := range strategies.All() {
		if families[info.Family] == nil {
			families[info.Family] = &counts{}
		}
		classes[info.Name] = class(info, answer)
		families[info.Family][classes[info.Name]]++
		if told := sellsWrongly(info); told != []string{"", sometimes, "by itself"}[classes[info.Name]] {
			t.Errorf("seckill strategies says %q of %s, which is of class %d", told, info.Name, classes[info.Name])
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
			if c == nil {
				t.Errorf("%s: there is no family %q", name, m[1])
				continue
			}
			if got, want := m[2]+" "+m[4]+" "+m[5], fmt.Sprintf("%d %d %d", c[keepsRight], c[breaksUnderFault], c[oversells]); got != want {
				t.Errorf("%s, %s: right, broken by a fault, overselling are %s, want %s", name, m[1], got, want)
			}
			for _, s := range inlineCode(m[3]) {
				if class, known := classes[s]; !known || class != keepsRight {
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
	said := map[string]float64{
		"`conditional` answers %s buyers/s": sales["conditional"].Rate[0], "`for-update` %s,": sales["for-update"].Rate[0],
		"(`redis-lua`) %s,": sales["redis-lua"].Rate[0], "(`zk`)\n%s,": sales["zk"].Rate[0],
		"`redis-watchdog`, whose waiters are told, %s.": sales["redis-watchdog"].Rate[0],
		"`redlock` sends %s commands":                   sales["redlock"].Sent[0], "answers %s buyers/s; `redis-lua`": sales["redlock"].Rate[0],
		"(`redis-counter-mysql`) answers %s times": sales["redis-counter-mysql"].Factor[0], "(`merged`) %s times": sales["merged"].Factor[0],
		"sends %s and answers": sales["redis-lua"].Sent[0], "and answers\n%s.": sales["redis-lua"].Rate[0],
		"grants %s locks/s": locks["redis-lua"][8].Rate[0], "server) %s.": locks["get-lock"][8].Rate[0],
		"wait %s ms": locks["redis-lua"][8].P99[0], "and %s ms with the other": locks["get-lock"][8].P99[0],
	}
	text := page(t, "README.md")
	flat, chinese := strings.Join(strings.Fields(text), " "), page(t, "README.zh.md")
	for form, figure := range said {
		if !strings.Contains(chinese, shown(figure)+" ") {
			t.Errorf("README.zh.md does not say %s, the figure of %q", shown(figure), form)
		}
		if want := strings.Join(strings.Fields(fmt.Sprintf(form, shown(figure))), " "); !strings.Contains(flat, want) {
			t.Errorf("README.md does not say %q", want)
		}
	}

	if want := fmt.Sprintf("redis-counter-mysql answers %.2f × as many", sales["redis-counter-mysql"].Factor[0]); !strings.Contains(page(t, "docs/load.md"), want) {
		t.Errorf("docs/load.md does not say %q", want)
	}

	answer, late := matrix(t), 0
	for _, claim := range []struct {
		strategy, question string
		want               prove.Answer
	}{
		{"redlock", "lease-end", prove.Breaks}, {"redlock", "node-loss", prove.Holds}, {"redlock", "late-command", prove.Breaks},
		{"redis-lua", "lease-end", prove.Breaks}, {"redis-lua", "node-loss", prove.Breaks},
		{"zk", "late-command", prove.Breaks}, {"etcd", "late-command", prove.Breaks},
		{"redis-fenced", "late-command", prove.Holds}, {"zk-fenced", "late-command", prove.Holds}, {"etcd-fenced", "late-command", prove.Holds},
	} {
		if got := answer(claim.strategy, claim.question); got != claim.want {
			t.Errorf("README.md counts on %+v; the matrix says %s", claim, got)
		}
	}
	for _, q := range prove.Questions() {
		if answer("conditional", q.ID) == prove.Breaks {
			t.Errorf("README.md says that nothing breaks conditional; %s does", q.ID)
		}
	}
	for _, info := range strategies.All() {
		if info.Locker != nil && answer(info.Name, string(catalog.LateCommand)) == prove.Breaks {
			late++
		}
	}
	for _, want := range []string{fmt.Sprintf("%d locks break this way", late), fmt.Sprintf("**%d ways to deduct stock**", len(strategies.All()))} {
		if !strings.Contains(flat, want) {
			t.Errorf("README.md does not say %q", want)
		}
	}
	for _, want := range []string{fmt.Sprintf("有 %d 种锁会因此出错", late), fmt.Sprintf("**%d 种扣库存的策略**", len(strategies.All()))} {
		if !strings.Contains(chinese, want) {
			t.Errorf("README.zh.md does not say %q", want)
		}
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
