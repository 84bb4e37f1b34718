package strategies_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"seckill/internal/catalog"
	"seckill/strategies"
)

// The sections of a lesson. How it breaks, or why it does not: one of the two.
var sections = map[string][]string{
	"en": {"The problem", "What it sends", "What it gets right", "How it breaks", "What comes next", "To think about"},
	"zh": {"要解决的问题", "实际发出的命令", "它做对了什么", "它怎样出错", "下一步", "想一想"},
}

var unbroken = map[string]string{"en": "Why it does not break", "zh": "它为什么不出错"}

// A lesson has these sections in both languages, and says that its strategy does not
// break only where the catalog says so, too.
func TestEveryStrategyHasItsLesson(t *testing.T) {
	section := regexp.MustCompile(`(?m)^## (.+)$`)
	for _, info := range strategies.All() {
		sound := map[string]bool{}
		for _, language := range catalog.Languages {
			text, err := info.Lesson(language)
			if err != nil {
				t.Error(err)
			}
			if !strings.HasPrefix(text, "# ") {
				t.Errorf("%s in %s: the lesson has no title", info.Name, language)
			}
			var found []string
			for _, m := range section.FindAllStringSubmatch(text, -1) {
				found = append(found, m[1])
			}
			want := slices.Clone(sections[language])
			if sound[language] = slices.Contains(found, unbroken[language]); sound[language] {
				want[3] = unbroken[language]
			}
			if !slices.Equal(found, want) || strings.Count(text, "\n> answer: ") != 1 {
				t.Errorf("%s in %s: the sections are %q, want %q, and a question with one model answer", info.Name, language, found, want)
			}
		}
		if sound["en"] != sound["zh"] {
			t.Errorf("%s: whether it breaks: the languages differ: %v", info.Name, sound)
		}
		for q, e := range info.Guarantees {
			// That a buyer waits, or that a server is lost, is no fault of the stock's.
			if sound["en"] && e == catalog.Breaks && q != catalog.OtherSKUs && q != catalog.NodeLoss {
				t.Errorf("%s: the lesson says that it does not break, the catalog says that %s does", info.Name, q)
			}
		}
	}
}
