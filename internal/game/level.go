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

// Each file levels/NUMBER-NAME.yaml is one level. docs/teaching.md explains how to write a level.
//
//go:embed levels/*.yaml
var levelFiles embed.FS

var levelName = regexp.MustCompile(`^(\d+)-([a-z0-9-]+)\.yaml$`)

func readLevel(name string, text []byte) (*Level, error) {
	m := levelName.FindStringSubmatch(path.Base(name))
	if m == nil {
		return nil, fmt.Errorf("%s: a level's file is called NUMBER-NAME.yaml, in lower case", name)
	}
	var file struct {
		Level     `yaml:",inline"`
		Processes int `yaml:"processes"` // 1 or 0; see FreePlay
	}
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.DisallowUnknownField()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l := &file.Level
	l.Name = m[2]
	l.Number, _ = strconv.Atoi(m[1])
	l.Setting.fillDefaults(file.Processes)
	if l.Setting.Faults == nil {
		l.Setting.Faults = []explore.Fault{}
	} else {
		l.Setting.MaxFaults = cmp.Or(l.Setting.MaxFaults, 1)
	}
	if err := checkScenario(&l.Setting.Scenario); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	moves, err := ReadSchedule(l.Schedule)
	l.Moves = len(moves)
	return l, err
}

// Levels returns all levels, ordered by number.
var Levels = sync.OnceValue(func() []*Level {
	var list []*Level
	files, _ := fs.Glob(levelFiles, "levels/*.yaml")
	for _, name := range files {
		text, err := levelFiles.ReadFile(name)
		if err != nil {
			panic(err) // cannot happen, because the file is embedded
		}
		l, err := readLevel(name, text)
		if err != nil {
			panic(err) // cannot happen, because a test reads every level
		}
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b *Level) int { return a.Number - b.Number })
	return list
})

// LevelNamed returns the level with this name; nil if there is none.
func LevelNamed(name string) *Level {
	for _, l := range Levels() {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// gradeState grades a game of the level. It returns nil while the game is not over, unless the player has called the
// level impossible. A player who was wrong with this can still win the level.
func (l *Level) gradeState(s State, saidImpossible bool) *Grade {
	won := s.Over && slices.ContainsFunc(s.Verdict.Problems, func(p explore.Problem) bool {
		return slices.Contains(l.Breaks, p.Rule)
	})
	switch {
	case won:
		return &Grade{Won: true, BestMoves: l.Moves}
	case saidImpossible:
		return &Grade{Won: l.Impossible > 0, SaidImpossible: true, Searched: l.Impossible}
	case s.Over:
		return &Grade{}
	}
	return nil
}
