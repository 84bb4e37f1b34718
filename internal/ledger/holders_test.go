package ledger

import (
	"math/rand/v2"
	"testing"
)

func TestHolders(t *testing.T) {
	sold := func(remaining, quantity int64) Order {
		return Order{Remaining: remaining, Quantity: quantity, Status: Active}
	}
	for name, c := range map[string]struct {
		orders  []Order
		holders []int
		twice   int64
	}{
		"none":                  {nil, nil, 0},
		"one after the other":   {[]Order{sold(2, 1), sold(1, 1), sold(0, 1)}, []int{1, 1, 1}, 0},
		"one unit, three times": {[]Order{sold(2, 1), sold(2, 1), sold(2, 1), sold(1, 1)}, []int{3, 3, 3, 1}, 1},
		"a part of several":     {[]Order{sold(5, 5), sold(4, 2), sold(0, 4)}, []int{2, 2, 1}, 1},
		"two of two":            {[]Order{sold(3, 2), sold(3, 2)}, []int{2, 2}, 2},
		"below zero":            {[]Order{sold(0, 1), sold(-1, 1), sold(-2, 1)}, []int{1, 1, 1}, 0},
		"given back":            {[]Order{sold(1, 1), {Remaining: 0, Quantity: 1, Status: Cancelled}, sold(0, 1), sold(0, 1)}, []int{0, 0, 0, 0}, 0},
		"expired":               {[]Order{{Remaining: 1, Quantity: 1, Status: Expired}, sold(1, 1)}, []int{0, 0}, 0},
	} {
		h := HoldersOf(c.orders, InRow)
		for i, o := range c.orders {
			if n := h.Of(o); n != c.holders[i] {
				t.Errorf("%s: order %d shares its units with %d orders, want %d", name, i, n, c.holders[i])
			}
		}
		if n := h.Twice(); n != c.twice || h.Known() != (name != "given back" && name != "expired") {
			t.Errorf("%s: %d units were sold twice, want %d; known: %t", name, n, c.twice, h.Known())
		}
	}
}

// The quick count is the slow one.
func TestHoldersAreCounted(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		orders := make([]Order, random.IntN(30))
		units := map[int64]int{}
		for i := range orders {
			orders[i] = Order{Remaining: random.Int64N(20) - 5, Quantity: 1 + random.Int64N(4), Status: Active}
			for k := range orders[i].Quantity {
				units[orders[i].Remaining+1+k]++
			}
		}
		h, twice := HoldersOf(orders, InRow), int64(0)
		for _, n := range units {
			if n > 1 {
				twice++
			}
		}
		if h.Twice() != twice {
			t.Errorf("seed %d: %d units twice, want %d", seed, h.Twice(), twice)
		}
		for _, o := range orders {
			want := 0
			for _, p := range orders {
				if o.Remaining < p.Remaining+p.Quantity && p.Remaining < o.Remaining+o.Quantity {
					want++
				}
			}
			if h.Of(o) != want {
				t.Errorf("seed %d: %d holders of %+v, want %d", seed, h.Of(o), o, want)
			}
		}
	}
}
