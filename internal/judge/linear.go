package judge

// CheckLinear asks of a history of purchases whether one stock that serves one buyer at a
// time could have given all its answers, each at some moment between the question and the
// answer: linearizability (Herlihy and Wing, 1990). Judge looks at the ledger's end alone;
// this looks at every `remaining` on the way.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// An OpKind is what an operation came to.
type OpKind string

const (
	OpSold     OpKind = "sold"
	OpSoldOut  OpKind = "sold out"
	OpGaveBack OpKind = "gave back" // a cancellation
	// OpRefused is a purchase that may have held units for a while, and gave them back before its answer. Meanwhile a
	// counter showed fewer units than were left. In a history with such purchases so may those have that are OpSoldOut.
	OpRefused OpKind = "refused"
)

// Never is the Return of an operation that got no answer.
const Never = math.MaxInt64

// An Op is one operation of a history. Times are of one clock, in nanoseconds.
type Op struct {
	Client       int
	Kind         OpKind
	Quantity     int64
	Remaining    int64 // as told, when OpSold
	SawBefore    bool  // Remaining is what the buyer saw before: it says nothing of the order
	Call, Return int64
	Name         string // for messages
	optional     bool   // at the edge of a window: it may have happened outside
	held         int64  // units that others may have held for a while during the operation
}

// model is a stock that serves one buyer at a time.
func stockModel(initial int64) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{initial} },
		Step: func(state, input, _ any) []any { return nextStocks(state.(int64), input.(Op)) },
	}
	return m.ToModel()
}

// step is every stock that may be left after o; none when o cannot be.
func nextStocks(left int64, o Op) (after []any) {
	switch o.Kind {
	case OpSold:
		hidden := left - o.Quantity - o.Remaining
		if left >= o.Quantity && (o.SawBefore || o.Remaining >= 0 && hidden >= 0 && hidden <= o.held) {
			after = append(after, left-o.Quantity)
		}
	case OpSoldOut:
		if left-o.held < o.Quantity {
			after = append(after, left)
		}
	case OpGaveBack:
		after = append(after, left+o.Quantity)
	}
	if o.optional && !slices.Contains(after, any(left)) {
		after = append(after, left)
	}
	return after
}

// operations is a history as porcupine has it.
func porcupineOperations(ops []Op) (all []porcupine.Operation) {
	for _, o := range ops {
		all = append(all, porcupine.Operation{ClientId: o.Client, Input: o, Call: o.Call, Output: nil, Return: o.Return})
	}
	return all
}

// A Linearity is what a check came to.
type Linearity struct {
	Linearizable bool
	Decided      bool           // false: not within the limit
	Checked      int            // operations that were looked at
	Why          string         // when not linearizable: what cannot be
	Params       map[string]any // Why as a "case" with its parameters, for other languages
}

// largest is how many operations a window has in which units come back.
const maxWindow = 5000

// CheckLinear looks at a whole history if units were only ever taken. Then every
// sale says by its `remaining` which units it took, so that their order is
// known and one pass decides. When units come back the order has to be
// searched for, and the first window of the history is.
func CheckLinearizable(initial int64, ops []Op, limit time.Duration) Linearity {
	refused := slices.ContainsFunc(ops, func(o Op) bool { return o.Kind == OpRefused })
	if refused {
		ops = noteHeld(ops)
	}
	if !slices.ContainsFunc(ops, func(o Op) bool { return o.Kind == OpGaveBack }) {
		check := checkInOrder
		switch {
		case slices.ContainsFunc(ops, func(o Op) bool { return o.SawBefore }):
			check = checkAnyOrder
		case refused:
			check = checkBounds
		}
		why := check(initial, ops)
		return Linearity{Linearizable: why.text == "", Decided: true, Checked: len(ops), Why: why.text, Params: why.params}
	}
	ops = firstWindow(slices.Clone(ops), maxWindow)
	f := Linearity{Checked: len(ops)}
	switch porcupine.CheckOperationsTimeout(stockModel(initial), porcupineOperations(ops), limit) {
	case porcupine.Ok:
		f.Linearizable, f.Decided = true, true
	case porcupine.Illegal:
		f.Decided = true
		why := newReason("window", map[string]any{"operations": len(ops)}, "no order of the first %d operations explains all their answers", len(ops))
		f.Why, f.Params = why.text, why.params
	}
	return f
}

