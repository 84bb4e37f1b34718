package judge

import (
	"slices"
	"time"
)

// addRestocks adds the units of restocks to Initial, which then has all units that were for sale.
// If Calls is nil, Initial comes from the stock row, which already includes these units.
func (h *evidence) addRestocks() {
	if h.Calls != nil {
		h.Initial += h.Snapshot.Restocked()
	}
	h.report.Initial = h.Initial
}

// Restocked returns how many units restocks have added to the run. It counts the restocks' rows in Orders.
func (s *Snapshot) Restocked() int64 {
	units := int64(0)
	for i := range s.Orders {
		if o := &s.Orders[i]; o.isRestockIn(s.Stock.Run) {
			units += o.Quantity
		}
	}
	return units
}

func (o *Order) isRestockIn(run int64) bool { return o.IsRestock() && o.Run == run }

// countRestock counts the row of a restock. While it is active, its units are neither sold nor left.
func (h *evidence) countRestock(o *Order) {
	h.restocks = append(h.restocks, o)
	h.report.Restocked += o.Quantity
	if o.Status == Active {
		h.report.Arriving += o.Quantity
	}
}

// callsAbout returns the operator's calls that asked for the restock o.
func (h *evidence) callsAbout(o *Order) []*Call {
	var calls []*Call
	for _, t := range h.restockCalls {
		if t.RequestID == o.RequestID && t.User == o.UserID {
			calls = append(calls, t)
		}
	}
	return calls
}

// restockedAt returns when a restock's units had certainly arrived; never if no call was told so.
func (h *evidence) restockedAt(o *Order) time.Duration {
	first := never
	for _, t := range h.callsAbout(o) {
		if t.Outcome == OutcomeRestocked {
			first = min(first, t.answeredAt())
		}
	}
	return first
}

// unitsRestockedAfter returns how many units may have arrived after the purchase t was sent. If
// such units are left at the end, a refusal of t may have been right nevertheless.
func (h *evidence) unitsRestockedAfter(t *Call) int64 {
	units := int64(0)
	for _, o := range h.restocks {
		if o.Status == Cancelled && (!t.hasTimes() || h.restockedAt(o) > t.Sent) {
			units += o.Quantity
		}
	}
	return units
}

// restocksDiffer finds restocks for which the calls and the ledger differ. Either a call was told
// that units were added, and they are not in the stock. Or the ledger has a restock that no call
// asked for, or of which every call was told that nothing was added.
func restocksDiffer(h *evidence, tell func(examples, ...any)) {
	var broken examples
	for _, t := range h.restockCalls {
		arrived := slices.ContainsFunc(h.restocks, func(o *Order) bool {
			return o.RequestID == t.RequestID && o.UserID == t.User && o.Quantity == t.Quantity && o.Status == Cancelled
		})
		if t.Outcome == OutcomeRestocked && !arrived {
			broken.add(ofRestock, t.RequestID, t.Quantity)
		}
	}
	for _, o := range h.restocks {
		ours := h.Calls != nil && (h.Ours == nil || h.Ours(o))
		if ours && !slices.ContainsFunc(h.callsAbout(o), (*Call).maySucceed) {
			broken.add(ofRestock, o.RequestID, o.Quantity)
		}
	}
	if broken.count > 0 {
		tell(broken)
	}
}

// soldBeforeRestock finds orders for units that a restock added only later. Once units were added,
// the balance of a sale does not show such orders.
func soldBeforeRestock(h *evidence, broken *examples) {
	if h.report.Restocked > 0 {
		*broken = h.ordersBelowZero
	}
}
