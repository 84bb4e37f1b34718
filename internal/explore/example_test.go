package explore_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/strategies/sqlrow"
)

// A counterexample consists of choices for one strategy. Replaying it with another strategy fails,
// and the error names the step.
func TestReplayDiverges(t *testing.T) {
	naive := open(t, sqlrow.Naive)
	broken := search(t, naive, two(explore.Buys), explore.Limits{}).StoppedAt
	o := labtest.Value(naive.Shorten(t.Context(), broken, explore.LedgerRule)).Must(t)
	// C does not exist, and A has finished, so neither can take a turn.
	for _, who := range []string{"C", "A"} {
		longer := append(slices.Clone(o.Choices()), turns(who)...)
		labtest.Value(naive.Replay(t.Context(), o.Scenario, longer)).Check(t, explore.ErrDiverged, "a step of %s", who)
	}
	w := open(t, sqlrow.Conditional)
	_, err := w.Replay(t.Context(), o.Scenario, o.Choices())
	if !errors.Is(err, explore.ErrDiverged) || !strings.Contains(err.Error(), "step ") {
		t.Errorf("another strategy replays the counterexample: got %v, want ErrDiverged and the step", err)
	}
	_, err = w.Replay(t.Context(), two(explore.Locks), nil)
	if !errors.Is(err, explore.ErrDiverged) || !strings.Contains(err.Error(), "has nothing for a buyer who locks") {
		t.Errorf("a buyer locks, though conditional has no lock: got %v, want ErrDiverged", err)
	}
}
