// Package judge decides whether a sale kept its promises. It reads a snapshot of the ledger and the
// answers that buyers got, and returns a Report. It reads no database and no clock. The service,
// the tests, the proof and the load generator share it.
package judge

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"seckill/internal/seckill"
)

// The IDs of the rules. Each comment says what the rule demands. There, remaining is the number of units
// left, and Σ active is the sum of the units of active orders.
const (
	RuleOversold     = "oversold"            // Σ active ≤ initial
	RuleNegative     = "negative_stock"      // remaining ≥ 0
	RuleSoldEarly    = "sold_before_restock" // no unit is sold before a restock has added it
	RuleLostUpdate   = "lost_update"         // remaining + Σ active ≤ initial
	RuleLostUnits    = "lost_units"          // remaining + Σ active ≥ initial
	RuleTwice        = "bought_twice"        // each user has at most one active order
	RuleBadOrder     = "bad_order"           // an order has a quantity of at least 1 and a known state
	RuleMissingOrder = "missing_order"       // every acknowledged sale has its order
	// an order agrees with every answer that acknowledged its sale
	RuleWrongReceipt     = "wrong_receipt"
	RuleUnacknowledged   = "unacknowledged_order"   // no buyer who was told that nothing was taken has an order
	RuleInvented         = "invented_order"         // every order was asked for by a buyer
	RuleUndersold        = "undersold"              // no buyer is told "sold out" if enough units are left all the time
	RuleNothingSold      = "nothing_sold"           // if buyers asked for units that were left, one got an order
	RuleInitialChanged   = "initial_changed"        // nobody else reset the sale during the run
	RuleMixedStores      = "mixed_stocks"           // one run sells from one stock store
	RuleStraggler        = "straggler"              // all orders belong to this run
	RuleUnknownStore     = "unknown_stock"          // the units left in the stock store could be read
	RuleCounterDisagrees = "counter_and_row_differ" // a counter and the stock row agree if the strategy writes both
	RuleUnusedCounter    = "unused_counter_changed" // a counter from which no order was sold has the initial stock
	RuleNotLinearizable  = "not_linearizable"       // some sequence of the purchases explains every answer
	RuleKeyRefused       = "key_refused"            // a request that has an order is not refused when it is sent again
	RuleFalseDuplicate   = "false_duplicate"        // a buyer who is told "duplicate" has another order
	RuleNotCancelled     = "not_cancelled"          // every acknowledged cancellation took place
	RuleCancelledUnasked = "cancelled_unasked"      // every cancelled order was cancelled by its buyer
	RuleLostRequest      = "lost_request"           // every accepted request has an order or a refusal in the end
	RulePaidReleased     = "paid_released"          // no order that was paid, or acknowledged as paid, expires
	RulePaidLate         = "paid_late"              // no payment succeeds after the deadline
	RuleNotPaid          = "not_paid"               // every acknowledged payment took place
	RulePaidUnasked      = "paid_unasked"           // every paid order was paid by its buyer
	RuleExpiredEarly     = "expired_early"          // no reservation expires before its deadline
	RuleExpiredHeld      = "expired_held"           // an expired reservation holds no units
	RuleReleasedTwice    = "released_twice"         // a reservation gives back no more units than it held
	RuleRestock          = "restock_differs"        // every restock was asked for, and took place if an answer said so
)

// A Rule is one promise of a sale. It is checked independently of the other rules.
type Rule struct {
	ID      string
	Verdict Verdict // the verdict on a run that breaks only this rule
	Says    string  // the format of the message, for the arguments that a check passes to tell
	Params  string  // the keys in Violation.Params of the first arguments for Says, separated by spaces
	// Order reports whether a single order breaks the rule. It is nil for rules that need more than one order; they
	// set Check. If Evidence.Calls is nil, the judge stores only orders for which Order of some rule returns true.
	Order func(*orderRecord) bool
	Check check
}

// A check calls tell for each violation of its rule, with examples and with the arguments for Rule.Says.
type check func(e *evidence, tell func(broken examples, args ...any))

