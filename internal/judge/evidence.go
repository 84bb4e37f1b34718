package judge

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"seckill/internal/seckill"
)

// Evidence has everything that the judge reads.
type Evidence struct {
	Snapshot Snapshot
	// If a sale is large, Snapshot.Orders is empty, and ByAge and ByUnit read the orders one at a time. ByAge
	// yields all orders, sorted by run and then by age. ByUnit yields the active orders from the highest unit
	// down (see Holders). In a small sale both may be nil.
	ByAge, ByUnit iter.Seq[*Order]
	// Initial is the stock with which the run began. If Calls is nil, Initial must include the units of restocks, as
	// Stock.Initial does. If Calls is not nil, the judge adds these units itself.
	Initial int64
	// Run is the number of the run to judge; 0 means the current run.
	Run int64
	// StockStoreOf maps each strategy to the place where it keeps its stock. If it is nil, all use the stock row.
	StockStoreOf map[string]seckill.StockStore
	// Calls has the calls of all buyers with their answers. If only the ledger is judged, Calls is
	// nil. An empty slice that is not nil means that no buyer asked to buy.
	Calls []Call
	// Ours reports whether an order belongs to one of the buyers in Calls. If Ours is nil, all orders belong to these
	// buyers. Orders of other buyers count only in the balance of the stock.
	Ours func(*Order) bool
	// Patience is the longest time without a sale that still counts as normal. It is the sum of the longest wait for a
	// lock, the longest lease, and the planned outages. A sale that stands still for longer is blocked. If Patience is
	// 0, Report.Served is ServedNotKnown. If a sale has a start time (Stock.StartsAt), the time before its first order
	// does not count.
	Patience time.Duration
}

// A Call is one call of a buyer with its answer. If a request is sent several times, each copy is a Call of its own,
// with the same user and request id.
type Call struct {
	Kind      CallKind
	RequestID string // the idempotency key of the purchase
	User      int64
	Quantity  int64 // the units that the call asks for, or the units of the order to pay or cancel
	Outcome   Outcome
	OrderID   string // for CallBuy: the order in the answer; for CallCancel and CallPay: the order to cancel or pay
	Remaining int64  // for CallBuy: the units left, as the answer says
	Late      bool   // true if this payment was certainly sent after the deadline
	Early     bool   // true if this payment was certainly answered before the deadline
	Replayed  bool   // true if this purchase was answered with the order of an earlier call
	ThisCall  bool   // true if the refusal says that it is about this call only, not about the whole request
	CallTimes
}

// CallTimes are times since the start of the run, by one clock. Answered is 0 if the call got no answer, or
// if the time of its answer is not known. Sent and Answered are both 0 if no time is known.
type CallTimes struct{ Sent, Answered time.Duration }

// A CallKind is the kind of a call.
type CallKind string

const (
	CallBuy    CallKind = ""
	CallCancel CallKind = "cancel"
	CallPay    CallKind = "pay" // pays a reservation
	// CallRestock adds units to the stock. The operator sends it, not a buyer; its User is OperatorOf(RequestID).
	CallRestock CallKind = "restock"
)

// An Outcome is the kind of an answer.
type Outcome string

const (
	OutcomeSold       Outcome = "sold"     // the buyer has bought; for CallPay: the reservation is paid
	OutcomeReserved   Outcome = "reserved" // the units are held until the buyer pays or the deadline passes
	OutcomeSoldOut    Outcome = "sold_out"
	OutcomeBusy       Outcome = "busy"
	OutcomeConflict   Outcome = "conflict"
	OutcomeDuplicate  Outcome = "duplicate"
	OutcomeInProgress Outcome = "in_progress" // the same request was sent before and is still in progress
	OutcomeAccepted   Outcome = "accepted"    // the service writes the order or the refusal later
	OutcomeExpired    Outcome = "expired"     // the payment arrived after the deadline
	OutcomeCancelled  Outcome = "cancelled"   // the order is cancelled
	OutcomeRestocked  Outcome = "restocked"   // the restock's units were added to the stock
	OutcomeUnknown    Outcome = "unknown"     // the call got no answer, or the answer unknown_outcome
	OutcomeError      Outcome = "error"       // any other refusal; nothing was taken or given back
)

