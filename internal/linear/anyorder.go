package linear

import (
	"cmp"
	"math"
	"slices"
)

// Saw marks the sales of ops as such that do not say which units they took.
func Saw(ops []Op) []Op {
	for i := range ops {
		ops[i].Saw = true
	}
	return ops
}

// inAnyOrder decides a history without cancellations in which sales do not say
// what remained after them. A stock that only shrinks is the smallest when every
// sale takes place as early as it can, as soon as it is asked for. No sale is
// hindered by that unless more was sold than there was. A sold out is told
// at the last moment, when the answer comes.
func inAnyOrder(initial int64, ops []Op) reason {
	sales := salesOf(ops)
	slices.SortStableFunc(sales, func(a, b *Op) int { return cmp.Compare(a.Call, b.Call) })
	course := []moment{{initial, math.MinInt64}}
	left := initial
	for _, s := range sales {
		if s.Quantity > left {
			return because("beyond", map[string]any{"name": s.Name, "quantity": s.Quantity, "there": left},
				"%s was sold %d of %d", s.Name, s.Quantity, left)
		}
		left -= s.Quantity
		course = append(course, moment{left, s.Call})
	}
	return soldOutInTime(course, ops)
}