// inOrder decides a history without cancellations; no reason when it is linearizable.
// Sale after sale takes place as early as it can: when it was asked for, or
// right after the one before.
func checkInOrder(initial int64, ops []Op) reason {
	sales := salesOf(ops)
	slices.SortStableFunc(sales, func(a, b *Op) int {
		return cmp.Or(cmp.Compare(b.Remaining+b.Quantity, a.Remaining+a.Quantity), cmp.Compare(b.Remaining, a.Remaining))
	})
	left, now := initial, int64(math.MinInt64)
	course := []moment{{left, now}}
	var before *Op // the sale that now comes from
	for _, s := range sales {
		switch {
		case s.Remaining+s.Quantity != left:
			return toldLeft(s, left)
		case s.Remaining < 0:
			return newReason("beyond", map[string]any{"name": s.Name, "quantity": s.Quantity, "there": left},
				"%s was sold %d of %d", s.Name, s.Quantity, left)
		case s.Call >= now:
			now, before = s.Call, s
		}
		if s.Return < now {
			early := time.Duration(now - s.Return)
			return newReason("early", map[string]any{"name": s.Name, "left": s.Remaining, "ms": millis(early), "before": before.Name},
				"%s was answered, %d left, %v before %s, whose units come first, even asked", s.Name, s.Remaining, early, before.Name)
		}
		left = s.Remaining
		course = append(course, moment{left, now})
	}
	return checkSoldOut(course, ops)
}

// salesOf points to the sales of a history, which may be large.
func salesOf(ops []Op) (sales []*Op) {
	for i := range ops {
		if ops[i].Kind == OpSold {
			sales = append(sales, &ops[i])
		}
	}
	return sales
}

// A moment is when so few units were left, at the earliest.
type moment struct{ left, at int64 }

// soldOutInTime asks of each refusal whether so few units were left before its
// answer came.
func checkSoldOut(course []moment, ops []Op) reason {
	for _, o := range ops {
		if o.Kind != OpSoldOut {
			continue
		}
		first := sort.Search(len(course), func(i int) bool { return course[i].left < o.Quantity+o.held })
		switch {
		case first == len(course):
			return newReason("sold_out", map[string]any{"name": o.Name, "quantity": o.Quantity, "left": course[len(course)-1].left},
				"%s was told sold out of %d, and %d were left to the end", o.Name, o.Quantity, course[len(course)-1].left)
		case course[first].at > o.Return:
			early := time.Duration(course[first].at - o.Return)
			return newReason("sold_out_early", map[string]any{"name": o.Name, "quantity": o.Quantity, "ms": millis(early)},
				"%s was told sold out of %d, %v before so few were left that this is true", o.Name, o.Quantity, early)
		}
	}
	return reason{}
}

// A reason is why no order explains the answers, in words and as parameters.
type reason struct {
	text   string
	params map[string]any
}

