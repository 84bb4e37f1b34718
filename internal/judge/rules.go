// Package judge finds out from a snapshot of the ledger and from what buyers were told
// whether a sale kept its promises. It is pure: values in, a Report out. The service, the
// tests, the proof and the load generator share it.
package judge

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"seckill/internal/seckill"
)

// Rules, by the names that violations carry.
const (
	RuleOversold         = "oversold"               // Σ active ≤ initial
	RuleNegative         = "negative_stock"         // remaining ≥ 0
	RuleLostUpdate       = "lost_update"            // remaining + Σ active ≤ initial
	RuleLostUnits        = "lost_units"             // remaining + Σ active ≥ initial
	RuleTwice            = "bought_twice"           // one active order a user
	RuleBadOrder         = "bad_order"              // an order has a quantity of at least 1 and a known state
	RuleMissingOrder     = "missing_order"          // every acknowledged sale has its order
	RuleWrongReceipt     = "wrong_receipt"          // … and the order says what the buyer was told, each time
	RuleUnacknowledged   = "unacknowledged_order"   // every order was acknowledged or unknown
	RuleInvented         = "invented_order"         // every order was asked for
	RuleUndersold        = "undersold"              // no buyer is told sold out while their quantity stays
	RuleNothingSold      = "nothing_sold"           // demand without any order
	RuleInitialChanged   = "initial_changed"        // the ledger's initial stock is the one that was set
	RuleMixedStores      = "mixed_stocks"           // one run, one stock store
	RuleStraggler        = "straggler"              // orders belong to this run
	RuleUnknownStore     = "unknown_stock"          // the stock store's own count could be read
	RuleCounterDisagrees = "counter_and_row_differ" // a counter agrees with the row that follows it, or stands behind it
	RuleUnusedCounter    = "unused_counter_changed" // a counter that no order of the run used has what was set
	RuleNotLinearizable  = "not_linearizable"       // some order of the purchases, one at a time, explains every answer
	RuleKeyRefused       = "key_refused"            // a request that has the order is not refused in a copy
	RuleFalseDuplicate   = "false_duplicate"        // a buyer told duplicate has another order
	RuleNotCancelled     = "not_cancelled"          // every acknowledged cancellation took place
	RuleCancelledUnasked = "cancelled_unasked"      // every cancelled order was cancelled by its buyer
	RuleLostRequest      = "lost_request"           // every accepted request has an order or a refusal in the end
	RulePaidReleased     = "paid_released"          // what was paid, or is told to be, does not expire
	RulePaidLate         = "paid_late"              // no payment succeeds after the deadline
	RuleNotPaid          = "not_paid"               // every acknowledged payment took place
	RulePaidUnasked      = "paid_unasked"           // every payment was asked for
	RuleExpiredEarly     = "expired_early"          // nothing expires before its deadline
	RuleExpiredHeld      = "expired_held"           // what has expired holds no units
	RuleReleasedTwice    = "released_twice"         // a reservation gives back what it held, and no more
)

// A rule is checked against the evidence by itself. Its message is a format whose
// first arguments have the names in params.
type rule struct {
	name         string
	verdict      Verdict // what breaking it alone makes of a run
	says, params string
	check        check
}

// A check tells each breach: the examples of it, and what the message says.
type check func(h *evidence, tell func(broken examples, args ...any))

