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

// A counterexample is made of choices for one strategy. When another answers, it says at
// which step.
func TestReplayDiverges(t *testing.T) {
	naive := open(t, sqlrow.Naive)
	o, err := naive.Shorten(t.Context(), search(t, naive, two(explore.Buys), explore.Limits{}).First, explore.LedgerRule)
	labtest.Must(t, err)
	// The turn of a buyer that does not exist or has finished.
	for _, who := range []string{"C", "A"} {
		longer := append(slices.Clone(o.Choices()), turns(who)...)
		if _, err := naive.Again(t.Context(), o.Scenario, longer); !errors.Is(err, explore.ErrDiverged) {
			t.Errorf("one more step of %s: %v, want that it does not fit", who, err)
		}
	}
	w := open(t, sqlrow.Conditional)
	if _, err := w.Again(t.Context(), o.Scenario, o.Choices()); !errors.Is(err, explore.ErrDiverged) || !strings.Contains(err.Error(), "step ") {
		t.Errorf("got %v, want that it does not fit, and from which step on", err)
	}
	if _, err := w.Again(t.Context(), two(explore.Locks), nil); !errors.Is(err, explore.ErrDiverged) || !strings.Contains(err.Error(), "has nothing for a buyer who locks") {
		t.Errorf("conditional is to be locked: %v", err)
	}
}
