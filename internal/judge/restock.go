package judge

import (
	"slices"
	"time"
)

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

// callsAbout returns the operator's calls that asked for the restock o.
func (e *evidence) callsAbout(o *Order) []*Call {
	var calls []*Call
	for _, c := range e.restockCalls {
		if c.RequestID == o.RequestID && c.User == o.UserID {
			calls = append(calls, c)
		}
	}
	return calls
}

// restockedAt returns when a restock's units had certainly arrived; never if no call was told so.
func (e *evidence) restockedAt(o *Order) time.Duration {
	first := never
	for _, c := range e.callsAbout(o) {
		if c.Outcome == OutcomeRestocked {
			first = min(first, c.answeredAt())
		}
	}
	return first
}

// unitsRestockedAfter returns how many units may have arrived after the purchase c was sent. If
// such units are left at the end, a refusal of c may have been right nevertheless.
func (e *evidence) unitsRestockedAfter(c *Call) int64 {
	units := int64(0)
	for _, o := range e.restocks {
		if o.Status == Cancelled && (!c.hasTimes() || e.restockedAt(o) > c.Sent) {
			units += o.Quantity
		}
	}
	return units
}

// restocksDiffer finds restocks for which the calls and the ledger differ. Either a call was told
// that units were added, and they are not in the stock. Or the ledger has a restock that no call
// asked for, or of which every call was told that nothing was added.
func restocksDiffer(e *evidence, broken *examples) {
	for _, c := range e.restockCalls {
		arrived := slices.ContainsFunc(e.restocks, func(o *Order) bool {
			return o.RequestID == c.RequestID && o.UserID == c.User && o.Quantity == c.Quantity && o.Status == Cancelled
		})
		if c.Outcome == OutcomeRestocked && !arrived {
			broken.add(ofRestock, c.RequestID, c.Quantity)
		}
	}
	for _, o := range e.restocks {
		ours := e.Calls != nil && (e.Ours == nil || e.Ours(o))
		if ours && !slices.ContainsFunc(e.callsAbout(o), (*Call).maySucceed) {
			broken.add(ofRestock, o.RequestID, o.Quantity)
		}
	}
}

// soldBeforeRestock finds orders for units that a restock added only later. Once units were added,
// the balance of a sale does not show such orders.
func soldBeforeRestock(e *evidence, broken *examples) {
	if e.report.Restocked > 0 {
		*broken = e.ordersBelowZero
	}
}