const never = time.Duration(math.MaxInt64)

func (c *Call) hasTimes() bool { return c.Sent != 0 || c.Answered != 0 }

// answeredAt returns when the call was answered. It returns the constant never if there was no answer, or if
// the time of the answer is not known.
func (c *Call) answeredAt() time.Duration {
	return cmp.Or(c.Answered, never)
}

// maySucceed reports whether the call succeeded or its outcome is unknown.
func (c *Call) maySucceed() bool {
	return c.succeeded() || slices.Contains(
		[]Outcome{OutcomeCancelled, OutcomeRestocked, OutcomeUnknown, OutcomeAccepted}, c.Outcome)
}

// succeeded reports whether the answer said that the buyer has the units, bought or reserved.
func (c *Call) succeeded() bool { return c.Outcome == OutcomeSold || c.Outcome == OutcomeReserved }

// evidence is Evidence in the form that the rules read. It has totals over all orders, each order with the calls about
// it, and each request with its order.
type evidence struct {
	Evidence
	report         Report
	unitsCancelled int64                         // units of cancelled orders
	unitsExpired   int64                         // units of expired orders
	records        []*orderRecord                // the orders; if Calls is nil, only those that break a rule
	sellers        []string                      // the strategies that sold orders of the run
	restocks       []*Order                      // the order rows that record the run's restocks
	stores         map[seckill.StockStore]*Order // each stock store from which an order was sold, with one such order
	counterSays    int64                         // the units left according to the counter of the stock store
	stockKnown     bool                          // true if there is only one stock store and its units left are known
	conflicts
	matchedCalls // empty if Calls is nil
}

// conflicts has active orders that cannot all be right, such as two orders of one user. countBuyer finds them.
type conflicts struct {
	hasSeveral        map[int64]bool // maps a user to true if the user has several active orders, to false if it is one
	severalOrders     examples       // examples of users with several active orders
	ordersBeyondStock examples       // examples of orders for units beyond the initial stock
	ordersBelowZero   examples       // examples of orders whose buyer was told that fewer than 0 units were left
}

// matchedCalls has the calls by their kind. It says to which order or request each call belongs.
type matchedCalls struct {
	purchases      []*Call // calls to buy, sorted by user, request and the time when they were sent
	requests       []request
	recordsByUser  map[int64][]*orderRecord
	restockCalls   []*Call
	unmatchedCalls []*Call          // cancellations and payments whose order does not exist
	unitsReturned  int64            // units of orders that buyers cancelled, or may have cancelled
	refused        map[Request]bool // requests that have a final refusal in the ledger
}

// An orderRecord is an order with the calls about it.
type orderRecord struct {
	*Order
	isOurs        bool     // true if the order belongs to a buyer in Calls
	request       *request // the request that asked for the order; nil if no call did
	cancellations []*Call  // the calls that may have cancelled the order
	payments      []*Call  // the calls to pay the order
}

// A request has all calls of one purchase. They carry the same idempotency key.
type request struct {
	user  int64
	key   string
	calls []*Call      // at least one call
	order *orderRecord // the request's order; nil if there is none
}

