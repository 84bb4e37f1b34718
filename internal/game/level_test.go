package game_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/web/course"
)

// atOnce games are played side by side where one waits for its servers.
const atOnce = 6

// Every level's best known solution breaks what it should, and counts as many moves
// and switches as its file says.
func TestSolutionsOfTheLevels(t *testing.T) {
	var needs []backend.Capability
	for _, level := range game.Levels() {
		needs = append(needs, named(t, level.Setting.Strategy).Uses()...)
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
			g, err := game.Open(t.Context(), servers, named(t, level.Setting.Strategy), level.Setting, level, level.Schedule)
			if err != nil {
				t.Errorf("%s: %v", level.Name, err)
				return nil
			}
			if s := g.State(); s.Grade == nil || s.Grade.Golf != "even" {
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
		named(t, level.Setting.Strategy)
		if level.Chapter < last || level.Chapter > len(chapters) {
			t.Fatalf("%s is of chapter %d, after one of chapter %d of %d", level.Name, level.Chapter, last, len(chapters))
		}
		last = level.Chapter
		if !slices.ContainsFunc(chapters[:last], func(c course.Chapter) bool {
			return slices.Contains(c.Strategies, level.Setting.Strategy)
		}) {
			t.Errorf("%s plays %s, which no chapter up to %d shows", level.Name, level.Setting.Strategy, last)
		}
		if strings.ContainsFunc(level.Text["en"].Goal, func(r rune) bool { return r > 0x2e80 }) ||
			!strings.ContainsFunc(level.Text["zh"].Goal, func(r rune) bool { return r > 0x2e80 }) {
			t.Errorf("%s: its texts are in the wrong languages", level.Name)
		}
	}
}

func TestWrongLevelFiles(t *testing.T) {
	good, err := os.ReadFile("levels/01-first-lost-update.yaml")
	labtest.Must(t, err)
	for _, c := range []struct{ name, from, to, says string }{
		{"one.yaml", "", "", "NUMBER-NAME.yaml"},
		{"01-x.yaml", "stock: 2", "stock: 0", "The stock is 0"},
		{"01-x.yaml", "stock: 2", "stocks: 2", "unknown field"},
		{"01-x.yaml", "breaks: [oversold, lost_update]", "breaks: []", "breaks: name the rules"},
		{"01-x.yaml", "solution: abbbbbaaaa", "solution: xyz", "letter 1"},
		{"01-x.yaml", "switches: 1", "impossible: 1", "has no solution"},
		{"01-x.yaml", "  hint:", "  hnt:", "unknown field"},
		{"01-x.yaml", "chapter: 1", "number: 1", "unknown field"},
		{"01-x.yaml", "  en:", "  fr: {title: x}\n  en:", "languages"},
		{"01-x.yaml", "breaks:", "faults: [rain]\nbreaks:", "no fault"},
	} {
		_, err := game.ReadLevel(c.name, []byte(strings.Replace(string(good), c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s with %q: %v", c.name, c.to, err)
		}
	}
}