// rules has all rules, in the order in which a report lists their violations.
//
// Paying, cancelling and expiring a reservation may happen at the same time. The order must then
// agree with the buyer's answer:
//
//	the buyer was told      the order must be
//	paid                    active and paid, or cancelled by the buyer
//	expired (of a payment)  expired, or cancelled: never active
//	cancelled               cancelled or expired: never active (RuleNotCancelled)
//	nothing                 anything but cancelled (RuleCancelledUnasked), and paid
//	                        only if a payment was asked for
//
// The balance of a run is: units left + units sold = initial stock. The run's stock store counts the
// units left. It is the stock row or a counter. Separate rules compare a counter with the row.
var rules = []Rule{
	{ID: RuleBadOrder, Verdict: Lost, Order: (*orderRecord).isMalformed,
		Says: "orders that cannot be: no units, or an unknown state"},
	{ID: RuleTwice, Verdict: Lost, Check: listing(func(e *evidence, broken *examples) { *broken = e.severalOrders }),
		Says: "users with more than one active order"},

	{ID: RuleNotPaid, Verdict: Lost, Check: undone(OutcomeSold, isNotPaid),
		Says: "payments that buyers were told of and the ledger does not have"},
	{ID: RulePaidLate, Verdict: Lost, Order: own(isPaidLate),
		Says: "payments that succeeded after the deadline"},
	{ID: RuleExpiredEarly, Verdict: Lost, Order: own(isExpiredEarly),
		Says: "reservations that were said to have expired before their deadline"},
	{ID: RulePaidUnasked, Verdict: Lost, Order: own(isPaidUnasked),
		Says: "reservations that are paid and whose buyers did not pay"},
	{ID: RulePaidReleased, Verdict: Lost, Order: isPaidReleased,
		Says: "reservations that were paid, and whose units were given back"},
	{ID: RuleReleasedTwice, Verdict: Lost, Order: isReleasedTwice,
		Says: "reservations that gave back more than they held"},
	{ID: RuleExpiredHeld, Verdict: Lost, Order: isExpiredHeld,
		Says: "reservations that have expired and still hold their units"},

	{ID: RuleInitialChanged, Verdict: NotValid, Check: initialChanged,
		Says: "the sale was reset by another client: it was set to %d units in run %d, " +
			"the ledger says %d units in run %d",
		Params: "initial run found found_run"},
	{ID: RuleStraggler, Verdict: NotValid, Check: stragglers,
		Says: "orders of other runs than %d", Params: "run"},
	{ID: RuleMixedStores, Verdict: NotValid, Check: listing(mixedStores),
		Says: "strategies that keep their stock in different places sold in one run"},

	{ID: RuleOversold, Verdict: Oversold, Check: oversold,
		Says: "%d units sold out of %d: %d too many", Params: "sold stock"},
	{ID: RuleSoldEarly, Verdict: Oversold, Check: listing(soldBeforeRestock),
		Says: "orders that were told of less than 0 left, before units were added"},
	{ID: RuleUnusedCounter, Verdict: Lost, Check: unusedCounters,
		Says:   "%s was set to %d and says %d, but no order of this run was sold from there",
		Params: "store stock counted"},
	{ID: RuleUnknownStore, Verdict: NotValid, Check: unknownStore,
		Says: "what is left in %s could not be read", Params: "store"},
	{ID: RuleCounterDisagrees, Verdict: Lost, Check: counterDisagrees,
		Says: "%s says that %d are left, the stock row says %d", Params: "store counted row"},
	{ID: RuleNegative, Verdict: Lost, Check: negative,
		Says: "the stock is %d", Params: "left"},
	{ID: RuleLostUpdate, Verdict: Lost, Check: lostUpdate,
		Says: "%d left + %d sold = %[4]d, %[5]d more than the %[3]d there were: " +
			"deductions were overwritten, or units given back twice",
		Params: "left sold stock"},
	{ID: RuleLostUnits, Verdict: Lost, Check: lostUnits,
		Says:   "%d left + %d sold = %[4]d, %[5]d fewer than the %[3]d there were: units vanished without an order",
		Params: "left sold stock"},

	{ID: RuleMissingOrder, Verdict: Lost, Says: "sales that buyers were told of and the ledger does not have",
		Check: perRequest(func(_ *evidence, r *request) bool { return r.wasSold() && r.order == nil })},
	{ID: RuleWrongReceipt, Verdict: Lost, Order: own(hasWrongReceipt),
		Says: "sales that the ledger has otherwise than the buyer was told"},
	{ID: RuleUnacknowledged, Verdict: Lost, Order: own(isUnacknowledged),
		Says: "orders of buyers who were told that they got nothing"},
	{ID: RuleKeyRefused, Verdict: Lost, Check: perRequest(isKeyRefused),
		Says: "requests that have an order and were refused in a copy or when they were sent again"},
	{ID: RuleFalseDuplicate, Verdict: Lost, Check: perRequest(isFalseDuplicate),
		Says: "buyers who were told that they have an order already, and had none"},
	{ID: RuleNotCancelled, Verdict: Lost, Check: undone(OutcomeCancelled, isNotCancelled),
		Says: "cancellations that buyers were told of and that did not take place"},
	{ID: RuleCancelledUnasked, Verdict: Lost, Order: own(isCancelledUnasked),
		Says: "cancelled orders that their buyers did not cancel"},
	{ID: RuleInvented, Verdict: Lost, Order: own(func(rec *orderRecord) bool { return rec.request == nil }),
		Says: "orders that no buyer of this run asked for"},
	{ID: RuleUndersold, Verdict: Lost, Check: undersold,
		Says: "buyers told sold out although units were there to the end: at least %d", Params: "left"},
	{ID: RuleNothingSold, Verdict: Lost, Check: nothingSold,
		Says: "%d requests for a stock of %d, and not one order", Params: "requests stock"},
	{ID: RuleRestock, Verdict: Lost, Check: listing(restocksDiffer),
		Says: "restocks that the operator was told of and that did not take place, or that took place unasked"},
	{ID: RuleLostRequest, Verdict: Lost, Check: perRequest(isLostRequest),
		Says: "accepted requests that have neither an order nor a refusal"},
}

