package game

import (
	"slices"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

// If replaying the moves fails, the game keeps its state, and the next move continues from there.
func TestFailedUndoChangesNothing(t *testing.T) {
	level := LevelNamed("first-lost-update")
	info := strategies.Named(level.Setting.Strategy)
	g, err := Open(t.Context(), labtest.Start(t, info.Uses()...).Config(), info, level.Setting, level, "abb")
	labtest.Must(t, err)
	defer func() { labtest.Must(t, g.Close(t.Context())) }()
	err = g.replayMoves(t.Context(), []explore.Choice{{Who: "A"}, {Who: "C"}})
	labtest.Fails(t, err, "", "a move of buyer C in a sale to A and B")
	if s := g.State(); s.Schedule != "abb" || len(s.Steps) != 3 {
		t.Errorf("after the failure it has the schedule %q and %d steps", s.Schedule, len(s.Steps))
	}
	if s, err := g.Move(t.Context(), "b"); err != nil || s.Schedule != "abbb" || len(s.Steps) != 4 {
		t.Errorf("the next move: %v, the schedule %q and %d steps", err, s.Schedule, len(s.Steps))
	}
}

// For every level that is marked as impossible, the explorer runs all schedules. No schedule breaks
// a rule of the level, and the number of schedules is the one in the level's file. Without the
// build tag verify, the test takes one level.
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
			d := labtest.Value(openDatabase(t.Context(), servers, strategies.Named(level.Setting.Strategy))).Must(t)
			defer d.close(t.Context())
			res := labtest.Value(d.world.Search(t.Context(), &level.Setting.Scenario, explore.Limits{Reduce: true,
				Stop: func(s *explore.Schedule) bool {
					return s.Breaks(func(rule string) bool { return slices.Contains(level.Breaks, rule) })
				}})).Must(t)
			if res.StoppedAt != nil || !res.Exhausted || res.Schedules != level.Impossible {
				t.Errorf("%d schedules were run, one broke a rule: %t, and %d turns were not taken; want %d schedules, none of which breaks a rule",
					res.Schedules, res.StoppedAt != nil, res.NotRun, level.Impossible)
			}
		})
	}
}