func collectEvidence(given Evidence) *evidence {
	s := &given.Snapshot
	e := &evidence{Evidence: given, report: Report{
		Verdict: Held, Violations: []Violation{}, SKU: s.Stock.ID, Run: s.Stock.Run}}
	e.stores, e.hasSeveral = map[seckill.StockStore]*Order{}, map[int64]bool{}
	// If there are calls, Initial does not include the units of restocks yet (see Evidence.Initial).
	if given.Calls != nil {
		e.Initial += s.Restocked()
	}
	e.report.Initial = e.Initial
	if e.ByAge == nil {
		e.ByAge = func(yield func(*Order) bool) {
			for i := range s.Orders {
				if !yield(&s.Orders[i]) {
					return
				}
			}
		}
	}
	for o := range e.ByAge {
		e.countOrder(o)
		if o.isRestockIn(s.Stock.Run) {
			continue
		}
		sold := &orderRecord{Order: o, isOurs: given.Calls != nil && (given.Ours == nil || given.Ours(o))}
		breaks := func(r Rule) bool { return r.Order != nil && r.Order(sold) }
		if given.Calls != nil || o.Run != s.Stock.Run || slices.ContainsFunc(rules, breaks) {
			e.records = append(e.records, sold)
		}
	}
	e.findStock()
	if len(e.sellers) > 1 {
		e.report.Warning = fmt.Sprintf("Orders of %s met in this run. They do not guard the stock against each other: "+
			"reset the SKU before another strategy sells it.", strings.Join(e.sellers, ", "))
	}
	if given.Calls != nil {
		e.matchCalls()
	}
	return e
}

// unitHolders returns which of the run's orders hold which units.
func (e *evidence) unitHolders() *Holders {
	if e.ByUnit == nil {
		return HoldersOf(e.Snapshot.Orders, e.report.StockStore)
	}
	returned := e.report.Cancelled+e.report.Expired > 0 || len(e.restocks) > 0
	return &Holders{e.ByUnit, returned || e.report.StockStore.Split()}
}

func (e *evidence) countOrder(o *Order) {
	e.stores[e.storeOf(o.Strategy)] = o
	if o.Run == e.Snapshot.Stock.Run && !slices.Contains(e.sellers, o.Strategy) {
		e.sellers = append(e.sellers, o.Strategy)
	}
	switch {
	case o.isMalformed():
	case o.isRestockIn(e.Snapshot.Stock.Run):
		e.restocks = append(e.restocks, o)
		e.report.Restocked += o.Quantity
		if o.Status == Active { // A restock's row is active until its units are in the stock.
			e.report.Arriving += o.Quantity
		}
	case o.Status == Cancelled:
		e.report.Cancelled++
		e.unitsCancelled += o.Quantity
	case o.Status == Expired:
		e.report.Expired++
		e.unitsExpired += o.Quantity
	default:
		e.report.Orders++
		if o.isUnpaid() {
			e.report.Reserved += o.Quantity
		} else {
			e.report.Sold += o.Quantity
		}
		e.countBuyer(o)
	}
}

// countBuyer compares the active order o with the active orders that were counted before. It records o if its user has
// another order, if the orders hold more units than there were, or if o.Remaining is below 0.
func (e *evidence) countBuyer(o *Order) {
	several, again := e.hasSeveral[o.UserID]
	e.hasSeveral[o.UserID] = again
	if again && !several {
		e.severalOrders.addOrder(o)
	}
	if sold := e.unitsHeld(); sold > e.Initial {
		e.ordersBeyondStock.add(beyond, o.PublicID, o.UserID, sold-o.Quantity+1, sold, e.Initial)
	}
	if o.Remaining < 0 {
		e.ordersBelowZero.addOrder(o)
	}
}

// storeOf returns a strategy's stock store. If StockStoreOf does not list the strategy, it gets a store of its own.
func (e *evidence) storeOf(strategy string) seckill.StockStore {
	if e.StockStoreOf == nil {
		return seckill.InRow
	}
	return cmp.Or(e.StockStoreOf[strategy], seckill.StockStore("of "+strategy))
}

// findStock finds the stock store of the run, and the units left there according to the stock row or a counter.
func (e *evidence) findStock() {
	e.report.StockStore, e.report.Remaining = seckill.InRow, e.Snapshot.Stock.Num
	if len(e.stores) > 0 {
		e.report.StockStore = slices.Max(slices.Collect(maps.Keys(e.stores)))
	}
	counter := e.report.StockStore.Counter()
	if e.stockKnown = !e.hasMixedStores(); !e.stockKnown || counter == "" {
		return
	}
	e.counterSays, e.stockKnown = e.Snapshot.StockStores[counter]
	rowDecides := e.report.StockStore == seckill.InRowAndRedis || e.report.StockStore == seckill.InStream
	if e.stockKnown && !rowDecides {
		e.report.Remaining = e.counterSays
	}
}

