package game_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
	"seckill/web/course"
)

// atOnce games are played side by side where one waits for its servers.
const atOnce = 6

// Every level's best known solution breaks what it should, and counts as many moves
// and switches as its file says.
func TestSolutionsOfTheLevels(t *testing.T) {
	var needs []backend.Capability
	for _, level := range game.Levels() {
		needs = append(needs, strategies.Named(level.Setting.Strategy).Uses()...)
	}
	servers := labtest.Start(t, needs...).Config()
	solved := 0
	var all errgroup.Group
	all.SetLimit(atOnce)
	for _, level := range game.Levels() {
		if level.Schedule == "" {
			if level.Impossible == 0 {
				t.Errorf("%s has no solution, and is not said to be impossible", level.Name)
			}
			continue
		}
		solved++
		all.Go(func() error {
			g, err := game.Open(t.Context(), servers, strategies.Named(level.Setting.Strategy), level.Setting, level, level.Schedule)
			if err != nil {
				t.Errorf("%s: %v", level.Name, err)
				return nil
			}
			if s := g.State(); s.Grade == nil || !s.Grade.Won || s.MovesMade != level.Moves || s.Preemptions != level.Switches {
				t.Errorf("%s: its solution, of %d moves and %d switches, ends with\n%s", level.Name, level.Moves, level.Switches, show(s))
			}
			if err := g.Close(t.Context()); err != nil {
				t.Errorf("%s: %v", level.Name, err)
			}
			return nil
		})
	}
	_ = all.Wait()
	if solved < 12 {
		t.Errorf("only %d levels have a solution", solved)
	}
}

// Levels are numbered without a gap, in the order of the chapters; a level's strategy
// has been shown by then, and its texts are in their languages.
func TestLevelsAreWhole(t *testing.T) {
	levels := game.Levels()
	if len(levels) < 12 {
		t.Fatalf("there are %d levels", len(levels))
	}
	chapters, err := course.Chapters()
	labtest.Must(t, err)
	seen := map[string]bool{}
	last := 1
	for i, level := range levels {
		if level.Number != i+1 {
			t.Errorf("%s has number %d, and is the %d.", level.Name, level.Number, i+1)
		}
		if seen[level.Name] {
			t.Errorf("there are two levels %q", level.Name)
		}
		seen[level.Name] = true
		if level.Chapter < last || level.Chapter > len(chapters) {
			t.Fatalf("%s is of chapter %d, after one of chapter %d of %d", level.Name, level.Chapter, last, len(chapters))
		}
		last = level.Chapter
		if !slices.ContainsFunc(chapters[:last], func(c course.Chapter) bool {
			return slices.Contains(c.Strategies, level.Setting.Strategy)
		}) {
			t.Errorf("%s plays %s, which no chapter up to %d shows", level.Name, level.Setting.Strategy, last)
		}
		if err := level.Setting.Check(); err != nil || len(level.Breaks) == 0 || level.Impossible > 0 && level.Schedule != "" {
			t.Errorf("%s: %v, or it breaks nothing, or it is impossible and has a solution: %+v", level.Name, err, level)
		}
		for _, language := range catalog.Languages {
			if text := level.Text[language]; text.Title == "" || text.Goal == "" || text.Hint == "" || text.Solved == "" {
				t.Errorf("%s: a text in %q is missing: %+v", level.Name, language, text)
			}
		}
		if strings.ContainsFunc(level.Text["en"].Goal, func(r rune) bool { return r > 0x2e80 }) ||
			!strings.ContainsFunc(level.Text["zh"].Goal, func(r rune) bool { return r > 0x2e80 }) {
			t.Errorf("%s: its texts are in the wrong languages", level.Name)
		}
	}
}