// rules are all, in the order in which a report has them.
//
// Reservations have an end for each way in which pay, cancel and expire can meet:
//
//	the buyer was told      the order must be
//	paid                    active and paid, or cancelled by the buyer
//	expired (of a payment)  expired, or cancelled: never active
//	cancelled               cancelled or expired: never active (RuleNotCancelled)
//	nothing                 anything but cancelled (RuleCancelledUnasked), and paid
//	                        only if a payment was asked for
//
// The balance is an equation: what is left and what was sold make up what was there.
// What is left is what the run's stock store says: the row, or a counter. A counter is
// compared with the row besides, where each comparison can fail by itself.
var rules = []rule{
	{RuleBadOrder, Lost, "orders that cannot be: no units, or an unknown state", "", orders((*orderRecord).isMalformed)},
	{RuleTwice, Lost, "users with more than one active order", "", shown(boughtTwice)},

	{RuleNotPaid, Lost, "payments that buyers were told of and the ledger does not have", "", notDone(OutcomeSold, isNotPaid)},
	{RulePaidLate, Lost, "payments that succeeded after the deadline", "", answered(isPaidLate)},
	{RuleExpiredEarly, Lost, "reservations that were said to have expired before their deadline", "", answered(isExpiredEarly)},
	{RulePaidUnasked, Lost, "reservations that are paid and whose buyers did not pay", "", answered(isPaidUnasked)},
	{RulePaidReleased, Lost, "reservations that were paid, and whose units were given back", "", orders(isPaidReleased)},
	{RuleReleasedTwice, Lost, "reservations that gave back more than they held", "", orders(isReleasedTwice)},
	{RuleExpiredHeld, Lost, "reservations that have expired and still hold their units", "", orders(isExpiredHeld)},

	{RuleInitialChanged, NotValid, "the sale was reset by another client: it was set to %d units in run %d, the ledger says %d units in run %d",
		"initial run found found_run", initialChanged},
	{RuleStraggler, NotValid, "orders of other runs than %d", "run", stragglers},
	{RuleMixedStores, NotValid, "strategies that keep their stock in different places sold in one run", "", shown(mixedStores)},

	{RuleOversold, Oversold, "%d units sold out of %d: %d too many", "sold stock", oversold},
	{RuleUnusedCounter, Lost, "%s was set to %d and says %d, but no order of this run was sold from there", "store stock counted", unusedCounters},
	{RuleUnknownStore, NotValid, "what is left in %s could not be read", "store", unknownStore},
	{RuleCounterDisagrees, Lost, "%s says that %d are left, the stock row says %d", "store counted row", counterDisagrees},
	{RuleNegative, Lost, "the stock is %d", "left", negative},
	{RuleLostUpdate, Lost, "%d left + %d sold = %[4]d, %[5]d more than the %[3]d there were: " +
		"deductions were overwritten, or units given back twice", "left sold stock", lostUpdate},
	{RuleLostUnits, Lost, "%d left + %d sold = %[4]d, %[5]d fewer than the %[3]d there were: units vanished without an order",
		"left sold stock", lostUnits},

	{RuleMissingOrder, Lost, "sales that buyers were told of and the ledger does not have", "", requests(lacksOrder)},
	{RuleWrongReceipt, Lost, "sales that the ledger has otherwise than the buyer was told", "", answered(hasWrongReceipt)},
	{RuleUnacknowledged, Lost, "orders of buyers who were told that they got nothing", "", answered(isUnacknowledged)},
	{RuleKeyRefused, Lost, "requests that have an order and were refused in a copy or when they were sent again", "", requests(isKeyRefused)},
	{RuleFalseDuplicate, Lost, "buyers who were told that they have an order already, and had none", "", requests(isFalseDuplicate)},
	{RuleNotCancelled, Lost, "cancellations that buyers were told of and that did not take place", "", notDone(OutcomeCancelled, isNotCancelled)},
	{RuleCancelledUnasked, Lost, "cancelled orders that their buyers did not cancel", "", answered(isCancelledUnasked)},
	{RuleInvented, Lost, "orders that no buyer of this run asked for", "", answered(isInvented)},
	{RuleUndersold, Lost, "buyers told sold out although units were there to the end: at least %d", "left", undersold},
	{RuleNothingSold, Lost, "%d requests for a stock of %d, and not one order", "requests stock", nothingSold},
	{RuleLostRequest, Lost, "accepted requests that have neither an order nor a refusal", "", requests(isLostRequest)},
}

