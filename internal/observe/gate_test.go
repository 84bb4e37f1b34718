package observe_test

import (
	"context"
	"testing"

	"seckill/internal/lock"
	"seckill/internal/observe"
)

// Two have the lock at once only if the first has not been told otherwise.
func TestTwoHoldersAreSeen(t *testing.T) {
	for name, c := range map[string]struct {
		between func(first *observe.Gate, end func())
		want    int
	}{
		"the first has it":       {func(*observe.Gate, func()) {}, 1},
		"the first was told":     {func(_ *observe.Gate, end func()) { end() }, 0},
		"the first has freed it": {func(first *observe.Gate, _ func()) { first.Frees() }, 0},
		"the first has it again": {func(first *observe.Gate, _ func()) {
			first.Frees()
			first.Holds(lease(t.Context()), false)
		}, 1},
	} {
		r := observe.NewRecorder(observe.NewNames(), 0)
		a, b := observe.NewGate(r, "A", nil), observe.NewGate(r, "B", nil)
		ctx, end := context.WithCancel(t.Context())
		a.Holds(lease(ctx), false)
		c.between(a, end)
		b.Holds(lease(t.Context()), false)
		held := r.Held()
		if got := len(held[len(held)-1].Beside); got != c.want {
			t.Errorf("%s: B has it beside %d, want %d", name, got, c.want)
		}
		end()
	}
}

func lease(ctx context.Context) lock.Lease {
	return lock.NewHold(ctx, 0, func(context.Context) error { return nil })
}
