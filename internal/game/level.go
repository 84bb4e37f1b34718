package game

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/goccy/go-yaml"

	"seckill/internal/explore"
)

// One file is one level: levels/NUMBER-NAME.yaml. docs/teaching.md says how to write
// one.
//
//go:embed levels/*.yaml
var levelFiles embed.FS

var levelName = regexp.MustCompile(`^(\d+)-([a-z0-9-]+)\.yaml$`)

// readLevel reads a level's file.
func readLevel(name string, text []byte) (*Level, error) {
	m := levelName.FindStringSubmatch(path.Base(name))
	if m == nil {
		return nil, fmt.Errorf("%s: a level's file is called NUMBER-NAME.yaml, in small letters", name)
	}
	var file struct {
		Level     `yaml:",inline"`
		Processes int `yaml:"processes"` // as for Free
	}
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.DisallowUnknownField()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t := &file.Level
	t.Name = m[2]
	t.Number, _ = strconv.Atoi(m[1])
	t.Setting.fillDefaults(file.Processes)
	if t.Setting.Faults == nil {
		t.Setting.Faults = []explore.Fault{}
	} else {
		t.Setting.MaxFaults = cmp.Or(t.Setting.MaxFaults, 1)
	}
	moves, err := Read(t.Schedule)
	t.Moves = len(moves)
	return t, err
}

// Levels are all levels, in their order.
var Levels = sync.OnceValue(func() (list []*Level) {
	files, _ := fs.Glob(levelFiles, "levels/*.yaml")
	for _, name := range files {
		text, err := levelFiles.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		t, err := readLevel(name, text)
		if err != nil {
			panic(err) // embedded, and checked by a test
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *Level) int { return a.Number - b.Number })
	return list
})

// LevelNamed is one level; nil if there is none of this name.
func LevelNamed(name string) *Level {
	for _, t := range Levels() {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// gradeState says how a game of the level went; nil while it is open.
func (t *Level) gradeState(s State, said bool) *Grade {
	won := s.Over && t.isWon(s)
	if said && !won { // who said so wrongly may still solve it
		return &Grade{Won: t.Impossible > 0, SaidImpossible: true, Searched: t.Impossible}
	}
	if !s.Over {
		return nil
	}
	if !won {
		return &Grade{}
	}
	return &Grade{Won: true, BestMoves: t.Moves}
}

// isWon: a rule that the level names is broken.
func (t *Level) isWon(s State) bool {
	return s.Verdict != nil && slices.ContainsFunc(s.Verdict.Problems, func(p explore.Problem) bool { return slices.Contains(t.Breaks, p.Rule) })
}