// Judge is the one judge of the project. It is pure: the same evidence always
// gets the same report, with every violation in it, not only the first.
func Judge(e Evidence) Report {
	h := collectEvidence(e)
	h.check(rules)
	if e.Calls != nil {
		h.report.Served = h.findStandstill()
	}
	return h.report
}

func (h *evidence) check(rules []rule) {
	for _, r := range rules {
		r.check(h, func(broken examples, args ...any) { h.report.add(r, broken, args) })
	}
}

// shown is the check of a rule that each example breaks.
func shown(look func(h *evidence, broken *examples)) check {
	return func(h *evidence, tell func(examples, ...any)) {
		var broken examples
		if look(h, &broken); broken.count > 0 {
			tell(broken)
		}
	}
}

// singly has the rules that an order breaks by itself. Without Told only such orders are kept.
var singly []func(*orderRecord) bool

// orders is the check of a rule that each order keeps, or breaks, by itself.
func orders(breaks func(*orderRecord) bool) check {
	singly = append(singly, breaks)
	return shown(func(h *evidence, broken *examples) {
		for _, s := range h.records {
			if breaks(s) {
				broken.addOrder(s.Order)
			}
		}
	})
}

// answered is orders for those of the buyers whose answers are known.
func answered(breaks func(*orderRecord) bool) check {
	return orders(func(s *orderRecord) bool { return s.isOurs && breaks(s) })
}

// notDone is the check of what buyers were told to have done to their orders: breaks
// finds the orders to which it was not done, and some orders may not be there at all.
func notDone(told Outcome, breaks func(*orderRecord) bool) check {
	return shown(func(h *evidence, broken *examples) {
		for _, s := range h.records {
			if breaks(s) {
				broken.addOrder(s.Order)
			}
		}
		for _, t := range h.unmatchedCalls {
			if t.Outcome == told {
				broken.add(ofRequest, t.User, t.RequestID)
			}
		}
	})
}

// requests is the check of a rule about each request.
func requests(breaks func(*evidence, *request) bool) check {
	return shown(func(h *evidence, broken *examples) {
		for i := range h.requests {
			if r := &h.requests[i]; breaks(h, r) {
				broken.add(ofRequest, r.user, r.key)
			}
		}
	})
}

// bad: no order can be like this.
func (o *Order) isMalformed() bool {
	return o.Quantity < 1 || o.Status != Active && o.Status != Cancelled && o.Status != Expired
}

func boughtTwice(h *evidence, broken *examples) { *broken = h.severalOrders }

// overdueGrace is how long after its deadline a reservation may hold its units, in
// microseconds: sweepers come twice a second.
const overdueGrace = 5_000_000

// unpaid: the order is a reservation that its buyer has not paid.
func (o *Order) isUnpaid() bool {
	return o.Reservation != nil && o.Status == Active && o.Reservation.State != seckill.Paid
}

// paid: the order began as a reservation, and the ledger says that it is paid.
func (o *Order) isPaid() bool { return o.Reservation != nil && o.Reservation.State == seckill.Paid }

// Undecided: the order is a reservation that may yet be paid, or that a sweeper
// may yet give back in time.
func (o *Order) Undecided() bool { return o.isUnpaid() && o.Reservation.Left >= -overdueGrace }

// toldPaid: the buyer was told so, of a payment or of a purchase that was no
// reservation.
func (s *orderRecord) wasToldPaid() bool {
	return anyOutcome(s.payments, OutcomeSold) || s.request != nil && anyOutcome(s.request.calls, OutcomeSold)
}

func isNotPaid(s *orderRecord) bool { return s.isUnpaid() && s.wasToldPaid() }

func isPaidLate(s *orderRecord) bool {
	return slices.ContainsFunc(s.payments, func(t *Call) bool { return t.Late && t.Outcome == OutcomeSold })
}

