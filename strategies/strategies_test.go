package strategies_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
	"seckill/strategies"
	"seckill/strategies/saletest"
)

// Every Info has all that the page, the command line and the guarantee matrix read.
func TestEveryInfoIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, info := range strategies.All() {
		t.Run(info.Name, func(t *testing.T) {
			if seen[info.Name] {
				t.Error("the name is taken twice")
			}
			seen[info.Name] = true
			for field, text := range map[string]string{"Name": info.Name, "Family": info.Family, "Source": info.Source,
				"Stock": string(info.Stock)} {
				if text == "" {
					t.Errorf("%s is empty", field)
				}
			}
			if len(info.Needs) == 0 {
				t.Error("Needs is empty")
			}
			for _, q := range []catalog.Question{catalog.Oversell, catalog.LostUpdate, catalog.Processes,
				catalog.OtherSKUs} {
				if info.Guarantees[q] == "" {
					t.Errorf("%s is left open: every strategy is asked", q)
				}
			}
			for q := range info.Guarantees {
				if !slices.ContainsFunc(prove.Questions(),
					func(asked prove.Question) bool { return asked.ID == string(q) }) {
					t.Errorf("it says something about %q, which the proof does not ask", q)
				}
			}
			if (info.New == nil) == (info.Locker == nil) || info.Locker != nil && info.Key == nil {
				t.Error("either New or Locker, and Key with a Locker")
			}
			checkFiles(t, info)
		})
	}
}

// The names of locks are a contract with other programs.
func TestLocksAreNamedAsPromised(t *testing.T) {
	names := map[string]string{"mysqllock": "seckill:lock:stock:7", "redislock": "seckill:lock:stock:7",
		"zklock": "/seckill/locks/stock-7", "etcdlock": "/seckill/locks/stock-7"}
	for _, info := range strategies.All() {
		want := names[info.Family]
		if info.Name == "zk-node" {
			want += ".node"
		}
		if info.Key != nil && want != "" && info.Key(7) != want {
			t.Errorf("%s locks SKU 7 by %q, want %q", info.Name, info.Key(7), want)
		}
	}
}

// A strategy that breaks by design, or in two processes, names a strategy that repairs it.
func TestRepairs(t *testing.T) {
	known := map[string]catalog.Info{}
	for _, info := range strategies.All() {
		known[info.Name] = info
	}
	for _, info := range strategies.All() {
		repair, ok := known[info.Repair]
		switch {
		case info.Repair == "":
			if info.BreaksIn(2) {
				t.Errorf("%s names no repair", info.Name)
			}
		case !ok || repair.BreaksIn(2):
			t.Errorf("%s names %q as its repair", info.Name, info.Repair)
		default:
			for _, need := range repair.Needs {
				if !slices.Contains(info.Needs, need) && need != backend.SQL && need != backend.RowLocks {
					t.Errorf("%s: its repair %s needs %s as well", info.Name, info.Repair, need)
				}
			}
		}
	}
}

// checkFiles checks that the sources which the page shows exist, and are narrow enough to stand side by side.
func checkFiles(t *testing.T, info catalog.Info) {
	shown := info.Sources()
	for i, name := range shown {
		text, err := info.Files.ReadFile(name)
		if err != nil {
			t.Errorf("it is not among the family's Files: %v", err)
			continue
		}
		most := 84
		if i == 0 {
			most = 80
		}
		for i, line := range strings.Split(string(text), "\n") {
			if wide := len([]rune(strings.ReplaceAll(line, "\t", "    "))); wide > most {
				t.Errorf("%s:%d is %d columns wide: the page shows it", name, i+1, wide)
			}
		}
	}
}

// The sections of a lesson. Of "how it breaks" and "why it does not break" a lesson has exactly
// one. A chapter's headings are others, because the page shows lessons below their chapter.
var sections = map[string][]string{
	"en": {"What it is for", "What it sends", "What it gets right", "How it breaks", "What follows it", "A question about it"},
	"zh": {"它要解决什么", "实际发出的命令", "它做对了什么", "它怎样出错", "它之后看什么", "考考自己"},
}

var unbroken = map[string]string{"en": "Why it does not break", "zh": "它为什么不出错"}

// A lesson has these sections in both languages. It says that its strategy does not break only if
// the catalog says so, too.
func TestEveryStrategyHasItsLesson(t *testing.T) {
	section := regexp.MustCompile(`(?m)^## (.+)$`)
	for _, info := range strategies.All() {
		sound := map[string]bool{}
		for _, language := range catalog.Languages {
			text := labtest.Value(info.Lesson(language)).Must(t)
			labtest.Same(t, strings.HasPrefix(text, "# "), true, "%s in %s has a title", info.Name, language)
			found := labtest.Map(section.FindAllStringSubmatch(text, -1), func(m []string) string { return m[1] })
			want := slices.Clone(sections[language])
			if sound[language] = slices.Contains(found, unbroken[language]); sound[language] {
				want[3] = unbroken[language]
			}
			if !slices.Equal(found, want) || strings.Count(text, "\n> answer: ") != 1 {
				t.Errorf("%s in %s: the sections are %q, want %q, and a question with one model answer", info.Name,
					language, found, want)
			}
		}
		labtest.Same(t, sound["en"], sound["zh"], "%s: whether it breaks, in English and in Chinese", info.Name)
		for q, e := range info.Guarantees {
			// Buyers who wait and a lost server are no fault of the stock.
			if sound["en"] && e == catalog.Breaks && q != catalog.OtherSKUs && q != catalog.NodeLoss {
				t.Errorf("%s: the lesson says that it does not break, the catalog says that %s does", info.Name, q)
			}
		}
	}
}

// BenchmarkPurchase sells single units with one strategy of each family, on real servers.
func BenchmarkPurchase(b *testing.B) {
	for _, name := range []string{"conditional", "mutex", "get-lock", "redis-lua", "zk", "etcd", "redis-counter",
		"merged"} {
		b.Run(name, func(b *testing.B) {
			s := saletest.Open(b, strategies.Named(name), 20_000, catalog.Deps{Settings: catalog.DefaultSettings()})
			user := int64(0)
			for b.Loop() {
				user++
				labtest.Value(s.Buy(b.Context(), user, 1)).Must(b)
			}
		})
	}
}
