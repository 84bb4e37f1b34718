package game

import (
	"slices"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

// A game whose moves could not be made again shows what it showed before, and goes on
// from there.
func TestAFailedUndoChangesNothing(t *testing.T) {
	level := LevelNamed("first-lost-update")
	g, err := Open(t.Context(), labtest.Start(t, strategies.Named(level.Setting.Strategy).Uses()...).Config(), strategies.Named(level.Setting.Strategy), level.Setting, level, "abb")
	labtest.Must(t, err)
	defer func() { labtest.Must(t, g.Close(t.Context())) }()
	if err := g.replayMoves(t.Context(), []explore.Choice{{Who: "A"}, {Who: "C"}}); err == nil {
		t.Fatal("a move of a buyer who is not there was made")
	}
	if s := g.State(); s.Schedule != "abb" || len(s.Steps) != 3 {
		t.Errorf("after the failure it has the schedule %q and %d steps", s.Schedule, len(s.Steps))
	}
	if s, err := g.Move(t.Context(), "b"); err != nil || s.Schedule != "abbb" || len(s.Steps) != 4 {
		t.Errorf("the next move: %v, the schedule %q and %d steps", err, s.Schedule, len(s.Steps))
	}
}

// Every level that is said to be impossible is: the explorer runs all its
// schedules, as many as its file says, and none breaks it. make test asks one.
func TestImpossibleLevels(t *testing.T) {
	var needs []backend.Capability
	var levels []*Level
	for _, level := range Levels() {
		if level.Impossible > 0 && (labtest.Verify || level.Name == "one-statement") {
			levels = append(levels, level)
			needs = append(needs, strategies.Named(level.Setting.Strategy).Uses()...)
		}
	}
	if labtest.Verify && len(levels) < 3 {
		t.Errorf("only %d levels are impossible", len(levels))
	}
	servers := labtest.Start(t, needs...).Config()
	for _, level := range levels {
		t.Run(level.Name, func(t *testing.T) {
			t.Parallel()
			p, err := openPlace(t.Context(), servers, strategies.Named(level.Setting.Strategy))
			labtest.Must(t, err)
			defer p.closeAll(t.Context())
			res, err := p.world.Search(t.Context(), &level.Setting.Scenario, explore.Limits{Reduce: true,
				Broken: func(s *explore.Schedule) bool {
					return s.Breaks(func(rule string) bool { return slices.Contains(level.Breaks, rule) })
				}})
			labtest.Must(t, err)
			if res.First != nil || !res.Exhausted() || res.Schedules != level.Impossible {
				t.Errorf("%d schedules were run, one broke it: %t, and %d turns were not taken: the file says that all %d hold",
					res.Schedules, res.First != nil, res.Cut, level.Impossible)
			}
		})
	}
}