func isExpiredEarly(s *orderRecord) bool {
	return slices.ContainsFunc(s.payments, func(t *Call) bool { return t.Early && t.Outcome == OutcomeExpired })
}

// paidUnasked leaves it to expiredHeld and paidReleased that a payment was asked
// for, and said to have come too late.
func isPaidUnasked(s *orderRecord) bool {
	if !s.isPaid() || s.request == nil || anyOutcome(s.payments, OutcomeInProgress, OutcomeExpired) || slices.ContainsFunc(s.payments, (*Call).maySucceed) {
		return false
	}
	return !slices.ContainsFunc(s.request.calls, func(t *Call) bool { return t.maySucceed() && t.Outcome != OutcomeReserved })
}

func isPaidReleased(s *orderRecord) bool {
	return s.Status == Expired && (s.isPaid() || s.wasToldPaid()) || s.isPaid() && s.Reservation.Released > 0
}

func isReleasedTwice(s *orderRecord) bool {
	return s.Reservation != nil && s.Reservation.Released > s.Quantity
}

func isExpiredHeld(s *orderRecord) bool {
	return s.isUnpaid() && s.Reservation.Left < -overdueGrace || s.Status == Active && anyOutcome(s.payments, OutcomeExpired)
}

func initialChanged(h *evidence, tell func(examples, ...any)) {
	if s := h.Snapshot.Stock; s.Initial != h.Initial || h.Run != 0 && s.Run != h.Run {
		tell(examples{}, h.Initial, h.Run, s.Initial, s.Run)
	}
}

func stragglers(h *evidence, tell func(examples, ...any)) {
	var broken examples
	for _, s := range h.records {
		if s.Run != h.Snapshot.Stock.Run {
			broken.addOrder(s.Order)
		}
	}
	if broken.count > 0 {
		tell(broken, h.Snapshot.Stock.Run)
	}
}

func mixedStores(h *evidence, broken *examples) {
	if !h.hasMixedStores() {
		return
	}
	for _, stockStore := range slices.Sorted(maps.Keys(h.stores)) {
		broken.addOrder(h.stores[stockStore])
	}
}

// oversold counts wherever the stock is kept. A reservation has taken its units.
func oversold(h *evidence, tell func(examples, ...any)) {
	if sold := h.unitsHeld(); h.ordersBeyondStock.count > 0 {
		tell(h.ordersBeyondStock, sold, h.Initial, sold-h.Initial)
	}
}

// unusedCounters looks at the counters that no order of the run was sold from: a
// buyer who took units there and died before the order was written left no
// other trace.
func unusedCounters(h *evidence, tell func(examples, ...any)) {
	for _, stockStore := range slices.Sorted(maps.Keys(h.Snapshot.StockStores)) {
		counted := h.Snapshot.StockStores[stockStore]
		if !h.hasMixedStores() && stockStore != h.report.StockStore.Counter() && counted != h.Initial {
			tell(examples{}, stockStore, h.Initial, counted)
		}
	}
}

func unknownStore(h *evidence, tell func(examples, ...any)) {
	if !h.stockKnown && !h.hasMixedStores() {
		tell(examples{}, h.report.StockStore.Counter())
	}
}

// counterDisagrees: where the row is written by every purchase (a lock table's
// count, the row behind a number in Redis) counter and row are two witnesses.
// Where the stock is sold aside from the row (Aside) no purchase touches it: it
// has what was set, and anything else was written by others.
func counterDisagrees(h *evidence, tell func(examples, ...any)) {
	counter, row := h.report.StockStore.Counter(), h.Snapshot.Stock.Num
	untouched := h.report.StockStore.Aside() && row == h.Snapshot.Stock.Initial
	if h.stockKnown && counter != "" && h.counterSays != row && !untouched {
		tell(examples{}, counter, h.counterSays, row)
	}
}

