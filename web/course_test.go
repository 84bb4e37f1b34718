package web_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/game"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
	"seckill/strategies"
	"seckill/web"
	"seckill/web/course"
)

var sections = map[string][]string{
	"en": {"What you will know", "The problem", "The steps", "Break it", "What comes next", "To think about", "Sources"},
	"zh": {"学完你会知道", "要解决的问题", "一步一步看", "动手弄坏它", "下一步", "想一想", "参考资料"},
}

// Some chapters have a primer before the problem. One chapter has a section "How to choose" before its last sections.
var (
	primer = map[string]string{"en": "A primer", "zh": "预备知识"}
	choice = map[string]string{"en": "How to choose", "zh": "怎样选"}
)

func chapters(t *testing.T) []course.Chapter {
	t.Helper()
	return course.Chapters()
}

func infos() map[string]catalog.Info {
	byName := map[string]catalog.Info{}
	for _, i := range strategies.All() {
		byName[i.Name] = i
	}
	return byName
}

func TestTheCourseReachesEveryStrategy(t *testing.T) {
	known, reached := infos(), map[string]bool{}
	for _, c := range chapters(t) {
		for _, name := range c.Strategies {
			if _, ok := known[name]; !ok {
				t.Errorf("%s shows %s, which is no strategy", c.Name, name)
			}
			reached[name] = true
		}
	}
	for name := range known {
		if !reached[name] {
			t.Errorf("no chapter shows %s", name)
		}
	}
}

// The button of a chapter, which breaks a sale, must use a broken strategy. Otherwise readers would learn the opposite.
func TestWhatTheButtonBreaksIsBroken(t *testing.T) {
	known := infos()
	for _, c := range chapters(t) {
		b := c.Break
		info, ok := known[b.Strategy]
		if !ok {
			t.Errorf("%s breaks %q, which is no strategy", c.Name, b.Strategy)
			continue
		}
		if b.Question == "" {
			// A run goes through two service processes.
			if !info.BreaksIn(2) {
				t.Errorf("%s runs %s, which does not oversell: %v", c.Name, b.Strategy, info.Guarantees)
			}
			if b.Stock < 1 || b.Buyers <= b.Stock {
				t.Errorf("%s: %d buyers and a stock of %d: nothing can be oversold", c.Name, b.Buyers, b.Stock)
			}
			continue
		}
		i := slices.IndexFunc(prove.Questions(), func(q prove.Question) bool { return q.ID == b.Question })
		if i < 0 {
			t.Errorf("%s asks %q, which is no question", c.Name, b.Question)
		} else if q := prove.Questions()[i]; info.Guarantees[catalog.Question(q.ID)] != catalog.Breaks {
			t.Errorf("%s: %s does not break %q: there is no counterexample", c.Name, b.Strategy, q.Title)
		}
		if b.Stock != 0 || b.Buyers != 0 {
			t.Errorf("%s: a counterexample brings its own stock and buyers", c.Name)
		}
	}
}

// Beside a counterexample, a chapter plays a schedule of the same question. Its strategy must hold.
func TestWhatIsPlayedBesideHolds(t *testing.T) {
	known, played := infos(), 0
	for _, c := range chapters(t) {
		b := c.Break
		if b.Held == "" {
			continue
		}
		played++
		rules := rulesOf(t, b.Held, b.Question, true)
		if said := known[b.Held].Guarantees[catalog.Question(b.Question)]; rules != "" || said != catalog.Holds {
			t.Errorf("%s: %s, %s: the story breaks %q, and the strategy says that it %s", c.Name, b.Held, b.Question, rules, said)
		}
	}
	if played == 0 {
		t.Error("no chapter plays a strategy that withstands")
	}
}

// The texts in both languages have the same sections, commands, strategies and figures.
func TestTheLanguagesAgree(t *testing.T) {
	for _, c := range chapters(t) {
		for _, language := range course.Languages {
			want := slices.Clone(sections[language])
			if strings.Contains(c.Text["en"], "\n## "+primer["en"]+"\n") {
				want = slices.Insert(want, 1, primer[language])
			}
			if c.Name == "12-which" {
				want = slices.Insert(want, len(want)-3, choice[language])
			}
			labtest.Same(t, headings(c.Text[language]), want, "%s in %s has the sections", c.Name, language)
			if c.Title[language] == "" || !strings.HasPrefix(c.Text[language], "# "+c.Title[language]+"\n") {
				t.Errorf("%s in %s has the title %q", c.Name, language, c.Title[language])
			}
		}
		labtest.Same(t, marks(c.Text["zh"]), marks(c.Text["en"]), "%s: Chinese has, and English", c.Name)
	}
}

