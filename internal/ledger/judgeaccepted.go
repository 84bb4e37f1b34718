package ledger

import (
	"cmp"
	"fmt"
)

// Accepteds counts the requests whose buyers were told accepted, by what became
// of them. An accepted request is a promise: Lost ones break it.
type Accepteds struct {
	Requests int `json:"requests"`
	Ordered  int `json:"ordered"` // have an order, which may have been cancelled since
	Refused  int `json:"refused"` // afterwards, as the ledger remembers or the buyer was told
	Lost     int `json:"lost"`    // neither
}

func (a *Accepteds) and(o *Accepteds) *Accepteds {
	if a == nil || o == nil {
		return cmp.Or(a, o)
	}
	return &Accepteds{a.Requests + o.Requests, a.Ordered + o.Ordered, a.Refused + o.Refused, a.Lost + o.Lost}
}

// checkAccepted looks for promises that were not kept, after all orders.
func (t *Trial) checkAccepted() {
	type request struct {
		user int64
		id   string
	}
	refused := make(map[request]bool, len(t.Snapshot.Refusals))
	for _, r := range t.Snapshot.Refusals {
		refused[request{r.UserID, r.RequestID}] = true
	}
	var count Accepteds
	var lost examples
	b := t.buyers
	b.requests(func(at int, calls []int32) bool {
		first := b.promised(calls)
		if first == nil {
			return true
		}
		count.Requests++
		switch {
		case b.has[at]:
			count.Ordered++
		case refused[request{first.User, first.RequestID}] || b.refusedAfter(first, calls):
			count.Refused++
		default:
			count.Lost++
			lost.add(byRequest, first.User, first.RequestID)
		}
		return true
	})
	if count.Requests > 0 {
		t.report.Accepted = &count
	}
	t.breach(RuleLostRequest, "accepted requests that have neither an order nor a refusal", nil, lost)
}

// promised is the first call of a request that was told accepted; nil if none
// was.
func (b *buyers) promised(calls []int32) *Told {
	for _, i := range calls {
		if b.told[i].Outcome == OutcomeAccepted {
			return &b.told[i]
		}
	}
	return nil
}

// refusedAfter: a call of the request was refused for good, and not before it
// was accepted. busy, conflict and error say nothing about what was accepted.
func (b *buyers) refusedAfter(accepted *Told, calls []int32) bool {
	for _, i := range calls {
		t := &b.told[i]
		switch t.Outcome {
		case OutcomeSoldOut, OutcomeDuplicate, OutcomeExpired:
			if !t.timed() || !accepted.timed() || t.end() >= accepted.Sent {
				return true
			}
		}
	}
	return false
}

// checkAcceptedSums is checkAccepted without a record of single requests.
func (t *Trial) checkAcceptedSums(sold int64) {
	promised := t.Sums.Accepted
	for _, r := range t.Snapshot.Refusals {
		promised -= r.Quantity
	}
	least := t.Sums.Least()
	if missing := least + promised - sold; promised > 0 && sold >= least && missing > 0 {
		t.violate(RuleLostRequest, fmt.Sprintf("%d units were accepted and have neither an order nor a refusal", missing),
			Params{"units": missing}, examples{})
	}
}
