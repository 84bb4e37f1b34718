package ledger

import (
	"slices"
	"sort"
)

// Holders count how many active orders hold a unit. An order of q units that was
// told that r are left holds the units r+1 to r+q, counted from the last: a unit
// with two holders was sold twice, and a unit below 1 never was there.
type Holders struct {
	begins, ends []int64 // of each order's units, sorted apart
	given        bool    // units were given back, and may rightly be sold again; or orders do not say which they have
}

// HoldersOf takes all orders of a run that was sold from stock.
func HoldersOf(orders []Order, stock StockStore) *Holders {
	h := &Holders{given: stock.Split()}
	for i := range orders {
		o := &orders[i]
		if h.given = h.given || o.Status != Active; o.Status == Active {
			h.begins, h.ends = append(h.begins, o.Remaining), append(h.ends, o.Remaining+o.Quantity)
		}
	}
	slices.Sort(h.begins)
	slices.Sort(h.ends)
	return h
}

// Known is false once units were given back, and where the stock is in pieces
// (StockStore.Split): then two orders may rightly have been told the same.
func (h *Holders) Known() bool { return !h.given }

// Of is how many active orders share a unit with o, and o itself; 0 if that is
// not known.
func (h *Holders) Of(o Order) int {
	if h.given || o.Status != Active {
		return 0
	}
	before := sort.Search(len(h.ends), func(i int) bool { return h.ends[i] > o.Remaining })
	begun := sort.Search(len(h.begins), func(i int) bool { return h.begins[i] >= o.Remaining+o.Quantity })
	return begun - before
}

// Twice is how many units have two holders or more; 0 if that is not known.
func (h *Holders) Twice() (units int64) {
	if h.given {
		return 0
	}
	open, last := 0, int64(0)
	for b, e := 0, 0; e < len(h.ends); {
		at := h.ends[e]
		if b < len(h.begins) && h.begins[b] < at {
			at = h.begins[b]
		}
		if open > 1 {
			units += at - last
		}
		last = at
		if b < len(h.begins) && h.begins[b] == at && at < h.ends[e] {
			open, b = open+1, b+1
		} else {
			open, e = open-1, e+1
		}
	}
	return units
}
