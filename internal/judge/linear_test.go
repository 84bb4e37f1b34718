package judge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// good is a history of a stock of 10:
//
//	a ├─ buys 4 ─┤
//	    b ├─ buys 3 ─┤   c ├─ buys 3 ─┤
//	                          d ├─ wants 2: sold out ─┤
func good() []Op {
	return []Op{
		{Client: 1, Name: "a", Kind: OpSold, Quantity: 4, Remaining: 6, Call: 10, Return: 30},
		{Client: 2, Name: "b", Kind: OpSold, Quantity: 3, Remaining: 3, Call: 20, Return: 50},
		{Client: 3, Name: "c", Kind: OpSold, Quantity: 3, Remaining: 0, Call: 60, Return: 80},
		{Client: 4, Name: "d", Kind: OpSoldOut, Quantity: 2, Call: 70, Return: 90},
	}
}

// Each violation is planted by itself. It is found with the order of sales known, and by the search.
func TestPlantedViolations(t *testing.T) {
	for _, test := range []struct {
		name  string
		plant func(o []Op)
		why   string // a part of the expected reason; empty if linearizable
	}{
		{"none", func([]Op) {}, ""},
		{"concurrent sales, the other way round", func(o []Op) { o[0].Remaining, o[1].Remaining = 3, 7 }, ""},
		{"sold out asked early, answered in time", func(o []Op) { o[3].Call = 0 }, ""},
		{"no answer at all", func(o []Op) { o[2].Return = Never }, ""},
		{"the same moment", func(o []Op) { o[3].Call, o[3].Return = 60, 60 }, ""},
		{"units sold twice", func(o []Op) { o[1].Remaining = 6 - 2 },
			"b bought 3 and was told that 4 were left, when there had been 6"},
		{"units skipped", func(o []Op) { o[1].Remaining = 2 },
			"b bought 3 and was told that 2 were left, when there had been 6"},
		{"an answer before the sale it counts", func(o []Op) { o[1].Call, o[1].Return = 0, 5 },
			"b was answered, 3 left, 5ns before a"},
		{"sold out too early", func(o []Op) { o[3].Call, o[3].Return = 20, 40 },
			"d was told sold out of 2, 20ns before"},
		{"sold out of what stayed", func(o []Op) { o[2] = o[3] }, "d was told sold out of 2, and 3 were left"},
		{"below zero", func(o []Op) { o[2].Quantity, o[2].Remaining = 4, -1 }, "c was sold 4 of 3"},
	} {
		ops := good()
		test.plant(ops)
		f := CheckLinearizable(10, ops, time.Minute)
		if !f.Decided || f.Linearizable != (test.why == "") || !strings.Contains(f.Why, test.why) {
			t.Errorf("%s: %+v, want %q", test.name, f, test.why)
		}
		searched := append(ops, Op{Client: 9, Kind: OpGaveBack, Quantity: 1, Call: 1000, Return: 1001})
		if f := CheckLinearizable(10, searched, time.Minute); !f.Decided || f.Linearizable != (test.why == "") {
			t.Errorf("%s, with a cancellation afterwards: %+v", test.name, f)
		}
	}
}

// On any history the one pass decides the same as the search, which tries every order. That also holds if sales do not
// show which units they took. If purchases were refused, the pass finds nothing wrong that the search can explain.
func TestOnePassAgreesWithTheSearch(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	said := map[string]int{}
	for i := range 6000 {
		initial, saw := rng.Int64N(6), i%2 == 0
		ops := random(rng, initial)
		if saw {
			for k := range ops {
				ops[k].SawBefore = true
			}
		}
		refused, all := i%3 == 0, ops
		if refused {
			call, end := rng.Int64N(40), 40+rng.Int64N(40)
			ops = append(ops, Op{Kind: OpRefused, Quantity: 1 + rng.Int64N(2), Call: call, Return: end})
			all = noteHeld(ops)
		}
		want := searchSequence(initial, all, 0) == porcupine.Ok
		said[fmt.Sprint("saw ", saw, ", linearizable ", want)]++
		got := CheckLinearizable(initial, ops, time.Second)
		if got.Linearizable != want && (!refused || want) || !got.Decided || got.Linearizable != (got.Why == "") {
			t.Fatalf("seed %d: of %d units, %+v: %+v, want %t", seed, initial, ops, got, want)
		}
	}
	for what, n := range said {
		if n < 100 || len(said) < 4 {
			t.Errorf("seed %d: %s %d times of %v: too few of a kind to mean anything", seed, what, n, said)
		}
	}
}

// random returns a true history of a few buyers, in which a little is then changed.
func random(rng *rand.Rand, left int64) (ops []Op) {
	for i := range 1 + rng.IntN(7) {
		at := int64(10 * i)
		o := Op{Client: i, Name: fmt.Sprint("buyer ", i), Quantity: 1 + rng.Int64N(2), Call: at - rng.Int64N(25),
			Return: at + rng.Int64N(25)}
		if o.Kind = OpSoldOut; left >= o.Quantity {
			left -= o.Quantity
			o.Kind, o.Remaining = OpSold, left
		}
		ops = append(ops, o)
	}
	switch o := &ops[rng.IntN(len(ops))]; rng.IntN(6) {
	case 0:
		o.Remaining += rng.Int64N(3) - 1
	case 1:
		o.Return = o.Call + rng.Int64N(10)
	case 2:
		o.Kind = []OpKind{OpSoldOut, OpSold}[rng.IntN(2)]
	}
	return ops
}