func negative(h *evidence, tell func(examples, ...any)) {
	if h.stockKnown && h.report.Remaining < 0 {
		tell(h.ordersBelowZero, h.report.Remaining)
	}
}

func lostUpdate(h *evidence, tell func(examples, ...any)) {
	left, sold := h.report.Remaining, h.unitsHeld()
	if more := left + sold - h.Initial; h.stockKnown && more > 0 {
		tell(h.unitHolders().findShared(), left, sold, h.Initial, left+sold, more)
	}
}

func lostUnits(h *evidence, tell func(examples, ...any)) {
	left, sold := h.report.Remaining, h.unitsHeld()
	if fewer := h.Initial - left - sold; h.stockKnown && fewer > 0 {
		tell(examples{}, left, sold, h.Initial, left+sold, fewer)
	}
}

// got is the first call of r that was told that it got the units; nil if none was.
func (r *request) firstSuccess() *Call {
	if i := slices.IndexFunc(r.calls, (*Call).succeeded); i >= 0 {
		return r.calls[i]
	}
	return nil
}

func lacksOrder(_ *evidence, r *request) bool { return r.firstSuccess() != nil && r.order == nil }

func hasWrongReceipt(s *orderRecord) bool {
	return s.request != nil && slices.ContainsFunc(s.request.calls, func(t *Call) bool {
		return t.succeeded() && (s.PublicID != t.OrderID || s.Quantity != t.Quantity || s.Remaining != t.Remaining)
	})
}

// unacknowledged finds orders that a call bought which was told that nothing was taken: a call was, and no call can
// have bought that was told otherwise. A call in progress, and one that replays the order, did not buy.
func isUnacknowledged(s *orderRecord) bool {
	return s.request != nil && slices.ContainsFunc(s.request.calls, func(t *Call) bool { return !t.maySucceed() && t.Outcome != OutcomeInProgress }) &&
		!slices.ContainsFunc(s.request.calls, func(t *Call) bool { return t.maySucceed() && !t.Replayed })
}

// keyRefused finds the requests that were refused in one call although they have an order,
// or were told to have one:
//
//   - sold_out and duplicate are final: a request that has an order is never told so,
//     neither before nor afterwards, and by no copy.
//   - busy, conflict and error may come before the order. They count if the call was sent
//     after the request had been told of its order, and only where that is known. An error
//     may say that it is said of its own call.
func isKeyRefused(_ *evidence, r *request) bool {
	if r.firstSuccess() == nil && r.order == nil {
		return false
	}
	acknowledged := r.acknowledgedAt()
	return slices.ContainsFunc(r.calls, func(t *Call) bool {
		switch t.Outcome {
		case OutcomeSoldOut, OutcomeDuplicate:
			return true
		case OutcomeBusy, OutcomeConflict, OutcomeError:
			return t.Sent >= acknowledged && !t.ThisCall
		}
		return false
	})
}

// falseDuplicate finds buyers who were told that they have an order already and can
// have had none: no order of another request that was active during a call that was told
// so, and no other call of theirs that may have held the place for a while. (One
// that overlaps may have, whatever it was told in the end; one without an answer
// may have from when it was sent.) The first call that is told duplicate decides; later ones
// repeat it. A refusal of the very request that has the order is a matter of keyRefused.
func isFalseDuplicate(h *evidence, r *request) bool {
	return anyOutcome(r.calls, OutcomeDuplicate) && !slices.ContainsFunc(r.calls, func(t *Call) bool {
		return t.Outcome == OutcomeDuplicate && (h.hadOrderDuring(t) || h.mayHaveHadOrderDuring(t))
	})
}

// had: the buyer had an order of another request than t's while t was under way.
func (h *evidence) hadOrderDuring(t *Call) bool {
	return slices.ContainsFunc(h.recordsByUser[t.User], func(s *orderRecord) bool {
		born := time.Duration(0) // at the earliest; 0 also where that is not known
		if s.request != nil {
			born = s.request.calls[0].Sent
		}
		return s.RequestID != t.RequestID && t.answeredAt() >= born && t.Sent <= s.returnedAt()
	})
}

