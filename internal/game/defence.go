package game

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"sync"

	"seckill/internal/catalog"
	"seckill/internal/yamlfile"
)

// One file is one exercise of Defend: defences/NUMBER-NAME.yaml. docs/game.md says
// how to write one.
//
//go:embed defences/*.yaml
var defenceFiles embed.FS

// A Defence is code with a hole, and repairs of which the player chooses one. The
// explorer attacks what they have chosen.
type Defence struct {
	Name    string `json:"name"`
	Number  int    `json:"number"` // its place, from 1
	Chapter int    `json:"chapter"`
	// Setting is what the attack begins with; its strategy is the code with the
	// hole.
	Setting Setting `json:"setting"`
	// Breaks are the rules that must not be broken.
	Breaks []string `json:"breaks"`
	// Code is the code with the hole, line by line.
	Code    []string `json:"code"`
	Choices []Choice `json:"choices"`
	// Available: it can be attacked here; else Missing says what that needs.
	Available bool     `json:"available"`
	Missing   []string `json:"missing,omitempty"`
	// Text by language: "en" and "zh".
	Text map[string]DefenceText `json:"text"`
}

// A Choice is one repair. Whether it holds is told by the attack.
type Choice struct {
	Name string `json:"name"`
	// Lines are its code beside that of the hole.
	Lines []Line `json:"lines"`
	// Label by language.
	Label map[string]string `json:"label"`
}

// A DefenceText is what the page says of an exercise.
type DefenceText struct {
	Title string `json:"title" yaml:"title"`
	// Goal says what goes wrong, and what to choose.
	Goal string `json:"goal" yaml:"goal"`
	Hint string `json:"hint" yaml:"hint"`
}

// The Hole is the name by which the code as it is can be attacked, too.
const Hole = "hole"

// A Post is an exercise with its answers.
type Post struct {
	Defence
	// Preemptions bounds the attack: all schedules with at most so many turns that
	// are taken away are run; -1: all schedules.
	Preemptions int
	variants    map[string]repair // by choice; of the hole, too
}

// A repair is one choice's variant.
type repair struct {
	variant string
	show    []string
	holds   bool
	why     map[string]string
}

type defenceFile struct {
	Chapter     int         `yaml:"chapter"`
	Played      settingFile `yaml:",inline"`
	Show        []string    `yaml:"show"`
	Breaks      []string    `yaml:"breaks"`
	Preemptions *int        `yaml:"preemptions"`
	Why         struct {
		En string `yaml:"en"`
		Zh string `yaml:"zh"`
	} `yaml:"why"`
	Choices []struct {
		Name    string     `yaml:"name"`
		Variant string     `yaml:"variant"`
		Show    []string   `yaml:"show"`
		Holds   bool       `yaml:"holds"`
		En      choiceText `yaml:"en"`
		Zh      choiceText `yaml:"zh"`
	} `yaml:"choices"`
	En DefenceText `yaml:"en"`
	Zh DefenceText `yaml:"zh"`
}

type choiceText struct {
	Label string `yaml:"label"`
	Why   string `yaml:"why"`
}