// Judge returns the report on a run, with every violation of every rule. For the same evidence it
// always returns the same report.
func Judge(given Evidence) Report {
	e := collectEvidence(given)
	e.check(rules)
	if e.Calls != nil {
		e.report.Served = e.findStandstill()
	}
	return e.report
}

func (e *evidence) check(rules []Rule) {
	for _, r := range rules {
		check := r.Check
		if r.Order != nil {
			check = listing(func(e *evidence, broken *examples) { e.addOrders(broken, r.Order) })
		}
		check(e, func(broken examples, args ...any) { e.report.add(r, broken, args) })
	}
}

// listing returns the check of a rule whose message has no arguments. The rule is broken if look adds an example.
func listing(look func(e *evidence, broken *examples)) check {
	return func(e *evidence, tell func(examples, ...any)) {
		var broken examples
		if look(e, &broken); broken.count > 0 {
			tell(broken)
		}
	}
}

func (e *evidence) addOrders(broken *examples, breaksRule func(*orderRecord) bool) {
	for _, rec := range e.records {
		if breaksRule(rec) {
			broken.addOrder(rec.Order)
		}
	}
}

// own limits a rule to orders of the buyers in Calls.
func own(breaksRule func(*orderRecord) bool) func(*orderRecord) bool {
	return func(rec *orderRecord) bool { return rec.isOurs && breaksRule(rec) }
}

// undone returns a check that finds acknowledged calls without effect. The acknowledgement is OutcomeCancelled for
// cancellations and OutcomeSold for payments. The function breaksRule reports whether an acknowledged call about an
// order had no effect. Acknowledged calls about orders that do not exist break the rule, too.
func undone(acknowledgement Outcome, breaksRule func(*orderRecord) bool) check {
	return listing(func(e *evidence, broken *examples) {
		e.addOrders(broken, breaksRule)
		for _, c := range e.unmatchedCalls {
			if c.Outcome == acknowledgement {
				broken.add(ofRequest, c.User, c.RequestID)
			}
		}
	})
}

// perRequest returns the check of a rule about single requests.
func perRequest(breaksRule func(*evidence, *request) bool) check {
	return listing(func(e *evidence, broken *examples) {
		for i := range e.requests {
			if r := &e.requests[i]; breaksRule(e, r) {
				broken.add(ofRequest, r.user, r.key)
			}
		}
	})
}

func (o *Order) isMalformed() bool {
	return o.Quantity < 1 || o.Status != Active && o.Status != Cancelled && o.Status != Expired
}

// overdueGrace is how long a reservation may hold its units after its deadline, in microseconds. Strategies look for
// expired reservations twice a second, so this time is ample.
const overdueGrace = 5_000_000

func (o *Order) isUnpaid() bool {
	return o.Reservation != nil && o.Status == Active && o.Reservation.State != seckill.Paid
}