func headings(text string) (found []string) {
	body := map[string]int{}
	for _, line := range strings.Split(text, "\n") {
		if h, ok := strings.CutPrefix(line, "## "); ok {
			found = append(found, h)
		} else if len(found) > 0 {
			body[found[len(found)-1]] += len(line)
		}
	}
	return slices.DeleteFunc(found, func(h string) bool { return body[h] == 0 })
}

var strategyName = regexp.MustCompile("`([a-z]+(?:-[a-z0-9]+)*)`")

// marks returns the names of strategies and figures in a text.
func marks(text string) (found []string) {
	known := infos()
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "> figures: ") || strings.HasPrefix(line, "> drawn: ") || strings.HasPrefix(line, "> picture: ") {
			found = append(found, line)
		}
	}
	for _, m := range strategyName.FindAllStringSubmatch(text, -1) {
		if _, ok := known[m[1]]; ok {
			found = append(found, m[1])
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

var drawn = regexp.MustCompile(`^> drawn: ([a-z0-9-]+) ([a-z-]+) (holds|breaks ([a-z_, ]+))$`)

// Every chapter draws a counterexample of the matrix. A section about its strategy precedes it, and
// the counterexample breaks the rules that the text names.
func TestEveryChapterDrawsWhatBreaks(t *testing.T) {
	for _, c := range chapters(t) {
		for _, language := range course.Languages {
			broken := 0
			for _, section := range strings.Split(c.Text[language], "\n## ") {
				for _, line := range strings.Split(section, "\n") {
					if !strings.HasPrefix(line, "> drawn: ") {
						continue
					}
					m := drawn.FindStringSubmatch(line)
					if m == nil {
						t.Errorf("%s in %s: %q: give a strategy, a question, and holds or breaks with its rules", c.Name, language, line)
						continue
					}
					if !strings.Contains(section, "`"+m[1]+"`") {
						t.Errorf("%s in %s draws %s, and its text does not name it there", c.Name, language, m[1])
					}
					if got := rulesOf(t, m[1], m[2], m[3] == "holds"); got != m[4] {
						t.Errorf("%s in %s: %q, and the counterexample breaks %q", c.Name, language, line, got)
					} else if got != "" {
						broken++
					}
				}
			}
			if broken == 0 {
				t.Errorf("%s in %s draws no counterexample", c.Name, language)
			}
		}
	}
}

// rulesOf returns the rules that a counterexample breaks, separated by commas.
func rulesOf(t *testing.T, strategy, question string, held bool) string {
	t.Helper()
	files, name := web.Guarantees(), strategy+"."+question+".json"
	if held {
		files, name = web.Files(), "lessons/held."+name
	}
	f, err := files.Open(name)
	if err != nil {
		t.Errorf("nothing to draw: %v", err)
		return "nothing"
	}
	defer f.Close()
	e, err := game.ReadExample(f)
	if err != nil || e.Strategy != strategy || e.Question != question {
		t.Errorf("%s is of %s, %s: %v", name, e.Strategy, e.Question, err)
	}
	rules := labtest.Map(e.Problems, func(p explore.Problem) string { return p.Rule })
	slices.Sort(rules)
	return strings.Join(slices.Compact(rules), ", ")
}

// A strategy that is marked as broken oversells or loses units in its counterexamples, unless it declares that it only
// refuses units that are left.
func TestWhatRefusesNeverOversells(t *testing.T) {
	refusing := map[string]bool{judge.RuleUndersold: true, judge.RuleNothingSold: true}
	for _, info := range strategies.All() {
		for _, q := range []catalog.Question{catalog.Oversell, catalog.LostUpdate, catalog.Processes} {
			if info.Guarantees[q] != catalog.Breaks {
				continue
			}
			only := true
			for _, rule := range strings.Split(rulesOf(t, info.Name, string(q), false), ", ") {
				only = only && refusing[rule]
			}
			labtest.Same(t, only, info.Refuses, "%s, %s: only refuses", info.Name, q)
		}
	}
}