// ReadDefence reads an exercise's file. The error says what is wrong, and where.
func ReadDefence(name string, text []byte) (p Post, err error) {
	m := levelName.FindStringSubmatch(path.Base(name))
	if m == nil {
		return p, fmt.Errorf("%s: an exercise's file is called NUMBER-NAME.yaml, in small letters", name)
	}
	var f defenceFile
	if err := yamlfile.Decode(text, &f); err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	p = Post{Preemptions: 2, variants: map[string]repair{Hole: {f.Played.Strategy, f.Show, false, map[string]string{"en": f.Why.En, "zh": f.Why.Zh}}}}
	if f.Preemptions != nil {
		p.Preemptions = *f.Preemptions
	}
	number, _ := strconv.Atoi(m[1])
	p.Defence = Defence{Name: m[2], Number: number, Chapter: f.Chapter, Setting: f.Played.setting(), Breaks: f.Breaks,
		Text: map[string]DefenceText{"en": f.En, "zh": f.Zh}}
	for _, c := range f.Choices {
		if _, twice := p.variants[c.Name]; twice || c.Name == "" {
			return p, fmt.Errorf("%s: the choices need names, each another, and none is %q: %q", name, Hole, c.Name)
		}
		p.Choices = append(p.Choices, Choice{Name: c.Name, Label: map[string]string{"en": c.En.Label, "zh": c.Zh.Label}})
		p.variants[c.Name] = repair{c.Variant, c.Show, c.Holds, map[string]string{"en": c.En.Why, "zh": c.Zh.Why}}
	}
	if err := p.check(); err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// IsDefence reports whether a file is an exercise's, and not a level's.
func IsDefence(text []byte) bool {
	var f struct {
		Choices []any `yaml:"choices"`
	}
	return yamlfile.Peek(text, &f) == nil && f.Choices != nil
}

// check says what is wrong with an exercise, without attacking it.
func (p Post) check() error {
	if err := p.Setting.check(); err != nil {
		return err
	}
	if len(p.Breaks) == 0 {
		return fmt.Errorf("breaks: name the rules that must not be broken, such as oversold or blocked")
	}
	if p.Preemptions < -1 || p.Preemptions > 4 {
		return fmt.Errorf("preemptions: %d: give -1 (all schedules) to 4", p.Preemptions)
	}
	if len(p.Choices) < 2 || len(p.Choices) > 4 {
		return fmt.Errorf("choices: there are %d: give two to four", len(p.Choices))
	}
	for _, language := range []string{"en", "zh"} {
		text := p.Text[language]
		missing := map[string]string{"title": text.Title, "goal": text.Goal, "hint": text.Hint}
		for _, c := range p.Choices {
			missing["label of "+c.Name] = c.Label[language]
		}
		for name, r := range p.variants {
			missing["why of "+name] = r.why[language]
		}
		for field, s := range missing {
			if s == "" {
				return fmt.Errorf("%s: the %s is missing", language, field)
			}
		}
	}
	if !slices.ContainsFunc(p.Choices, func(c Choice) bool { return p.variants[c.Name].holds }) {
		return fmt.Errorf("choices: none holds")
	}
	return nil
}

// Defences are all exercises, in their order.
var Defences = sync.OnceValue(func() (list []*Post) {
	files, _ := fs.Glob(defenceFiles, "defences/*.yaml")
	for _, name := range files {
		text, err := defenceFiles.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		p, err := ReadDefence(name, text)
		if err != nil {
			panic(err) // a test reads them all
		}
		list = append(list, &p)
	}
	slices.SortFunc(list, func(a, b *Post) int { return a.Number - b.Number })
	return list
})

// DefenceNamed is one exercise; nil if there is none of this name.
func DefenceNamed(name string) *Post {
	for _, p := range Defences() {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Variant is the variant that a choice names, "" if there is no such choice.
func (p *Post) Variant(choice string) string { return p.variants[choice].variant }

// Holds reports whether the file says that a choice holds.
func (p *Post) Holds(choice string) bool { return p.variants[choice].holds }

// Names are those of the hole and the choices.
func (p *Post) Names() []string {
	names := []string{Hole}
	for _, c := range p.Choices {
		names = append(names, c.Name)
	}
	return names
}

// On is the setting with the variant of a choice.
func (p *Post) On(choice string) Setting {
	s := p.Setting
	s.Strategy = p.variants[choice].variant
	return s
}

// WithCode is the exercise with the source of its variants.
func (p *Post) WithCode(all []catalog.Info) (d Defence, err error) {
	d = p.Defence
	if d.Code, err = p.code(all, Hole); err != nil {
		return d, err
	}
	d.Choices = slices.Clone(d.Choices)
	for i, c := range d.Choices {
		code, err := p.code(all, c.Name)
		if err != nil {
			return d, err
		}
		d.Choices[i].Lines = compared(d.Code, code)
	}
	return d, nil
}

func (p *Post) code(all []catalog.Info, choice string) ([]string, error) {
	r := p.variants[choice]
	i := slices.IndexFunc(all, func(i catalog.Info) bool { return i.Name == r.variant })
	if i < 0 {
		return nil, fmt.Errorf("choice %s: there is no variant and no strategy %q", choice, r.variant)
	}
	lines, err := shown(all[i].Files, r.show)
	if err != nil {
		return nil, fmt.Errorf("choice %s: %w", choice, err)
	}
	return lines, nil
}
