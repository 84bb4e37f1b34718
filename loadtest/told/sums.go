package told

import (
	"cmp"
	"fmt"

	"seckill/internal/ledger"
)

// Sums adds the calls up, request by request, for books that are totals. A
// cancellation must name the order or the request of a sale in the file, as
// only the sale says how many units came back.
func (s *Sale) Sums() (all ledger.Sums, err error) {
	type key struct {
		user int64
		id   string
	}
	type request struct {
		quantity                                      int64
		sold, reserved, unknown, cancelled, mayCancel bool
		accepted, refused                             bool
	}
	requests, orders := map[key]*request{}, map[string]*request{}
	for i := range s.Told {
		t := &s.Told[i]
		if !t.Call.Is(ledger.CallBuy) {
			continue
		}
		k := key{t.User, t.RequestID}
		q := requests[k]
		if q == nil {
			q = &request{quantity: t.Quantity}
			requests[k] = q
			all.Requests++
			all.Wanted = least(all.Wanted, t.Quantity)
		}
		if q.quantity != t.Quantity {
			return all, fmt.Errorf("request %s of user %d asks for %d units in one line and for %d in another: calls of one request are equal",
				t.RequestID, t.User, q.quantity, t.Quantity)
		}
		switch t.Outcome {
		case ledger.OutcomeSold, ledger.OutcomeReserved:
			q.sold = q.sold || t.Outcome == ledger.OutcomeSold
			q.reserved = true
			if t.OrderID != "" {
				orders[t.OrderID] = q
			}
		case ledger.OutcomeUnknown:
			q.unknown = true
		case ledger.OutcomeAccepted:
			q.unknown, q.accepted = true, true
		case ledger.OutcomeDuplicate, ledger.OutcomeExpired:
			q.refused = true
		case ledger.OutcomeSoldOut:
			q.refused = true
			all.SoldOut = least(all.SoldOut, t.Quantity)
		}
	}
	for i := range s.Told {
		t := &s.Told[i]
		if t.Call.Is(ledger.CallBuy) {
			continue
		}
		q := orders[t.OrderID]
		if q == nil {
			q = requests[key{t.User, t.RequestID}]
		}
		switch {
		case q == nil:
			return all, fmt.Errorf("user %d cancels or pays order %s, and no sale in the file has it: record every sale with its order_id",
				t.User, cmp.Or(t.OrderID, "of request "+t.RequestID))
		case t.Call == ledger.CallPay:
			q.sold = q.sold || t.Outcome == ledger.OutcomeSold
		case t.Outcome == ledger.OutcomeCancelled:
			q.cancelled = true
		case t.Outcome == ledger.OutcomeUnknown || t.Outcome == ledger.OutcomeAccepted:
			q.mayCancel = true
		}
	}
	for _, q := range requests {
		switch {
		case q.sold, q.reserved && (q.cancelled || q.mayCancel):
			all.Sold += q.quantity
			if q.cancelled {
				all.Cancelled += q.quantity
			} else if q.mayCancel {
				all.MaybeCancelled += q.quantity
			}
		case q.unknown, q.reserved: // it may be held to the end
			all.Unknown += q.quantity
			if q.accepted && !q.refused {
				all.Accepted += q.quantity
			}
		}
	}
	return all, nil
}

// least is the smaller number; 0 stands for none yet.
func least(so, far int64) int64 {
	if so == 0 {
		return far
	}
	return min(so, far)
}
