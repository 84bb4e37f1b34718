package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// checkTold compares the ledger with what the buyers were told, both ways.
func (t *Trial) checkTold() {
	b := t.buyers
	var missing, differ, refused, duplicate, turnedAway examples
	demand := false
	b.missingCancellations()
	slices.SortFunc(b.owned, func(a, b owned) int { return cmp.Compare(a.user, b.user) })
	cancelling := newSpans(b.backs)
	b.requests(func(at int, calls []int32) bool {
		first := &b.told[calls[0]]
		demand = demand || first.Quantity <= t.Initial
		var sold *Told
		for _, i := range calls {
			now := &b.told[i]
			switch {
			case !now.got():
			case sold == nil:
				sold = now
			case sold.OrderID != now.OrderID || sold.Remaining != now.Remaining:
				differ.add(toldTwice,
					now.User, sold.OrderID, sold.Remaining, now.OrderID, now.Remaining, now.RequestID)
			}
		}
		if sold != nil && !b.has[at] {
			missing.add(gotNoOrder, sold.User, sold.OrderID)
		}
		if sold != nil || b.has[at] {
			b.refusals(at, calls, cancelling, &refused)
		}
		return true
	})
	b.duplicates(&duplicate)
	// A stock only shrinks, but for cancellations: what is left at the end and
	// was not given back has been there all the time.
	always := t.report.Remaining - max(t.gaveBack, b.later) - t.expired
	for _, i := range b.buys {
		if told := &b.told[i]; told.Outcome == OutcomeSoldOut && told.Quantity <= always && !t.storesDiffer {
			turnedAway.add(turnedAwayOf, told.User, told.Quantity)
		}
	}
	t.breach(RuleMissingOrder, "sales that buyers were told of and the ledger does not have", nil, missing)
	t.breach(RuleWrongReceipt, "sales that the ledger has otherwise than the buyer was told", nil, b.wrong)
	t.breach(RuleTwoAnswers, "requests that were acknowledged twice, with different answers", nil, differ)
	t.breach(RuleUnacknowledged, "orders of buyers who were told that they got nothing", nil, b.unacknowledged)
	t.breach(RuleKeyRefused, "requests that have an order and were refused in a copy or when they were sent again", nil, refused)
	t.breach(RuleFalseDuplicate, "buyers who were told that they have an order already, and had none", nil, duplicate)
	t.breach(RuleNotCancelled, "cancellations that buyers were told of and that did not take place", nil, b.notCancelled)
	t.breach(RuleCancelledUnasked, "cancelled orders that their buyers did not cancel", nil, b.unasked)
	t.breach(RuleInvented, "orders that no buyer of this run asked for", nil, b.invented)
	t.breach(RuleUndersold, fmt.Sprintf("buyers told sold out while at least %d units were there to the end", always),
		Params{"left": always}, turnedAway)
	if demand && t.report.Orders+t.report.Cancelled+t.report.Expired+t.bad.count == 0 {
		t.violate(RuleNothingSold, fmt.Sprintf("%d requests for a stock of %d, and not one order", len(b.buys), t.Initial),
			Params{"requests": len(b.buys), "stock": t.Initial}, examples{})
	}
}

// missingCancellations looks at the cancellations whose order is not there.
func (b *buyers) missingCancellations() {
	for _, list := range [][]int32{b.byOrder, b.byKey} {
		for _, i := range list {
			t := &b.told[i]
			if b.met[i] || !t.took() {
				continue
			}
			b.later += t.Quantity
			if t.Outcome == OutcomeCancelled {
				b.notCancelled.add(notInLedger, t.name(), t.User)
			}
		}
	}
}

// onItsWay is longer than a call or its answer takes between buyer and service,
// also on a machine that is full. Of two copies sent at once, one may be
// refused as busy before the other one arrives.
//
// It is a bound and not exact, although all times are of one clock: they say
// when a call left the buyer and when its answer was there, and not when the
// service had it. All that they prove of two calls that overlap is nothing: the
// call that was sold may have reached the service after the refusal was written,
// however long ago it was sent. (sold_out is different. It is a claim about the
// stock, which cannot come back by itself.) A judge without a bound would count
// only refusals that were sent after the order had been acknowledged, and miss a
// service that keeps a copy waiting for its own key and then calls it busy.
const onItsWay = 50 * time.Millisecond

