package game

import (
	"testing"

	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
)

// A game whose moves could not be made again shows what it showed before, and goes on
// from there.
func TestAFailedUndoChangesNothing(t *testing.T) {
	level := LevelNamed("first-lost-update")
	g, err := Open(t.Context(), labtest.Start(t, infoOf(level).Uses()...).Config(), infoOf(level), level.Setting, level, "abb")
	labtest.Must(t, err)
	defer func() { labtest.Must(t, g.Close(t.Context())) }()
	if err := g.replay(t.Context(), []explore.Choice{{Who: "A"}, {Who: "C"}}); err == nil {
		t.Fatal("a move of a buyer who is not there was made")
	}
	if s := g.State(); s.Schedule != "abb" || len(s.Steps) != 3 {
		t.Errorf("after the failure it has the schedule %q and %d steps", s.Schedule, len(s.Steps))
	}
	if s, err := g.Move(t.Context(), "b"); err != nil || s.Schedule != "abbb" || len(s.Steps) != 4 {
		t.Errorf("the next move: %v, the schedule %q and %d steps", err, s.Schedule, len(s.Steps))
	}
}
