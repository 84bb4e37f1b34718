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
	id                  string
	remaining, quantity int64
}

func (b *unitBook) add(o *Order) {
	switch {
	case b.full:
	case len(b.sales) == maxUnits:
		b.full, b.sales = true, nil
	default:
		b.sales = append(b.sales, unitSale{o.PublicID, o.Remaining, o.Quantity})
	}
}

// soldTwice names orders that sold the same unit: a buyer of q units who was
// told that r are left got the units r+1 to r+q, counted from the last.
func (b *unitBook) soldTwice() (found examples) {
	slices.SortStableFunc(b.sales, func(a, b unitSale) int {
		return cmp.Compare(b.remaining+b.quantity, a.remaining+a.quantity)
	})
	var last *unitSale // the one that went furthest down
	for i := range b.sales {
		o := &b.sales[i]
		if last != nil && o.remaining+o.quantity > last.remaining {
			found.add("orders %s and %s both sold unit %d: they were told %d and %d left",
				last.id, o.id, min(o.remaining+o.quantity, last.remaining+last.quantity), last.remaining, o.remaining)
		}
		if last == nil || o.remaining < last.remaining {
			last = o
		}
	}
	return found
}
