package ledger

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// buyers is what was told, put in order so that each order finds the calls that
// it answers. It holds 4 bytes a call and 1 a request beside Told itself.
type buyers struct {
	told     []Told
	buys     []int32               // calls to buy, by user, request and time
	has      []bool                // at a request's first place in buys: it has an order
	byOrder  []int32               // cancellations that name their order, by its id
	byKey    []int32               // … and the others, by user and request
	gone     map[int]time.Duration // by the same place: when the order's cancellation was sent
	paysBy   [2][]int32            // payments, as byOrder and byKey
	met      []bool                // by place in told: the order of the cancellation or payment is there
	doubtful []int64               // users who were told duplicate
	owned    []owned               // orders of those

	later    int64 // units of orders that buyers cancelled, or may have
	anyBack  bool  // an order was cancelled that no call explains: it may have been at any time
	backs    []span
	stood    standing
	patience time.Duration

	invented, unacknowledged, wrong, unasked, notCancelled    examples
	paidReleased, notPaid, paidLate, paidUnasked, early, held examples
}

// owned is an order of a buyer who was told duplicate.
type owned struct {
	user  int64
	key   string
	until time.Duration // when its cancellation was acknowledged; never if it was not
}

const never = time.Duration(math.MaxInt64)

// name is what a call that is no purchase calls its order.
func (t *Told) name() string { return cmp.Or(t.OrderID, "of request "+t.RequestID) }

// timed: the call's times are known, at least when it was sent.
func (t *Told) timed() bool { return t.Sent != 0 || t.Answered != 0 }

// end is when the call was answered; never if it was not, or at an unknown time.
func (t *Told) end() time.Duration {
	if t.Answered == 0 {
		return never
	}
	return t.Answered
}

// took: the call got what it asked for, or may have.
func (t *Told) took() bool {
	switch t.Outcome {
	case OutcomeSold, OutcomeReserved, OutcomeCancelled, OutcomeUnknown, OutcomeAccepted:
		return true
	}
	return false
}

// got: the call was told that the units are the buyer's, for good or until they
// are paid.
func (t *Told) got() bool { return t.Outcome == OutcomeSold || t.Outcome == OutcomeReserved }

func listen(told []Told, patience time.Duration) *buyers {
	b := &buyers{told: told, met: make([]bool, len(told)), gone: map[int]time.Duration{}, patience: patience}
	for i := range told {
		t, at := &told[i], int32(i)
		switch {
		case t.Call.Is(CallBuy):
			b.buys = append(b.buys, at)
			if t.Outcome == OutcomeDuplicate {
				b.doubtful = append(b.doubtful, t.User)
			}
		case t.Call == CallPay && t.OrderID != "":
			b.paysBy[0] = append(b.paysBy[0], at)
		case t.Call == CallPay:
			b.paysBy[1] = append(b.paysBy[1], at)
		case t.Call != CallCancel:
		case t.OrderID != "":
			b.byOrder = append(b.byOrder, at)
		default:
			b.byKey = append(b.byKey, at)
		}
	}
	b.has = make([]bool, len(b.buys))
	byKey := func(i, j int32) int {
		return cmp.Or(told[i].compare(told[j].User, told[j].RequestID), cmp.Compare(told[i].Sent, told[j].Sent))
	}
	slices.SortFunc(b.buys, byKey)
	byOrder := func(i, j int32) int { return strings.Compare(told[i].OrderID, told[j].OrderID) }
	slices.SortFunc(b.byKey, byKey)
	slices.SortFunc(b.byOrder, byOrder)
	slices.SortFunc(b.paysBy[0], byOrder)
	slices.SortFunc(b.paysBy[1], byKey)
	slices.Sort(b.doubtful)
	return b
}

func (t *Told) compare(user int64, requestID string) int {
	return cmp.Or(cmp.Compare(t.User, user), strings.Compare(t.RequestID, requestID))
}

// requests ranges over the requests: the place of each in buys, and its calls.
func (b *buyers) requests(yield func(at int, calls []int32) bool) {
	for at := 0; at < len(b.buys); {
		end := b.endOf(at)
		if !yield(at, b.buys[at:end]) {
			return
		}
		at = end
	}
}