// isPaid reports whether o began as a reservation and is paid in the ledger.
func (o *Order) isPaid() bool { return o.Reservation != nil && o.Reservation.State == seckill.Paid }

// MayChange reports whether o is an unpaid reservation that can still be paid, or whose units can still be given back
// in time (see overdueGrace).
func (o *Order) MayChange() bool { return o.isUnpaid() && o.Reservation.Left >= -overdueGrace }

// wasToldPaid reports whether an answer said that rec is paid: the answer to a payment, or to a purchase that
// pays at once.
func (rec *orderRecord) wasToldPaid() bool {
	return anyOutcome(rec.payments, OutcomeSold) || rec.request != nil && anyOutcome(rec.request.calls, OutcomeSold)
}

func isNotPaid(rec *orderRecord) bool { return rec.isUnpaid() && rec.wasToldPaid() }

func isPaidLate(rec *orderRecord) bool {
	return slices.ContainsFunc(rec.payments, func(c *Call) bool { return c.Late && c.Outcome == OutcomeSold })
}

func isExpiredEarly(rec *orderRecord) bool {
	return slices.ContainsFunc(rec.payments, func(c *Call) bool { return c.Early && c.Outcome == OutcomeExpired })
}

// isPaidUnasked reports whether rec is paid although no call can have paid it. If a payment was answered
// "in_progress", the same payment was sent before and may have paid. If a payment was answered "expired",
// isExpiredHeld and isPaidReleased check the order instead.
func isPaidUnasked(rec *orderRecord) bool {
	if !rec.isPaid() || rec.request == nil || anyOutcome(rec.payments, OutcomeInProgress, OutcomeExpired) {
		return false
	}
	mayHavePaid := func(c *Call) bool { return c.maySucceed() && c.Outcome != OutcomeReserved }
	return !slices.ContainsFunc(rec.payments, (*Call).maySucceed) && !slices.ContainsFunc(rec.request.calls, mayHavePaid)
}

func isPaidReleased(rec *orderRecord) bool {
	return rec.Status == Expired && (rec.isPaid() || rec.wasToldPaid()) || rec.isPaid() && rec.Reservation.Released > 0
}

func isReleasedTwice(rec *orderRecord) bool {
	return rec.Reservation != nil && rec.Reservation.Released > rec.Quantity
}

func isExpiredHeld(rec *orderRecord) bool {
	overdue := rec.isUnpaid() && rec.Reservation.Left < -overdueGrace
	return overdue || rec.Status == Active && anyOutcome(rec.payments, OutcomeExpired)
}

func initialChanged(e *evidence, tell func(examples, ...any)) {
	if s := e.Snapshot.Stock; s.Initial != e.Initial || e.Run != 0 && s.Run != e.Run {
		tell(examples{}, e.Initial, e.Run, s.Initial, s.Run)
	}
}

func stragglers(e *evidence, tell func(examples, ...any)) {
	var broken examples
	e.addOrders(&broken, func(rec *orderRecord) bool { return rec.Run != e.Snapshot.Stock.Run })
	if broken.count > 0 {
		tell(broken, e.Snapshot.Stock.Run)
	}
}

func mixedStores(e *evidence, broken *examples) {
	if !e.hasMixedStores() {
		return
	}
	for _, stockStore := range slices.Sorted(maps.Keys(e.stores)) {
		broken.addOrder(e.stores[stockStore])
	}
}

// oversold finds orders for more units than the initial stock, wherever the stock is kept, counting reserved units.
func oversold(e *evidence, tell func(examples, ...any)) {
	if sold := e.unitsHeld(); e.ordersBeyondStock.count > 0 {
		tell(e.ordersBeyondStock, sold, e.Initial, sold-e.Initial)
	}
}

// unusedCounters finds counters that changed although no order of the run was sold from them. A purchase may have
// taken units there before its process died without writing the order.
func unusedCounters(e *evidence, tell func(examples, ...any)) {
	set := e.Initial - e.report.Restocked
	for _, stockStore := range slices.Sorted(maps.Keys(e.Snapshot.StockStores)) {
		counted, used := e.Snapshot.StockStores[stockStore], stockStore == e.report.StockStore.Counter()
		if counted != set && !used && !e.hasMixedStores() {
			tell(examples{}, stockStore, set, counted)
		}
	}
}

func unknownStore(e *evidence, tell func(examples, ...any)) {
	if !e.stockKnown && !e.hasMixedStores() {
		tell(examples{}, e.report.StockStore.Counter())
	}
}