func (e *evidence) hasMixedStores() bool { return len(e.stores) > 1 }

// unitsHeld returns the units of active orders, paid or not, and of restocks that are not in the stock yet.
func (e *evidence) unitsHeld() int64 { return e.report.Sold + e.report.Reserved + e.report.Arriving }

// matchCalls finds the order that each call is about, and for each order the calls about it.
func (e *evidence) matchCalls() {
	e.refused = make(map[Request]bool, len(e.Snapshot.Refused))
	for _, r := range e.Snapshot.Refused {
		e.refused[r] = true
	}
	naming := map[string][]*Call{} // maps an order id to its cancellations and payments until the order is found
	e.purchases = make([]*Call, 0, len(e.Calls))
	for i := range e.Calls {
		switch c := &e.Calls[i]; c.Kind {
		case CallBuy:
			e.purchases = append(e.purchases, c)
		case CallRestock:
			e.restockCalls = append(e.restockCalls, c)
		default:
			naming[c.OrderID] = append(naming[c.OrderID], c)
		}
	}
	e.groupRequests()
	e.recordsByUser = make(map[int64][]*orderRecord, len(e.records))
	for _, rec := range e.records {
		e.recordsByUser[rec.UserID] = append(e.recordsByUser[rec.UserID], rec)
		if rec.isOurs {
			rec.addCalls(naming[rec.PublicID])
			delete(naming, rec.PublicID)
			if rec.request = e.findRequest(rec.Order); rec.request != nil {
				rec.request.order = rec
			}
		}
		if len(rec.cancellations) > 0 {
			e.unitsReturned += rec.Quantity
		}
	}
	for i := range e.Calls {
		c := &e.Calls[i]
		if c.Kind == CallBuy || c.Kind == CallRestock || naming[c.OrderID] == nil {
			continue
		}
		e.unmatchedCalls = append(e.unmatchedCalls, c)
		if c.Kind == CallCancel {
			e.unitsReturned += c.Quantity
		}
	}
}

func (e *evidence) groupRequests() {
	slices.SortStableFunc(e.purchases, func(a, b *Call) int {
		return cmp.Or(cmp.Compare(a.User, b.User), strings.Compare(a.RequestID, b.RequestID),
			cmp.Compare(a.Sent, b.Sent))
	})
	e.requests = make([]request, 0, len(e.purchases))
	for begin := 0; begin < len(e.purchases); {
		first := e.purchases[begin]
		isCopy := func(c *Call) bool { return c.User == first.User && c.RequestID == first.RequestID }
		end := begin + 1
		for end < len(e.purchases) && isCopy(e.purchases[end]) {
			end++
		}
		e.requests = append(e.requests, request{user: first.User, key: first.RequestID, calls: e.purchases[begin:end]})
		begin = end
	}
}

// findRequest returns the request for which an order was written, or nil if no buyer asked for the order.
func (e *evidence) findRequest(o *Order) *request {
	at, found := slices.BinarySearchFunc(e.requests, o, func(r request, o *Order) int {
		return cmp.Or(cmp.Compare(r.user, o.UserID), strings.Compare(r.key, o.RequestID))
	})
	if !found {
		return nil
	}
	return &e.requests[at]
}

func (rec *orderRecord) addCalls(calls []*Call) {
	for _, c := range calls {
		switch {
		case c.Kind == CallPay:
			rec.payments = append(rec.payments, c)
		case c.maySucceed() || c.Outcome == OutcomeInProgress:
			rec.cancellations = append(rec.cancellations, c)
		}
	}
}

// returnedAt returns when a buyer was first told that rec is cancelled. By then its units had certainly been
// given back. It returns never if no buyer was told so, or if rec is still active.
func (rec *orderRecord) returnedAt() time.Duration {
	if rec.Status == Active {
		return never
	}
	return firstToldAt(rec.cancellations, OutcomeCancelled)
}

// returnedAnyTime reports whether the units of rec were given back at an unknown time.
func (rec *orderRecord) returnedAnyTime() bool {
	return rec.Status == Expired || rec.Status == Cancelled && len(rec.cancellations) == 0
}

