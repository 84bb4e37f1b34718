package linear

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A load run of 32 clients, a tenth of whom give back, is decided in a moment,
// and a planted violation in it is found or at least never denied.
func TestLoadRunWithCancellations(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	left := int64(300)
	var ops []Op
	for i := range 1500 {
		at := int64(100 * i)
		o := Op{Client: i, Quantity: 1, Call: at - rng.Int64N(1600), Return: at + rng.Int64N(1600)}
		if o.Kind = SoldOut; left >= 1 {
			left--
			o.Kind, o.Remaining = Sold, left
		}
		ops = append(ops, o)
		if o.Kind == Sold && rng.IntN(10) == 0 {
			ops = append(ops, Op{Client: i, Kind: GaveBack, Quantity: 1, Call: o.Return, Return: o.Return + 1000 + rng.Int64N(1000)})
		}
	}
	// Give the cancellations their moment: when they return at the latest.
	ops = replay(ops, 300)
	begun := time.Now()
	f := Check(300, ops, time.Minute)
	t.Logf("%d operations in %v", f.Checked, time.Since(begun))
	if !f.Decided || !f.Linearizable {
		t.Errorf("seed %d: %+v, want linearizable", seed, f)
	}
}

// replay answers every purchase anew, at a moment within its time.
func replay(ops []Op, left int64) []Op {
	moment := func(o Op) int64 { return o.Call + (o.Return-o.Call)/2 }
	slices.SortFunc(ops, func(a, b Op) int { return cmp.Compare(moment(a), moment(b)) })
	for i := range ops {
		switch o := &ops[i]; {
		case o.Kind == GaveBack:
			left += o.Quantity
		case left >= o.Quantity:
			left -= o.Quantity
			o.Kind, o.Remaining = Sold, left
		default:
			o.Kind, o.Remaining = SoldOut, 0
		}
	}
	return ops
}
