package judge

// CheckLinearizable decides whether a stock that serves one buyer at a time could have given all answers of a history,
// each at some moment between the call and its answer. Such a history is called linearizable (Herlihy and Wing, 1990).
// Judge reads the final state of the ledger only; CheckLinearizable reads the `remaining` of every answer.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// An OpKind says what an operation asked for and what result it got.
type OpKind string

const (
	OpSold     OpKind = "sold"
	OpSoldOut  OpKind = "sold out"
	OpGaveBack OpKind = "gave back" // a cancellation
	// OpRefused is a purchase that was refused, but may have taken units for a while before that. Meanwhile
	// the counter showed too few units. If a history has an OpRefused, its strategy takes units before it
	// decides. So each OpSoldOut may have taken units for a while, too.
	OpRefused OpKind = "refused"
)

// Never is the value of Return in an operation that got no answer.
const Never = math.MaxInt64

// An Op is one operation of a history. Its times are nanoseconds of one clock.
type Op struct {
	Client       int
	Kind         OpKind
	Quantity     int64
	Remaining    int64 // for OpSold: the units left according to the answer
	SawBefore    bool  // true if Remaining was read before the sale, and so does not show the order of the sales
	Call, Return int64
	Name         string // the operation's name in messages
	optional     bool   // true if the operation may have taken effect after the checked part of the history
	held         int64  // units that other purchases may have held for a while during the operation
}

// searchSequence searches for a sequence in which a stock that serves one buyer at a time gives all answers. The
// search takes at most limit. If limit is 0, it goes on until the question is decided.
func searchSequence(initial int64, ops []Op, limit time.Duration) porcupine.CheckResult {
	stock := porcupine.NondeterministicModel{
		Init: func() []any { return []any{initial} },
		Step: func(state, input, _ any) []any { return nextStocks(state.(int64), input.(Op)) },
	}
	var history []porcupine.Operation
	for _, o := range ops {
		history = append(history, porcupine.Operation{ClientId: o.Client, Input: o, Call: o.Call, Return: o.Return})
	}
	return porcupine.CheckOperationsTimeout(stock.ToModel(), history, limit)
}

// nextStocks returns the numbers of units that may be left after the operation o, if the argument left is the number
// before it. It returns nothing if o cannot have had its result then.
func nextStocks(left int64, o Op) []any {
	var after []any
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

// A Linearity is the result of CheckLinearizable.
type Linearity struct {
	Linearizable bool
	Decided      bool // false if the time limit ended the search for a sequence
	Checked      int  // the number of operations that were checked
	Reason
}

// A Reason says why no sequence of the operations explains the answers.
type Reason struct {
	Why    string
	Params map[string]any // the values in Why; the value under "case" selects the text in another language
}

// maxWindow is the maximum number of operations that are checked if units were given back, because many sequences
// must then be tried.
const maxWindow = 5000

// CheckLinearizable checks the whole history if no units were given back. Then `remaining` shows which units each sale
// took, so the sequence of the sales is known and one pass decides. If units were given back, CheckLinearizable checks
// only the first maxWindow operations. For these it searches for a sequence, for at most limit.
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
		return Linearity{why.Why == "", true, len(ops), why}
	}
	ops = firstWindow(slices.Clone(ops), maxWindow)
	f := Linearity{Checked: len(ops)}
	switch searchSequence(initial, ops, limit) {
	case porcupine.Ok:
		f.Linearizable, f.Decided = true, true
	case porcupine.Illegal:
		f.Decided = true
		f.Reason = newReason("window", map[string]any{"operations": len(ops)},
			"no order of the first %d operations explains all their answers", len(ops))
	}
	return f
}