// If the search has not ended in time, nothing is decided.
func TestTimeIsUp(t *testing.T) {
	ops := []Op{{Kind: OpGaveBack, Return: Never}}
	for i := range int64(40) { // the last one is always one unit short, and any may be the last
		ops = append(ops, Op{Client: int(i) + 1, Kind: OpSold, Quantity: 1 << i, SawBefore: true, Return: Never})
	}
	if f := CheckLinearizable(1<<40-2, ops, time.Millisecond); f.Decided || f.Linearizable || f.Why != "" {
		t.Errorf("%+v, want that it is not decided", f)
	}
}

// A window of a true history is linearizable, whatever crosses its end. A violation before its end is found.
func TestWindow(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	history := func(n int) (ops []Op) {
		left := int64(50)
		for i := range n {
			at := int64(10 * i)
			o := Op{Client: i, Quantity: 1 + rng.Int64N(3), Call: at - rng.Int64N(40), Return: at + rng.Int64N(40)}
			switch {
			case rng.IntN(3) == 0:
				o.Kind = OpGaveBack
				left += o.Quantity
			case left >= o.Quantity:
				left -= o.Quantity
				o.Kind, o.Remaining = OpSold, left
			default:
				o.Kind = OpSoldOut
			}
			ops = append(ops, o)
		}
		return ops
	}
	for i, o := range firstWindow([]Op{{Call: 1, Return: 5}, {Call: 2, Return: 4}, {Call: 5, Return: 6}}, 2) {
		// An operation that ends just when the next is called may come after it.
		if o.optional != (i == 0) {
			t.Errorf("of a window, operation %d is optional: %t", i, o.optional)
		}
	}
	whole := history(1500) // like a load run in which a third of the calls give units back
	if f := CheckLinearizable(50, whole, time.Minute); !f.Decided || !f.Linearizable {
		t.Errorf("seed %d: a true history is %+v", seed, f)
	}
	for n := 20; n <= 200; n += 20 { // the last window is the whole history
		ops := firstWindow(history(200), n)
		if searchSequence(50, ops, 0) != porcupine.Ok {
			t.Errorf("seed %d: the first %d of a true history are said to be wrong", seed, n)
		}
		for i := range ops {
			if ops[i].Kind == OpSold && !ops[i].optional {
				ops[i].Remaining += 1000
				break
			}
		}
		if searchSequence(50, ops, 0) == porcupine.Ok {
			t.Errorf("seed %d: a planted violation among the first %d was not found", seed, n)
		}
	}
}

// A counter sells to sixteen buyers at a time. One request in ten comes from a user who has an
// order. It takes a unit, and gives the unit back when the ledger refuses. The answers to the
// others are true of the counter, and planted lies are found.
func TestCounterBesideRefused(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	lies := map[string]func(s *Op, later int64){
		"the truth":           func(*Op, int64) {},
		"one more":            func(s *Op, _ int64) { s.Remaining++ },
		"one fewer":           func(s *Op, _ int64) { s.Remaining-- },
		"what was left later": func(s *Op, later int64) { s.Remaining = later },
		"none":                func(s *Op, _ int64) { s.Remaining = 0 },
	}
	for range 100 {
		history, later := counted(rng, 100)
		for what, lie := range lies {
			told := slices.Clone(history)
			for i := range told {
				if told[i].Kind == OpSold {
					lie(&told[i], later[i])
				}
			}
			if f := CheckLinearizable(100, told, time.Minute); !f.Decided || f.Linearizable != (what == "the truth") {
				t.Fatalf("seed %d: buyers are told %s, and that is %+v", seed, what, f)
			}
		}
	}
}

// counted returns the history of such a sale, and for each order the number that the counter had
// when the order was written.
func counted(rng *rand.Rand, left int64) (ops []Op, later []int64) {
	var takes, ends []int64 // the time of each operation
	for range 16 {
		now := rng.Int64N(50)
		next := func() int64 {
			now += 1 + rng.Int64N(20)
			return now
		}
		for range 25 {
			o := Op{Client: len(ops), Name: fmt.Sprint("buyer ", len(ops)), Kind: OpSold, Quantity: 1, Call: next()}
			takes, ends = append(takes, next()), append(ends, next())
			if o.Return = next(); rng.IntN(10) == 0 {
				o.Kind = OpRefused
			}
			ops = append(ops, o)
		}
	}
	later = make([]int64, len(ops))
	for now := range slices.Max(ends) + 1 {
		for i := range ops {
			switch o := &ops[i]; {
			case takes[i] == now:
				if left--; left < 0 {
					o.Kind = OpSoldOut
				}
				o.Remaining = left
			case ends[i] == now && o.Kind == OpSold:
				later[i] = left
			case ends[i] == now:
				left++
			}
		}
	}
	return ops, later
}