func newReason(kind string, params map[string]any, format string, args ...any) reason {
	params["case"] = kind
	return reason{fmt.Sprintf(format, args...), params}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// window is the first n operations by their call. Of those that were still
// under way when the next was called it is not known whether they came first,
// so they may or may not have happened.
func firstWindow(ops []Op, n int) []Op {
	slices.SortStableFunc(ops, func(a, b Op) int { return cmp.Compare(a.Call, b.Call) })
	if len(ops) <= n {
		return ops
	}
	end := ops[n].Call
	ops = ops[:n]
	for i := range ops {
		ops[i].optional = ops[i].Return >= end
	}
	return ops
}

// Saw marks the sales of ops as such that do not say which units they took.
func MarkSawBefore(ops []Op) []Op {
	for i := range ops {
		ops[i].SawBefore = true
	}
	return ops
}

// inAnyOrder decides a history without cancellations in which sales do not say
// what remained after them. A stock that only shrinks is the smallest when every
// sale takes place as early as it can, as soon as it is asked for. No sale is
// hindered by that unless more was sold than there was. A sold out is told
// at the last moment, when the answer comes.
func checkAnyOrder(initial int64, ops []Op) reason {
	sales := salesOf(ops)
	slices.SortStableFunc(sales, func(a, b *Op) int { return cmp.Compare(a.Call, b.Call) })
	course := []moment{{initial, math.MinInt64}}
	left := initial
	for _, s := range sales {
		if s.Quantity > left {
			return newReason("beyond", map[string]any{"name": s.Name, "quantity": s.Quantity, "there": left},
				"%s was sold %d of %d", s.Name, s.Quantity, left)
		}
		left -= s.Quantity
		course = append(course, moment{left, s.Call})
	}
	return checkSoldOut(course, ops)
}

// noteHeld notes for each operation how many units those that overlap it may have held, and leaves out those
// that were refused.
func noteHeld(ops []Op) (rest []Op) {
	var holders []*Op
	for i := range ops {
		if ops[i].Kind == OpRefused || ops[i].Kind == OpSoldOut {
			holders = append(holders, &ops[i])
		}
	}
	called := unitsUntil(holders, func(o *Op) int64 { return o.Call })
	answered := unitsUntil(holders, func(o *Op) int64 { return o.Return })
	for _, o := range ops {
		if o.held = called(o.Return) - answered(o.Call-1); o.Kind == OpSoldOut {
			o.held -= o.Quantity // its own
		}
		if o.Kind != OpRefused {
			rest = append(rest, o)
		}
	}
	return rest
}

// unitsUntil sums up the units of ops by time.
func unitsUntil(ops []*Op, when func(*Op) int64) func(at int64) int64 {
	sums, times := make([]int64, len(ops)+1), make([]int64, len(ops))
	for i, o := range sortBy(ops, when) {
		sums[i+1], times[i] = sums[i]+o.Quantity, when(o)
	}
	return func(at int64) int64 { return sums[sort.Search(len(times), func(i int) bool { return times[i] > at })] }
}

// sortBy sorts ops by a number, and returns them.
func sortBy(ops []*Op, number func(*Op) int64) []*Op {
	slices.SortStableFunc(ops, func(a, b *Op) int { return cmp.Compare(number(a), number(b)) })
	return ops
}

// inBounds looks for a sale that was told what no counter can have shown: more than was left, or less than that by
// more than others held meanwhile. It does not know which units a sale took, so a wrong number passes where
// refused purchases explain it.
func checkBounds(initial int64, ops []Op) reason {
	sales, left := salesOf(ops), initial
	for _, s := range sortBy(sales, func(s *Op) int64 { return -s.Remaining }) {
		if s.Remaining+s.Quantity > left { // the sales that were told as many, or more, have taken the others
			return toldLeft(s, left)
		}
		left -= s.Quantity
	}
	for _, s := range sortBy(sales, func(s *Op) int64 { return s.Remaining + s.held + s.Quantity }) {
		if s.Remaining < 0 || s.Remaining+s.held < left { // the sales that were told fewer take no more than that
			return toldLeft(s, left+s.Quantity)
		}
		left += s.Quantity
	}
	ended := sortBy(slices.Clone(sales), func(s *Op) int64 { return s.Return })
	for _, s := range sortBy(sales, func(s *Op) int64 { return s.Call }) {
		for ; ended[0].Return < s.Call; ended = ended[1:] {
			left = min(left, ended[0].Remaining+ended[0].held)
		}
		if s.Remaining+s.Quantity > left { // the sales that ended before have taken the others
			return toldLeft(s, left)
		}
	}
	return checkAnyOrder(initial, ops)
}

// toldLeft is the reason of a sale that was told a wrong number, when there had been so many units.
func toldLeft(s *Op, there int64) reason {
	return newReason("left", map[string]any{"name": s.Name, "left": s.Remaining, "quantity": s.Quantity, "there": there},
		"%s bought %d and was told that %d were left, when there had been %d", s.Name, s.Quantity, s.Remaining, there)
}