// counterDisagrees compares the counter with the stock row. Some strategies write both: a counter in a lock
// table or in Redis, and the row. Then both must have the same number. Other strategies write the counter
// only (StockStore.Aside), so the row must have its initial value.
func counterDisagrees(e *evidence, tell func(examples, ...any)) {
	counter, row := e.report.StockStore.Counter(), e.Snapshot.Stock.Num
	untouched := e.report.StockStore.Aside() && row == e.Snapshot.Stock.Initial-e.report.Restocked
	if e.stockKnown && counter != "" && e.counterSays != row && !untouched {
		tell(examples{}, counter, e.counterSays, row)
	}
}

func negative(e *evidence, tell func(examples, ...any)) {
	if e.stockKnown && e.report.Remaining < 0 {
		tell(e.ordersBelowZero, e.report.Remaining)
	}
}

func lostUpdate(e *evidence, tell func(examples, ...any)) {
	left, sold := e.report.Remaining, e.unitsHeld()
	if more := left + sold - e.Initial; e.stockKnown && more > 0 {
		tell(e.unitHolders().findShared(), left, sold, e.Initial, left+sold, more)
	}
}

func lostUnits(e *evidence, tell func(examples, ...any)) {
	left, sold := e.report.Remaining, e.unitsHeld()
	if fewer := e.Initial - left - sold; e.stockKnown && fewer > 0 {
		tell(examples{}, left, sold, e.Initial, left+sold, fewer)
	}
}

func (r *request) wasSold() bool { return slices.ContainsFunc(r.calls, (*Call).succeeded) }

func hasWrongReceipt(rec *orderRecord) bool {
	return rec.request != nil && slices.ContainsFunc(rec.request.calls, func(c *Call) bool {
		return c.succeeded() && (rec.PublicID != c.OrderID || rec.Quantity != c.Quantity || rec.Remaining != c.Remaining)
	})
}

// isUnacknowledged reports whether a call for rec was told that nothing was taken, and no other call can have bought
// rec. A call that was told in_progress, or got the order of an earlier call, did not buy rec.
func isUnacknowledged(rec *orderRecord) bool {
	if rec.request == nil {
		return false
	}
	tookNothing := func(c *Call) bool { return !c.maySucceed() && c.Outcome != OutcomeInProgress }
	mayHaveBought := func(c *Call) bool { return c.maySucceed() && !c.Replayed }
	return slices.ContainsFunc(rec.request.calls, tookNothing) && !slices.ContainsFunc(rec.request.calls, mayHaveBought)
}

// isKeyRefused reports whether a call of r was refused although r has an order, or although
// another call was told of an order:
//
//   - sold_out and duplicate are final. No call of a request that has an order may get them,
//     neither before nor after the order.
//   - busy, conflict and error may come before the order. They break the rule if the call was
//     sent after another call had been told of the order, unless the refusal says that it
//     concerns this call only.
func isKeyRefused(_ *evidence, r *request) bool {
	if !r.wasSold() && r.order == nil {
		return false
	}
	acknowledged := r.acknowledgedAt()
	return slices.ContainsFunc(r.calls, func(c *Call) bool {
		switch c.Outcome {
		case OutcomeSoldOut, OutcomeDuplicate:
			return true
		case OutcomeBusy, OutcomeConflict, OutcomeError:
			return c.Sent >= acknowledged && !c.ThisCall
		}
		return false
	})
}

// isFalseDuplicate reports whether r was told "duplicate" although its buyer cannot have had another order. Two things
// can explain this answer:
//
//   - an order of another request of the buyer was active, or
//   - another call of the buyer may have counted as an order for a while: a call that overlaps, or
//     an earlier call without an answer.
//
// The answer "duplicate" is final, and a retry gets it again. So it is enough that one of these answers can be
// explained. If r itself has the order, isKeyRefused checks the refusal.
func isFalseDuplicate(e *evidence, r *request) bool {
	return anyOutcome(r.calls, OutcomeDuplicate) && !slices.ContainsFunc(r.calls, func(c *Call) bool {
		return c.Outcome == OutcomeDuplicate && (e.hadOrderDuring(c) || e.mayHaveHadOrderDuring(c))
	})
}

