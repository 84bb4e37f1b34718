package prove

import (
	"reflect"
	"testing"

	"seckill/internal/explore"
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