// firstToldAt returns the time of the first answer with one of the outcomes. It returns never if no call got one.
func firstToldAt(calls []*Call, outcomes ...Outcome) time.Duration {
	first := never
	for _, c := range calls {
		if slices.Contains(outcomes, c.Outcome) {
			first = min(first, c.answeredAt())
		}
	}
	return first
}

func anyOutcome(calls []*Call, outcomes ...Outcome) bool {
	return slices.ContainsFunc(calls, func(c *Call) bool { return slices.Contains(outcomes, c.Outcome) })
}

// Holders tells which orders hold which units. The number of a unit is how many units were left before it was
// sold, so the last unit has the number 1. An active order of q units whose buyer was told that r are left
// holds the units r+1 to r+q. If a unit has two holders, it was sold twice. A unit below 1 never existed.
type Holders struct {
	orders    iter.Seq[*Order] // the active orders, sorted by their highest unit, the highest first
	ambiguous bool             // true if the orders do not show which units they hold (see Known)
}

// HoldersOf returns the Holders of a run with these orders, all of which were sold from the given stock store.
func HoldersOf(orders []Order, stock seckill.StockStore) *Holders {
	holders, active := &Holders{ambiguous: stock.Split()}, []*Order(nil)
	for i := range orders {
		if o := &orders[i]; o.Status == Active && !o.IsRestock() {
			active = append(active, o)
		} else {
			holders.ambiguous = true
		}
	}
	slices.SortStableFunc(active, func(a, b *Order) int { return cmp.Compare(b.highestUnit(), a.highestUnit()) })
	holders.orders = slices.Values(active)
	return holders
}

func (o *Order) highestUnit() int64 { return o.Remaining + o.Quantity }

// Known reports whether the orders show which units they hold. They do not if units were given back, or if the stock
// is in pieces (StockStore.Split). In both cases two buyers may rightly be told the same number of units left.
func (holders *Holders) Known() bool { return !holders.ambiguous }

// CountSharing returns how many active orders hold a unit of o, including o. It returns 0 if Known returns false.
func (holders *Holders) CountSharing(o Order) int {
	orders := 0
	if holders.ambiguous || o.Status != Active {
		return orders
	}
	for other := range holders.orders {
		if o.Remaining < other.highestUnit() && other.Remaining < o.highestUnit() {
			orders++
		}
	}
	return orders
}

// UnitsSoldTwice returns how many units have two holders or more. It returns 0 if Known returns false.
func (holders *Holders) UnitsSoldTwice() int64 {
	units := int64(0)
	holders.visitShared(func(_, _ *Order, shared int64) { units += shared })
	return units
}

func (holders *Holders) findShared() examples {
	var found examples
	holders.visitShared(func(a, b *Order, _ int64) {
		found.add(twice, a.PublicID, b.PublicID, min(a.highestUnit(), b.highestUnit()),
			a.Remaining, b.Remaining, a.UserID, b.UserID, a.Quantity, b.Quantity)
	})
	return found
}

// visitShared visits the orders by their highest units, from the top down. If an order b shares units with an order a
// that was visited before, visitShared calls visit. The argument units is the number of shared units that earlier
// calls of visit have not counted.
func (holders *Holders) visitShared(visit func(a, b *Order, units int64)) {
	if holders.ambiguous {
		return
	}
	var lowest *Order             // the order that holds the lowest unit so far
	twice := int64(math.MaxInt64) // all shared units above this number have been counted
	for o := range holders.orders {
		if lowest != nil && o.highestUnit() > lowest.Remaining {
			both := max(o.Remaining, lowest.Remaining)
			visit(lowest, o, max(0, min(o.highestUnit(), twice)-both))
			twice = min(twice, both)
		}
		if lowest == nil || o.Remaining < lowest.Remaining {
			lowest = o
		}
	}
}

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

// unitsRestockedAfter returns how many units restocks may have added after the purchase c was sent. These units may be
// left at the end although c was rightly refused.
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