// checkInOrder decides a history in which no units were given back. It lets the sales take effect from the highest
// unit to the lowest. Each takes effect as early as possible: at its call, or right after the sale of the next higher
// unit. If this explains all answers, the history is linearizable, and the Reason is empty.
func checkInOrder(initial int64, ops []Op) Reason {
	sales := salesOf(ops)
	slices.SortStableFunc(sales, func(a, b *Op) int {
		return cmp.Or(cmp.Compare(b.Remaining+b.Quantity, a.Remaining+a.Quantity),
			cmp.Compare(b.Remaining, a.Remaining))
	})
	left, earliest := initial, int64(math.MinInt64) // the next sale cannot take effect before earliest
	course := []moment{{left, earliest}}
	var lastCalled *Op // of the sales so far, the one with the latest call
	for _, s := range sales {
		switch {
		case s.Remaining+s.Quantity != left:
			return toldLeft(s, left)
		case s.Remaining < 0:
			return newReason("beyond", map[string]any{"name": s.Name, "quantity": s.Quantity, "there": left},
				"%s was sold %d of %d", s.Name, s.Quantity, left)
		case s.Call >= earliest:
			earliest, lastCalled = s.Call, s
		}
		if s.Return < earliest {
			early := time.Duration(earliest - s.Return)
			return newReason("early", map[string]any{
				"name": s.Name, "left": s.Remaining, "ms": milliseconds(early), "before": lastCalled.Name},
				"%s was answered, %d left, %v before %s, whose units come first, even asked",
				s.Name, s.Remaining, early, lastCalled.Name)
		}
		left = s.Remaining
		course = append(course, moment{left, earliest})
	}
	return checkSoldOut(course, ops)
}

// salesOf returns pointers to the sales of a history. It copies no sale, because a history may be large.
func salesOf(ops []Op) []*Op {
	var sales []*Op
	for i := range ops {
		if ops[i].Kind == OpSold {
			sales = append(sales, &ops[i])
		}
	}
	return sales
}

// A moment is a time (at) since which the stock has had at most the given number of units (left).
type moment struct{ left, at int64 }

// checkSoldOut checks that each buyer who was told "sold out" got this answer after the stock had fallen below the
// wanted units. The argument course has the moments at which the stock fell, in order of time.
func checkSoldOut(course []moment, ops []Op) Reason {
	for _, o := range ops {
		if o.Kind != OpSoldOut {
			continue
		}
		first := sort.Search(len(course), func(i int) bool { return course[i].left < o.Quantity+o.held })
		switch {
		case first == len(course):
			left := course[len(course)-1].left
			return newReason("sold_out", map[string]any{"name": o.Name, "quantity": o.Quantity, "left": left},
				"%s was told sold out of %d, and %d were left to the end", o.Name, o.Quantity, left)
		case course[first].at > o.Return:
			early := time.Duration(course[first].at - o.Return)
			params := map[string]any{"name": o.Name, "quantity": o.Quantity, "ms": milliseconds(early)}
			return newReason("sold_out_early", params,
				"%s was told sold out of %d, %v before so few were left that this is true", o.Name, o.Quantity, early)
		}
	}
	return Reason{}
}

func newReason(kind string, params map[string]any, format string, args ...any) Reason {
	params["case"] = kind
	return Reason{fmt.Sprintf(format, args...), params}
}

// firstWindow returns the n operations that were called first. It marks an operation as optional if the operation had
// no answer yet when the next operation after these n was called. An optional operation may have taken effect later.
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

// checkAnyOrder decides a history in which no units were given back and sales do not show which units they took. It
// assumes that each sale took effect at its call, and each answer "sold out" at the moment of the answer. Then the
// stock is always as small as it can be. So a refusal that is wrong under this assumption is wrong in every sequence.
// A sale is wrong only if more units were sold than there were.
func checkAnyOrder(initial int64, ops []Op) Reason {
	course := []moment{{initial, math.MinInt64}}
	left := initial
	for _, s := range sortBy(salesOf(ops), func(s *Op) int64 { return s.Call }) {
		if s.Quantity > left {
			return newReason("beyond", map[string]any{"name": s.Name, "quantity": s.Quantity, "there": left},
				"%s was sold %d of %d", s.Name, s.Quantity, left)
		}
		left -= s.Quantity
		course = append(course, moment{left, s.Call})
	}
	return checkSoldOut(course, ops)
}

