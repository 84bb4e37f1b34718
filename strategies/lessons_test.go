package strategies_test

import (
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

func TestEveryStrategyHasItsLesson(t *testing.T) {
	for _, info := range strategies.All() {
		t.Run(info.Name, func(t *testing.T) {
			sound := map[string]bool{}
			for _, language := range catalog.Languages {
				text, err := info.Lesson(language)
				if err != nil {
					t.Error(err)
					continue
				}
				l := readLesson(t, language, text)
				want := slices.Clone(sections[language])
				if slices.Contains(l.sections, unbroken[language]) {
					sound[language] = true
					want[3] = unbroken[language]
				}
				if !slices.Equal(l.sections, want) {
					t.Errorf("in %s: the sections are %q, want %q", language, l.sections, want)
				}
				if l.commands == 0 {
					t.Errorf("in %s: it shows no command", language)
				}
				if problem := unanswered(text, sections[language][5]); problem != "" {
					t.Errorf("in %s: %s", language, problem)
				}
			}
			if sound["en"] != sound["zh"] {
				t.Errorf("whether it breaks: the languages differ: %v", sound)
			}
			for q, e := range info.Guarantees {
				// That a buyer waits, or that a server is lost, is no fault of the stock's.
				if sound["en"] && e == catalog.Breaks && q != catalog.OtherSKUs && q != catalog.NodeLoss {
					t.Errorf("the lesson says that it does not break, the catalog says that %s does", q)
				}
			}
		})
	}
}

// A lesson's Markdown is what the page can show: one title, sections,
// paragraphs, lists of "- ", fenced commands.
type lesson struct {
	sections []string
	commands int
}

func readLesson(t *testing.T, language, text string) (l lesson) {
	fenced, empty := false, true
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		section, isSection := strings.CutPrefix(line, "## ")
		switch {
		case strings.HasPrefix(line, "```"):
			fenced, empty = !fenced, false
		case fenced:
			l.commands++
			if wide := len([]rune(line)); wide > 84 {
				t.Errorf("in %s, line %d: %d columns: the page shows commands narrow", language, i+1, wide)
			}
		case i == 0:
			if len(line) < 3 || !strings.HasPrefix(line, "# ") {
				t.Errorf("in %s: the first line is %q, want a title", language, line)
			}
		case isSection:
			if empty && len(l.sections) > 0 {
				t.Errorf("in %s: %q is empty", language, l.sections[len(l.sections)-1])
			}
			l.sections, empty = append(l.sections, section), true
		case strings.HasPrefix(line, "#"):
			t.Errorf("in %s, line %d: %q: one title and its sections, nothing deeper", language, i+1, line)
		case line != "":
			empty = false
		}
	}
	if fenced {
		t.Errorf("in %s: a ``` is not closed", language)
	}
	if empty {
		t.Errorf("in %s: the last section is empty", language)
	}
	return l
}

// unanswered says what is wrong with the last section: a question, and its
// model answer, "> answer: …", which is not the question again.
func unanswered(text, section string) string {
	_, text, _ = strings.Cut(text, "\n## "+section+"\n")
	question, answer, found := strings.Cut(text, "\n> answer: ")
	switch {
	case !strings.ContainsAny(question, "?？"):
		return "it asks no question"
	case !found:
		return "its question has no model answer, \"> answer: …\""
	case len([]rune(answer)) < 40 || strings.Contains(answer, "> answer: "):
		return "the model answer is too short, or there are two"
	}
	for _, line := range strings.Split(strings.TrimRight(answer, "\n"), "\n")[1:] {
		if !strings.HasPrefix(line, "> ") {
			return "after the model answer comes " + line
		}
	}
	return ""
}