// refusals finds the calls of one request that were refused although the
// request has the order, or was getting it. That is so for a refusal that
// overlaps or follows the call that got the order; it is not when the refusal
// had ended before a later call that may have got the order was sent.
//
//   - A call without an answer may have got the order at any time after it was
//     sent, also after the refusal (its process was paused). It counts against
//     sold_out and duplicate only, whose reason does not pass.
//   - sold_out beside the call that got the order is no proof when a buyer
//     cancelled meanwhile: the unit may have come back.
//   - duplicate is none when the buyer had an order of another request.
//   - busy and conflict pass within a moment: they count when the order had been
//     acknowledged before, or had been on its way for longer than onItsWay.
//   - What a buyer is told after cancelling the order is not counted.
//   - A refusal without times is never counted, nor is one beside calls without
//     times: it may have come before the retry that succeeded.
//   - Of a refusal whose Answered alone is unknown, Sent is taken: it may have
//     ended at once.
func (b *buyers) refusals(at int, calls []int32, cancelling spans, found *examples) {
	gone, cancelled := b.gone[at]
	acknowledged := never // when the request was first told sold
	for _, i := range calls {
		if t := &b.told[i]; t.took() && !t.timed() {
			return
		} else if t.got() {
			acknowledged = min(acknowledged, t.end())
		}
	}
	for _, i := range calls {
		r := &b.told[i]
		if !r.timed() || cancelled && r.end() >= gone {
			continue
		}
		ended := cmp.Or(r.Answered, r.Sent)
		under, underLong := false, false // way: a call that may have got the order
		retried := false
		for _, k := range calls {
			c := &b.told[k]
			if !c.took() {
				continue
			}
			under = true
			retried = retried || c.Sent >= ended && c.Sent <= acknowledged
			underLong = underLong || c.got() && r.Sent >= c.Sent+onItsWay && r.Sent <= c.end()
		}
		if !under || retried {
			continue
		}
		follows := r.Sent >= acknowledged
		wrong := false
		switch r.Outcome {
		case OutcomeSoldOut:
			wrong = follows || !b.anyBack && !cancelling.meet(r.Sent, acknowledged)
		case OutcomeDuplicate:
			wrong = !b.owns(r.User, func(o owned) bool { return o.key != r.RequestID })
		case OutcomeBusy, OutcomeConflict:
			wrong = follows || underLong || acknowledged < never && ended >= acknowledged+onItsWay
		}
		if wrong {
			found.add(requestBought, r.User, r.Outcome, r.RequestID)
		}
	}
}

// owns: a buyer who was told duplicate has an order that fits.
func (b *buyers) owns(user int64, fits func(owned) bool) bool {
	at, _ := slices.BinarySearchFunc(b.owned, user, func(o owned, user int64) int { return cmp.Compare(o.user, user) })
	for ; at < len(b.owned) && b.owned[at].user == user; at++ {
		if fits(b.owned[at]) {
			return true
		}
	}
	return false
}

// duplicates finds buyers who were told that they have an order already and can
// have had none: no order of another request that was active during the call,
// and no other call of theirs that may have held the place for a while. (One
// that overlaps may have, whatever it was told in the end; one without an answer
// may have from when it was sent.) A refusal of the very request that has the
// order is a matter of refusals.
func (b *buyers) duplicates(found *examples) {
	for at := 0; at < len(b.buys); {
		user, end, told := b.told[b.buys[at]].User, at, false
		for ; end < len(b.buys) && b.told[b.buys[end]].User == user; end++ {
			told = told || b.told[b.buys[end]].Outcome == OutcomeDuplicate
		}
		if told {
			calls := b.buys[at:end]
			for _, i := range calls {
				if t := &b.told[i]; t.Outcome == OutcomeDuplicate && !b.explained(t, calls) {
					found.add(byRequest, t.User, t.RequestID)
				}
			}
		}
		at = end
	}
}

func (b *buyers) explained(t *Told, calls []int32) bool {
	if b.owns(t.User, func(o owned) bool {
		return o.key != t.RequestID && (!t.timed() || t.end() >= b.born(o, calls) && t.Sent <= o.until)
	}) {
		return true
	}
	for _, i := range calls {
		c := &b.told[i]
		same := c.RequestID == t.RequestID
		switch {
		case c == t || c.Outcome == OutcomeDuplicate:
		case same && c.got(), !c.timed(), !t.timed(),
			c.Sent <= t.end() && t.Sent <= c.end(),
			c.Sent <= t.end() && !c.got() && c.took():
			return true
		}
	}
	return false
}

// born is when an order can have been written at the earliest.
func (b *buyers) born(o owned, calls []int32) time.Duration {
	first := never
	for _, i := range calls {
		if c := &b.told[i]; c.RequestID == o.key {
			first = min(first, c.Sent) // 0 where it is not known
		}
	}
	if first == never {
		return 0 // no call asked for it
	}
	return first
}

// A span is a stretch of time. spans find whether any of many meets another.
type span struct{ from, to time.Duration }

type spans struct {
	sorted []span
	latest []time.Duration // the end of the longest of sorted[:i+1]
}

func newSpans(all []span) spans {
	s := spans{sorted: all, latest: make([]time.Duration, len(all))}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i, one := range all {
		if s.latest[i] = one.to; i > 0 {
			s.latest[i] = max(s.latest[i], s.latest[i-1])
		}
	}
	return s
}

func (s spans) meet(from, to time.Duration) bool {
	i, _ := slices.BinarySearchFunc(s.sorted, to, func(a span, to time.Duration) int {
		if a.from <= to {
			return -1
		}
		return 1
	})
	return i > 0 && s.latest[i-1] >= from
}
