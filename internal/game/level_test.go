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

// The solution of every level wins the level, with as many moves and switches as the file of the level says.
func TestSolutionsOfTheLevels(t *testing.T) {
	var needs []backend.Capability
	for _, level := range game.Levels() {
		needs = append(needs, strategies.Named(level.Setting.Strategy).Uses()...)
	}
	servers := labtest.Start(t, needs...).Config()
	solved := 0
	var all errgroup.Group
	all.SetLimit(6) // one game alone would mostly wait for its servers
	for _, level := range game.Levels() {
		if level.Schedule == "" {
			if level.Impossible == 0 {
				t.Errorf("%s has no solution, and is not marked as impossible", level.Name)
			}
			continue
		}
		solved++
		all.Go(func() error {
			info := strategies.Named(level.Setting.Strategy)
			g, err := game.Open(t.Context(), servers, info, level.Setting, level, level.Schedule)
			if err != nil {
				t.Errorf("%s: %v", level.Name, err)
				return nil
			}
			s := g.State()
			if s.Grade == nil || !s.Grade.Won || s.MovesMade != level.Moves || s.Preemptions != level.Switches {
				t.Errorf("%s: its solution should win with %d moves and %d switches; it ends with\n%s",
					level.Name, level.Moves, level.Switches, formatState(s))
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

// Levels are numbered without a gap, in the order of the chapters. The chapter of a level or an earlier one has
// shown its strategy. Every level has texts in both languages.
func TestLevelsAreComplete(t *testing.T) {
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
			t.Errorf("%s has number %d, want %d", level.Name, level.Number, i+1)
		}
		if seen[level.Name] {
			t.Errorf("two levels are called %q", level.Name)
		}
		seen[level.Name] = true
		if level.Chapter < last || level.Chapter > len(chapters) {
			t.Fatalf("%s belongs to chapter %d, but the level before it to chapter %d of %d", level.Name, level.Chapter, last, len(chapters))
		}
		last = level.Chapter
		if !slices.ContainsFunc(chapters[:last], func(c course.Chapter) bool {
			return slices.Contains(c.Strategies, level.Setting.Strategy)
		}) {
			t.Errorf("%s uses %s, which no chapter up to %d shows", level.Name, level.Setting.Strategy, last)
		}
		if err := level.Setting.Check(); err != nil {
			t.Errorf("%s: %v", level.Name, err)
		}
		if len(level.Breaks) == 0 || level.Impossible > 0 && level.Schedule != "" {
			t.Errorf("%s names no rule to break, or is impossible and has a solution: %+v", level.Name, level)
		}
		for _, language := range catalog.Languages {
			if text := level.Text[language]; text.Title == "" || text.Goal == "" || text.Hint == "" || text.Solved == "" {
				t.Errorf("%s: a text in %q is missing: %+v", level.Name, language, text)
			}
		}
		if strings.ContainsFunc(level.Text["en"].Goal, func(r rune) bool { return r > 0x2e80 }) ||
			!strings.ContainsFunc(level.Text["zh"].Goal, func(r rune) bool { return r > 0x2e80 }) {
			t.Errorf("%s: its English goal contains Chinese, or its Chinese goal does not", level.Name)
		}
	}
}