// endOf is the place behind the last call of the request that begins at a place.
func (b *buyers) endOf(at int) int {
	first, end := &b.told[b.buys[at]], at+1
	for end < len(b.buys) && b.told[b.buys[end]].compare(first.User, first.RequestID) == 0 {
		end++
	}
	return end
}

// order hears what was said about o, and remembers what has to wait.
func (b *buyers) order(o *Order) {
	key := func(i int32, _ struct{}) int { return b.told[i].compare(o.UserID, o.RequestID) }
	sent, until := b.cancelled(o, key)
	if _, ok := slices.BinarySearch(b.doubtful, o.UserID); ok {
		b.owned = append(b.owned, owned{o.UserID, o.RequestID, until})
	}
	at, found := slices.BinarySearchFunc(b.buys, struct{}{}, key)
	if !found {
		b.invented.add(orderOf, o.PublicID, o.UserID)
		return
	}
	b.has[at] = true
	if sent < never {
		b.gone[at] = sent
	}
	calls := b.buys[at:b.endOf(at)]
	settled, waiting := false, true
	for _, i := range calls {
		t := &b.told[i]
		settled = settled || t.took()
		waiting = waiting && t.Outcome == OutcomeInProgress
		if t.got() && (o.PublicID != t.OrderID || o.Quantity != t.Quantity || o.Remaining != t.Remaining) {
			b.wrong.add(toldOther,
				t.User, t.OrderID, t.Quantity, t.Remaining, o.PublicID, o.Quantity, o.Remaining)
		}
	}
	if !settled && !waiting {
		b.unacknowledged.add(orderOf, o.PublicID, o.UserID)
	}
	b.paid(o, key, calls)
	b.stood.sold(b, o, calls)
}

// naming visits the calls that name an order by its id, or by its request.
func (b *buyers) naming(o *Order, key func(int32, struct{}) int, byOrder, byKey []int32, visit func(*Told)) {
	look := func(list []int32, at int, same func(int32) bool) {
		for ; at < len(list) && same(list[at]); at++ {
			b.met[list[at]] = true
			visit(&b.told[list[at]])
		}
	}
	at, _ := slices.BinarySearchFunc(byOrder, o.PublicID, func(i int32, id string) int { return strings.Compare(b.told[i].OrderID, id) })
	look(byOrder, at, func(i int32) bool { return b.told[i].OrderID == o.PublicID })
	at, _ = slices.BinarySearchFunc(byKey, struct{}{}, key)
	look(byKey, at, func(i int32) bool { return key(i, struct{}{}) == 0 })
}

// other hears of an order that is of no buyer here. It may come back at any time.
func (b *buyers) other(o *Order) {
	if _, ok := slices.BinarySearch(b.doubtful, o.UserID); ok {
		b.owned = append(b.owned, owned{o.UserID, o.RequestID, never})
	}
	if o.Status != Active {
		b.anyBack = true
		b.stood.back(never, o.Quantity)
	}
}

// cancelled compares the state of o with what was said of its cancellation. It
// returns when that was sent first, and when it was acknowledged.
func (b *buyers) cancelled(o *Order, key func(int32, struct{}) int) (sent, until time.Duration) {
	asked, acknowledged, end := false, false, time.Duration(0)
	sent, until = never, never
	b.naming(o, key, b.byOrder, b.byKey, func(t *Told) {
		if !t.took() && t.Outcome != OutcomeInProgress {
			return
		}
		asked = true
		sent = min(sent, t.Sent)
		done := never // without an answer it may take place at any time
		if t.Outcome == OutcomeCancelled {
			done = t.end()
			acknowledged, until = true, min(until, done)
		}
		end = max(end, done)
		b.backs = append(b.backs, span{t.Sent, done})
	})
	if asked {
		b.later += o.Quantity
	}
	switch {
	case o.Status == Expired: // at the deadline, or whenever a sweeper came
		b.anyBack = true
		b.stood.back(never, o.Quantity)
		return sent, until
	case o.Status == Cancelled && !asked:
		b.anyBack = true
		b.unasked.add(orderOf, o.PublicID, o.UserID)
		b.stood.back(never, o.Quantity)
	case o.Status == Cancelled:
		if acknowledged {
			end = until
		}
		b.stood.back(end, o.Quantity)
		return sent, until
	case acknowledged:
		b.notCancelled.add(orderIs, o.PublicID, o.UserID, o.Status)
	}
	return sent, never
}
