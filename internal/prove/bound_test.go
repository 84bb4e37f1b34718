package prove

import (
	"reflect"
	"testing"

	"seckill/internal/explore"
)

// A cell reports the smallest number of preemptions that one of its searches has completed.
func TestBoundOfSeveralSearches(t *testing.T) {
	all := explore.Result{Schedules: 1, Preemptions: -1}
	upTo := func(n int) explore.Result { return explore.Result{Schedules: 1, NotRun: 1, Preemptions: n} }
	for _, c := range []struct {
		name      string
		searches  []explore.Result
		exhausted bool
		bound     *int
	}{
		{"all of all", []explore.Result{all, all}, true, nil},
		{"one is cut", []explore.Result{all, upTo(2), all}, false, new(2)},
		{"the lower counts", []explore.Result{upTo(3), upTo(1), upTo(2)}, false, new(1)},
		{"none is no bound, before", []explore.Result{upTo(-1), upTo(2)}, false, nil},
		{"none is no bound, behind", []explore.Result{upTo(2), upTo(-1), all}, false, nil},
		{"without a preemption", []explore.Result{upTo(0)}, false, new(0)},
	} {
		cell := Cell{Exhausted: true}
		for _, r := range c.searches {
			cell.addBounds(r)
		}
		if cell.Exhausted != c.exhausted || !reflect.DeepEqual(cell.Preemptions, c.bound) {
			t.Errorf("%s: %+v", c.name, cell)
		}
	}
}
