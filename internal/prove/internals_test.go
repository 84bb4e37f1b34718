package prove

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/explore"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A cell reports the smallest number of preemptions that one of its searches has completed.
func TestBoundOfSeveralSearches(t *testing.T) {
	all := explore.Bounds{Schedules: 1, Exhausted: true}
	upTo := func(n int) explore.Bounds { return explore.Bounds{Schedules: 1, NotRun: 1, Preemptions: &n} }
	toNone := explore.Bounds{Schedules: 1, NotRun: 1}
	for _, c := range []struct {
		name      string
		searches  []explore.Bounds
		exhausted bool
		bound     *int
	}{
		{"all of all", []explore.Bounds{all, all}, true, nil},
		{"one is cut", []explore.Bounds{all, upTo(2), all}, false, new(2)},
		{"the lower counts", []explore.Bounds{upTo(3), upTo(1), upTo(2)}, false, new(1)},
		{"none is no bound, before", []explore.Bounds{toNone, upTo(2)}, false, nil},
		{"none is no bound, behind", []explore.Bounds{upTo(2), toNone, all}, false, nil},
		{"without a preemption", []explore.Bounds{upTo(0)}, false, new(0)},
	} {
		cell := explore.Bounds{Exhausted: true}
		for _, r := range c.searches {
			cell.Add(r)
		}
		if cell.Exhausted != c.exhausted || !reflect.DeepEqual(cell.Preemptions, c.bound) {
			t.Errorf("%s: %+v", c.name, cell)
		}
	}
}

// A quorum's purchase does not wait for its only command.
type quorum struct{ seckill.Strategy }

func (quorum) Deduct(ctx context.Context, _ seckill.Purchase) (seckill.Receipt, error) {
	time.AfterFunc(time.Second, func() { _, _ = tap.Wait(ctx, "a vote", make(chan bool)) })
	return seckill.Receipt{}, nil
}

func TestGateWaitsForALateCommand(t *testing.T) {
	for at, want := range []error{nil, errNoLateCommand} {
		synctest.Test(t, func(t *testing.T) {
			b := (&client{StrategyProcess: &explore.StrategyProcess{Strategy: quorum{}}}).stoppedBuyer(1, 2,
				func(n int, _ *tap.Command) bool { return n == at })
			defer b.Open()
			ctx, cancel := context.WithCancel(tap.With(t.Context(), b.Gate))
			defer cancel()
			if err := b.startPurchase(ctx); !errors.Is(err, want) {
				t.Errorf("stopped before command %d: %v, not %v", at, err, want)
			}
		})
	}
}