// mayHaveHad: another call of the buyer may have held the place of an order meanwhile.
func (h *evidence) mayHaveHadOrderDuring(t *Call) bool {
	first, _ := slices.BinarySearchFunc(h.purchases, t.User, func(c *Call, user int64) int { return cmp.Compare(c.User, user) })
	for _, c := range h.purchases[first:] {
		switch {
		case c.User != t.User:
			return false
		case c.Outcome == OutcomeDuplicate: // t, too
		case c.RequestID == t.RequestID && c.succeeded():
			return true
		case c.Sent <= t.answeredAt() && (t.Sent <= c.answeredAt() || c.maySucceed() && !c.succeeded()):
			return true
		}
	}
	return false
}

func isNotCancelled(s *orderRecord) bool {
	return s.Status == Active && anyOutcome(s.cancellations, OutcomeCancelled)
}

func isCancelledUnasked(s *orderRecord) bool {
	return s.Status == Cancelled && len(s.cancellations) == 0
}

func isInvented(s *orderRecord) bool { return s.request == nil }

// undersold: a stock only shrinks, but for what comes back, so what is left at the
// end and was not given back was there all the time.
func undersold(h *evidence, tell func(examples, ...any)) {
	always := h.report.Remaining - max(h.unitsCancelled, h.unitsReturned) - h.unitsExpired - h.unitsMaybeUndone()
	var broken examples
	for _, t := range h.purchases {
		if t.Outcome == OutcomeSoldOut && t.Quantity <= always && h.stockKnown {
			broken.add(ofRequest, t.User, t.RequestID)
		}
	}
	if broken.count > 0 {
		tell(broken, always)
	}
}

// mayBeUndone reports whether a purchase of r may have taken units for a while although r was
// refused in the end. A number in Redis does not know requests: one copy may take the last
// units, find that another copy was told sold out meanwhile, and give them back.
func (h *evidence) mayBeUndone(r *request) bool {
	if r.order != nil || len(r.calls) < 2 || !anyOutcome(r.calls, OutcomeSoldOut, OutcomeDuplicate) {
		return false
	}
	if len(h.stores) > 0 {
		return h.report.StockStore == seckill.InRedis
	}
	return slices.Contains(slices.Collect(maps.Values(h.StockStoreOf)), seckill.InRedis) // without an order none is known
}

// undone are the units of requests that may be undone.
func (h *evidence) unitsMaybeUndone() (units int64) {
	for i := range h.requests {
		if r := &h.requests[i]; h.mayBeUndone(r) {
			units += r.calls[0].Quantity
		}
	}
	return units
}

func nothingSold(h *evidence, tell func(examples, ...any)) {
	demand := slices.ContainsFunc(h.requests, func(r request) bool {
		return r.calls[0].Quantity <= h.Initial && !h.mayBeUndone(&r)
	})
	if demand && len(h.stores) == 0 {
		tell(examples{}, len(h.purchases), h.Initial)
	}
}

// lostRequest: the request was accepted, and came to nothing.
func isLostRequest(h *evidence, r *request) bool {
	i := slices.IndexFunc(r.calls, func(t *Call) bool { return t.Outcome == OutcomeAccepted })
	return i >= 0 && r.order == nil && !h.refused[Request{r.user, r.key}] && !r.refusedAfter(r.calls[i])
}

// refusedAfter: a call of the request was refused for good, and not before it
// was accepted. busy, conflict and error say nothing about what was accepted.
func (r *request) refusedAfter(accepted *Call) bool {
	return slices.ContainsFunc(r.calls, func(t *Call) bool {
		switch t.Outcome {
		case OutcomeSoldOut, OutcomeDuplicate:
			return t.answeredAt() >= accepted.Sent
		}
		return false
	})
}
