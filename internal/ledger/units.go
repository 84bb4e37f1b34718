package ledger

import (
	"cmp"
	"slices"
)

// A unitBook remembers which units the orders say that they sold, to name two
// that sold the same. It gives up beyond maxUnits orders: its examples are a
// help, no proof, and it is the largest thing that a judge keeps of an order.
type unitBook struct {
	sales []unitSale
	full  bool
}

const maxUnits = 50_000

type unitSale struct {
	id                        string
	user, remaining, quantity int64
}

// A Witness is one or two orders of the run that show how the stock broke.
type Witness struct {
	// Kind: "twice", two orders that sold one unit; "below", one that was told
	// of less than nothing left.
	Kind   string         `json:"kind"`
	Orders []WitnessOrder `json:"orders"`
	Unit   int64          `json:"unit,omitempty"` // of "twice"
}

// A WitnessOrder is what its buyer was told. Remaining and Quantity together
// are what the buyer's purchase found.
type WitnessOrder struct {
	OrderID   string `json:"order_id"`
	UserID    int64  `json:"user_id"`
	Quantity  int64  `json:"quantity"`
	Remaining int64  `json:"remaining"`
}

func (s unitSale) witness() WitnessOrder { return WitnessOrder{s.id, s.user, s.quantity, s.remaining} }

func (b *unitBook) add(o *Order) {
	switch {
	case b.full:
	case len(b.sales) == maxUnits:
		b.full, b.sales = true, nil
	default:
		b.sales = append(b.sales, unitSale{o.PublicID, o.UserID, o.Remaining, o.Quantity})
	}
}

// soldTwice names orders that sold the same unit: a buyer of q units who was
// told that r are left got the units r+1 to r+q, counted from the last. The
// witness is the first two, or nil.
func (b *unitBook) soldTwice() (found examples, first *Witness) {
	slices.SortStableFunc(b.sales, func(a, b unitSale) int {
		return cmp.Compare(b.remaining+b.quantity, a.remaining+a.quantity)
	})
	var last *unitSale // the one that went furthest down
	for i := range b.sales {
		o := &b.sales[i]
		if last != nil && o.remaining+o.quantity > last.remaining {
			unit := min(o.remaining+o.quantity, last.remaining+last.quantity)
			found.add(soldTwice,
				last.id, o.id, unit, last.remaining, o.remaining)
			if first == nil {
				first = &Witness{"twice", []WitnessOrder{last.witness(), o.witness()}, unit}
			}
		}
		if last == nil || o.remaining < last.remaining {
			last = o
		}
	}
	return found, first
}

// belowZero is the sale that first went below zero, or nil.
func (b *unitBook) belowZero() *Witness {
	var first *unitSale
	for i := range b.sales {
		if o := &b.sales[i]; o.remaining < 0 && (first == nil || o.remaining > first.remaining) {
			first = o
		}
	}
	if first == nil {
		return nil
	}
	return &Witness{Kind: "below", Orders: []WitnessOrder{first.witness()}}
}