// noteHeld sets the field held of each operation to the units that overlapping refused purchases may have
// held. It returns the operations except those of the kind OpRefused.
func noteHeld(ops []Op) []Op {
	var rest []Op
	var holders []*Op
	for i := range ops {
		if ops[i].Kind == OpRefused || ops[i].Kind == OpSoldOut {
			holders = append(holders, &ops[i])
		}
	}
	called := unitsUntil(holders, func(o *Op) int64 { return o.Call })
	answered := unitsUntil(holders, func(o *Op) int64 { return o.Return })
	for _, o := range ops {
		o.held = called(o.Return) - answered(o.Call-1)
		if o.Kind == OpSoldOut {
			o.held -= o.Quantity // The sum includes o itself, so its own units are subtracted.
		}
		if o.Kind != OpRefused {
			rest = append(rest, o)
		}
	}
	return rest
}

// unitsUntil returns a function that sums the units of the ops up to a given time. The function timeOf returns the time
// of an op.
func unitsUntil(ops []*Op, timeOf func(*Op) int64) func(at int64) int64 {
	sums, times := make([]int64, len(ops)+1), make([]int64, len(ops))
	for i, o := range sortBy(ops, timeOf) {
		sums[i+1], times[i] = sums[i]+o.Quantity, timeOf(o)
	}
	return func(at int64) int64 { return sums[sort.Search(len(times), func(i int) bool { return times[i] > at })] }
}

// sortBy sorts ops in place by the number that the function returns. It returns ops.
func sortBy(ops []*Op, number func(*Op) int64) []*Op {
	slices.SortStableFunc(ops, func(a, b *Op) int { return cmp.Compare(number(a), number(b)) })
	return ops
}

// checkBounds looks for sales whose Remaining the counter cannot have shown. A Remaining is too high if fewer units
// were left. It is too low if even the units that other purchases held meanwhile do not explain it. checkBounds does
// not know which units a sale took, so it does not find a wrong Remaining that refused purchases can explain.
func checkBounds(initial int64, ops []Op) Reason {
	sales, left := salesOf(ops), initial
	for _, s := range sortBy(sales, func(s *Op) int64 { return -s.Remaining }) {
		if s.Remaining+s.Quantity > left { // left is the initial stock minus the units of sales with a higher Remaining.
			return toldLeft(s, left)
		}
		left -= s.Quantity
	}
	for _, s := range sortBy(sales, func(s *Op) int64 { return s.Remaining + s.held + s.Quantity }) {
		// left is the number of units never sold, plus the units of the sales that this loop has passed.
		if s.Remaining < 0 || s.Remaining+s.held < left {
			return toldLeft(s, left+s.Quantity)
		}
		left += s.Quantity
	}
	ended := sortBy(slices.Clone(sales), func(s *Op) int64 { return s.Return })
	for _, s := range sortBy(sales, func(s *Op) int64 { return s.Call }) {
		for ; ended[0].Return < s.Call; ended = ended[1:] {
			left = min(left, ended[0].Remaining+ended[0].held)
		}
		// left is the maximum number of units after the sales that ended before this call.
		if s.Remaining+s.Quantity > left {
			return toldLeft(s, left)
		}
	}
	return checkAnyOrder(initial, ops)
}

// toldLeft returns the Reason for a sale whose Remaining is wrong. Before the sale, unitsBefore units were left.
func toldLeft(s *Op, unitsBefore int64) Reason {
	return newReason("left", map[string]any{
		"name": s.Name, "left": s.Remaining, "quantity": s.Quantity, "there": unitsBefore},
		"%s bought %d and was told that %d were left, when there had been %d",
		s.Name, s.Quantity, s.Remaining, unitsBefore)
}