// hadOrderDuring reports whether the buyer may have had an order of another request during c.
func (e *evidence) hadOrderDuring(c *Call) bool {
	return slices.ContainsFunc(e.recordsByUser[c.User], func(rec *orderRecord) bool {
		born := time.Duration(0) // the earliest time at which the order can exist; 0 if that is not known
		if rec.request != nil {
			born = rec.request.calls[0].Sent
		}
		return rec.RequestID != c.RequestID && c.answeredAt() >= born && c.Sent <= rec.returnedAt()
	})
}

// mayHaveHadOrderDuring reports whether another call of the buyer may have counted as an order while c was
// under way, although that call left no order in the end.
func (e *evidence) mayHaveHadOrderDuring(c *Call) bool {
	byUser := func(other *Call, user int64) int { return cmp.Compare(other.User, user) }
	first, _ := slices.BinarySearchFunc(e.purchases, c.User, byUser)
	for _, other := range e.purchases[first:] {
		switch {
		case other.User != c.User:
			return false
		case other.Outcome == OutcomeDuplicate: // A call that was told duplicate, as c was, never counted as an order.
		case other.RequestID == c.RequestID && other.succeeded():
			return true
		case other.Sent <= c.answeredAt() && (c.Sent <= other.answeredAt() || other.maySucceed() && !other.succeeded()):
			return true
		}
	}
	return false
}

func isNotCancelled(rec *orderRecord) bool {
	return rec.Status == Active && anyOutcome(rec.cancellations, OutcomeCancelled)
}

func isCancelledUnasked(rec *orderRecord) bool {
	return rec.Status == Cancelled && len(rec.cancellations) == 0
}

// undersold finds buyers who were told sold out although enough units were there during the whole run.
// If no units are returned, a stock only shrinks. So the units left at the end, less all units that
// were returned, were there all the time.
func undersold(e *evidence, tell func(examples, ...any)) {
	always := e.report.Remaining - max(e.unitsCancelled, e.unitsReturned) - e.unitsExpired - e.unitsMaybeUndone()
	var broken examples
	for _, c := range e.purchases {
		if c.Outcome == OutcomeSoldOut && c.Quantity <= always-e.unitsRestockedAfter(c) && e.stockKnown {
			broken.add(ofRequest, c.User, c.RequestID)
		}
	}
	if broken.count > 0 {
		tell(broken, always)
	}
}

// mayBeUndone reports whether a purchase of r may have taken units for a while, although r was refused in the
// end. The counter in Redis does not know requests. So one call may take the last units, find that another
// call of r was refused, and give the units back.
func (e *evidence) mayBeUndone(r *request) bool {
	if r.order != nil || len(r.calls) < 2 || !anyOutcome(r.calls, OutcomeSoldOut, OutcomeDuplicate) {
		return false
	}
	if len(e.stores) > 0 {
		return e.report.StockStore == seckill.InRedis
	}
	// Without an order, the ledger does not say which store the run used. So r counts if any strategy sells from Redis.
	return slices.Contains(slices.Collect(maps.Values(e.StockStoreOf)), seckill.InRedis)
}

func (e *evidence) unitsMaybeUndone() int64 {
	units := int64(0)
	for i := range e.requests {
		if r := &e.requests[i]; e.mayBeUndone(r) {
			units += r.calls[0].Quantity
		}
	}
	return units
}

func nothingSold(e *evidence, tell func(examples, ...any)) {
	demand := slices.ContainsFunc(e.requests, func(r request) bool {
		return r.calls[0].Quantity <= e.Initial-e.report.Restocked && !e.mayBeUndone(&r)
	})
	if demand && len(e.stores) == 0 {
		tell(examples{}, len(e.purchases), e.Initial)
	}
}

func isLostRequest(e *evidence, r *request) bool {
	i := slices.IndexFunc(r.calls, func(c *Call) bool { return c.Outcome == OutcomeAccepted })
	return i >= 0 && r.order == nil && !e.refused[Request{r.user, r.key}] && !r.refusedAfter(r.calls[i])
}

// refusedAfter reports whether a call of r got a final refusal after the call accepted had been sent. The answers
// busy, conflict and error are not final.
func (r *request) refusedAfter(accepted *Call) bool {
	return slices.ContainsFunc(r.calls, func(c *Call) bool {
		final := c.Outcome == OutcomeSoldOut || c.Outcome == OutcomeDuplicate
		return final && c.answeredAt() >= accepted.Sent
	})
}
