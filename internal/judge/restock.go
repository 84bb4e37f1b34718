package judge

import (
	"slices"
	"time"
)

// Restocked returns the units of all restocks of the run. Each restock is a row of Orders. Units that
// are not in the stock yet count, too.
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

// restockedAt returns when the units of the restock o had certainly arrived. It returns never if no answer said so.
func (e *evidence) restockedAt(o *Order) time.Duration {
	return firstToldAt(e.callsAbout(o), OutcomeRestocked)
}

// unitsRestockedAfter returns how many units may have arrived after the purchase c was sent. Even if these
// units are left at the end, it may have been right to refuse c.
func (e *evidence) unitsRestockedAfter(c *Call) int64 {
	units := int64(0)
	for _, o := range e.restocks {
		if o.Status == Cancelled && (!c.hasTimes() || e.restockedAt(o) > c.Sent) {
			units += o.Quantity
		}
	}
	return units
}

// restocksDiffer finds restocks for which the answers and the ledger differ. Either an answer said that units
// were added, and the ledger has no such restock. Or the ledger has a restock that no call asked for, or
// whose calls were all told that nothing was added.
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

// soldBeforeRestock finds orders for units that a restock added only later. After the restock, stock and
// orders balance again, so no other rule finds such orders.
func soldBeforeRestock(e *evidence, broken *examples) {
	if e.report.Restocked > 0 {
		*broken = e.ordersBelowZero
	}
}
