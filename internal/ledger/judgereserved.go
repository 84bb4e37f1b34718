package ledger

import "seckill/internal/seckill"

// Reservations have an end for each way in which pay, cancel and expire can meet:
//
//	the buyer was told      the order must be
//	paid                    active and paid, or cancelled by the buyer
//	expired (of a payment)  expired, or cancelled: never active
//	cancelled               cancelled or expired: never active (RuleNotCancelled)
//	nothing                 anything but cancelled (RuleCancelledUnasked), and paid
//	                        only if a payment was asked for
//
// No payment succeeds after the deadline, and none is too late before it. Besides,
// without a word from any buyer: what is paid is not expired, nothing gives back more
// than it held, and nothing is held for long after its deadline.

// overdueGrace is how long after its deadline a reservation may hold its units, in
// microseconds: sweepers come twice a second.
const overdueGrace = 5_000_000

// unpaid: the order is a reservation that its buyer has not paid.
func (o *Order) unpaid() bool {
	return o.Reservation != nil && o.Status == Active && o.Reservation.State != seckill.Paid
}

// Undecided: the order is a reservation that may yet be paid, or that a sweeper
// may yet give back in time.
func (o *Order) Undecided() bool { return o.unpaid() && o.Reservation.Left >= -overdueGrace }

// reserved is what the ledger alone says of reservations.
type reserved struct{ paidReleased, twice, held examples }

func (r *reserved) order(o *Order) {
	has := o.Reservation
	if has == nil {
		return
	}
	if has.State == seckill.Paid && (o.Status == Expired || has.Released > 0) {
		r.paidReleased.add(orderOf, o.PublicID, o.UserID)
	}
	if has.Released > o.Quantity {
		r.twice.add(releasedMore, o.PublicID, o.UserID, o.Quantity, has.Released)
	}
	if o.unpaid() && has.Left < -overdueGrace {
		r.held.add(heldTo, o.PublicID, o.UserID, o.Quantity)
	}
}

// paid compares an order with what was said of its payment. A purchase that was
// told sold, not reserved, was paid by the same call.
func (b *buyers) paid(o *Order, key func(int32, struct{}) int, calls []int32) {
	asked, acknowledged, late, early, expired := false, false, false, false, false
	b.naming(o, key, b.paysBy[0], b.paysBy[1], func(t *Told) {
		asked = asked || t.took() || t.Outcome == OutcomeInProgress
		acknowledged = acknowledged || t.Outcome == OutcomeSold
		late = late || t.Late && t.Outcome == OutcomeSold
		expired = expired || t.Outcome == OutcomeExpired
		early = early || t.Early && t.Outcome == OutcomeExpired
	})
	for _, i := range calls {
		outcome := b.told[i].Outcome
		acknowledged = acknowledged || outcome == OutcomeSold
		asked = asked || outcome != OutcomeReserved && b.told[i].took()
	}
	if late {
		b.paidLate.add(orderOf, o.PublicID, o.UserID)
	}
	if early {
		b.early.add(orderOf, o.PublicID, o.UserID)
	}
	state := seckill.Paid // of an order that began as no reservation
	if o.Reservation != nil {
		state = o.Reservation.State
	}
	switch {
	case acknowledged && o.Status == Expired:
		b.paidReleased.add(orderOf, o.PublicID, o.UserID)
	case acknowledged && o.Status == Active && state != seckill.Paid:
		b.notPaid.add(orderOf, o.PublicID, o.UserID)
	case expired && o.Status == Active:
		b.held.add(heldTo, o.PublicID, o.UserID, o.Quantity)
	case o.Reservation != nil && state == seckill.Paid && !asked && !acknowledged:
		b.paidUnasked.add(orderOf, o.PublicID, o.UserID)
	}
}

// missingPayments looks at the payments whose order is not there.
func (b *buyers) missingPayments() {
	for _, list := range b.paysBy {
		for _, i := range list {
			if t := &b.told[i]; !b.met[i] && t.Outcome == OutcomeSold {
				b.notPaid.add(notInLedger, t.name(), t.User)
			}
		}
	}
}

// checkReserved reports what is wrong with reservations. An order that both the
// ledger and its buyer complain about counts twice.
func (t *Trial) checkReserved() {
	r := &t.reserved
	if t.buyers != nil {
		b := t.buyers
		b.missingPayments()
		r.paidReleased.join(b.paidReleased)
		r.held.join(b.held)
		t.breach(RuleNotPaid, "payments that buyers were told of and the ledger does not have", nil, b.notPaid)
		t.breach(RulePaidLate, "payments that succeeded after the deadline", nil, b.paidLate)
		t.breach(RuleExpiredEarly, "reservations that were said to have expired before their deadline", nil, b.early)
		t.breach(RulePaidUnasked, "reservations that are paid and whose buyers did not pay", nil, b.paidUnasked)
	}
	t.breach(RulePaidReleased, "reservations that were paid, and whose units were given back", nil, r.paidReleased)
	t.breach(RuleReleasedTwice, "reservations that gave back more than they held", nil, r.twice)
	t.breach(RuleExpiredHeld, "reservations that have expired and still hold their units", nil, r.held)
}
