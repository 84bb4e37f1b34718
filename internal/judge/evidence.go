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
	// If a sale is large, Snapshot.Orders is empty, and ByAge and ByUnit read the orders one at a
	// time. ByAge yields all orders by run and age. ByUnit yields the active orders from the
	// highest unit down. Otherwise both may be nil.
	ByAge, ByUnit iter.Seq[*Order]
	// Initial is the stock with which the caller reset the run. If Calls is set, it is without the
	// units of restocks, which the judge adds. If not, it is the number in the stock row.
	Initial int64
	// Run is the number of the run to judge; 0 means the current run.
	Run int64
	// StockStoreOf has the stock store of each strategy; nil means that all use the stock row.
	StockStoreOf map[string]seckill.StockStore
	// Calls has the calls of all buyers with their answers. If only the ledger is judged, Calls is
	// nil. An empty slice that is not nil means that no buyer asked to buy.
	Calls []Call
	// Ours reports whether an order belongs to one of the buyers in Calls; nil means that all do.
	// Orders of other buyers count only in the balance of the stock.
	Ours func(*Order) bool
	// Patience is the longest time for which a sale may rightly stand still. It covers the longest
	// wait for a lock, the longest lease, and a planned outage. A sale that stands still for longer
	// is blocked. If Patience is 0, Report.Served is ServedNotKnown. If a sale has a start time
	// (Stock.StartsAt), the watch begins with its first order.
	Patience time.Duration
}

// A Call is one call of a buyer with its answer. Each copy and each retry of a request is a Call of
// its own, with the same user and request id.
type Call struct {
	Kind      CallKind
	RequestID string // the idempotency key of the purchase
	User      int64
	Quantity  int64 // units asked for, or the units of the order to cancel
	Outcome   Outcome
	OrderID   string // the order in the answer to a purchase that succeeded; for other calls the order that they name
	Remaining int64  // the units left, in the answer to a purchase that succeeded
	Late      bool   // true for a payment that was sent certainly after the deadline
	Early     bool   // true for a payment that was answered certainly before the deadline
	Replayed  bool   // true for a purchase that was answered with the order of an earlier call
	ThisCall  bool   // true for a refusal that concerns this call only, not the whole request
	CallTimes
}

// CallTimes are times since the start of the run, by one clock. Answered is 0 if there was no
// answer or its time is not known. Both are 0 if neither time is known.
type CallTimes struct{ Sent, Answered time.Duration }

// A CallKind is the kind of a call.
type CallKind string

const (
	CallBuy    CallKind = ""
	CallCancel CallKind = "cancel"
	CallPay    CallKind = "pay" // pays a reservation
	// CallRestock is a call of the operator. Its User is OperatorOf of the restock's key.
	CallRestock CallKind = "restock"
)

// An Outcome is the kind of an answer.
type Outcome string

const (
	OutcomeSold       Outcome = "sold"     // the buyer has bought; for CallPay: the reservation is paid
	OutcomeReserved   Outcome = "reserved" // the units are held until they are paid
	OutcomeSoldOut    Outcome = "sold_out"
	OutcomeBusy       Outcome = "busy"
	OutcomeConflict   Outcome = "conflict"
	OutcomeDuplicate  Outcome = "duplicate"
	OutcomeInProgress Outcome = "in_progress" // another copy of the request is under way
	OutcomeAccepted   Outcome = "accepted"    // the order, or the refusal, is written later
	OutcomeExpired    Outcome = "expired"     // the payment came after the deadline
	OutcomeCancelled  Outcome = "cancelled"   // the order is cancelled
	OutcomeRestocked  Outcome = "restocked"   // the units are in the stock
	OutcomeUnknown    Outcome = "unknown"     // no answer, or the answer unknown_outcome
	OutcomeError      Outcome = "error"       // any other refusal; nothing was taken or given back
)

const never = time.Duration(math.MaxInt64)

// hasTimes reports whether it is known when the call was sent.
func (t *Call) hasTimes() bool { return t.Sent != 0 || t.Answered != 0 }

// answeredAt returns when the call was answered, or never if there was no answer or its time is
// not known.
func (t *Call) answeredAt() time.Duration {
	if t.Answered == 0 {
		return never
	}
	return t.Answered
}

// maySucceed reports whether the call succeeded or its outcome is unknown.
func (t *Call) maySucceed() bool {
	switch t.Outcome {
	case OutcomeSold, OutcomeReserved, OutcomeCancelled, OutcomeRestocked, OutcomeUnknown, OutcomeAccepted:
		return true
	}
	return false
}

// succeeded reports whether the answer gave the buyer units, for good or until they are paid.
func (t *Call) succeeded() bool { return t.Outcome == OutcomeSold || t.Outcome == OutcomeReserved }

// evidence is Evidence in the form that the rules read. It has totals over all orders, each order
// with the calls that name it, and each request with its order.
type evidence struct {
	Evidence
	report         Report
	unitsCancelled int64          // units of cancelled orders
	unitsExpired   int64          // units of expired orders
	records        []*orderRecord // the run's orders; if Calls is nil, only those that break a rule
	sellers        []string       // the strategies of the run's orders
	restocks       []*Order       // the rows of the run's restocks
	stockCount
	conflicts
	matchedCalls // empty if Calls is nil
}

// stockCount says where the run kept its stock, and how much the counter there has left.
type stockCount struct {
	stores      map[seckill.StockStore]*Order // each stock store of the run, with one order that was sold from it
	counterSays int64                         // the units left by the counter of the stock store
	stockKnown  bool                          // the run used one stock store, and its counter could be read
}

// conflicts has conflicts among active orders, found while the orders are counted.
type conflicts struct {
	hasSeveral        map[int64]bool // has every user with an active order; the value is true if the user has several
	severalOrders     examples       // examples of users with several active orders
	ordersBeyondStock examples       // examples of orders for units beyond the initial stock
	ordersBelowZero   examples       // examples of orders whose buyer was told that less than 0 units are left
}

// matchedCalls has the calls by their kind, and by the order that they are about.
type matchedCalls struct {
	purchases      []*Call // calls to buy, by user, request and time
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
	isOurs        bool     // true if the order's buyer is one of those in Calls
	request       *request // nil if no call asked for the order
	cancellations []*Call  // the calls that may have cancelled the order
	payments      []*Call  // the calls to pay the order
}

// A request is a purchase with one idempotency key: all its copies and retries.
type request struct {
	user  int64
	key   string
	calls []*Call      // at least one call
	order *orderRecord // nil if there is no order
}

func collectEvidence(e Evidence) *evidence {
	s := &e.Snapshot
	h := &evidence{Evidence: e, report: Report{
		Verdict: Held, Violations: []Violation{}, SKU: s.Stock.ID, Run: s.Stock.Run}}
	h.stores, h.hasSeveral = map[seckill.StockStore]*Order{}, map[int64]bool{}
	h.addRestocks()
	for o := range h.eachOrder() {
		h.countOrder(o)
		if o.isRestockIn(s.Stock.Run) {
			continue
		}
		sold := &orderRecord{Order: o, isOurs: e.Calls != nil && (e.Ours == nil || e.Ours(o))}
		breaks := func(rule func(*orderRecord) bool) bool { return rule(sold) }
		if e.Calls != nil || o.Run != s.Stock.Run || slices.ContainsFunc(orderChecks, breaks) {
			h.records = append(h.records, sold)
		}
	}
	h.findStock()
	if len(h.sellers) > 1 {
		h.report.Warning = fmt.Sprintf("Orders of %s met in this run. They do not guard the stock against each other: "+
			"reset the SKU before another strategy sells it.", strings.Join(h.sellers, ", "))
	}
	if e.Calls != nil {
		h.matchCalls()
	}
	return h
}

// eachOrder yields all orders by run and age.
func (e *Evidence) eachOrder() iter.Seq[*Order] {
	return func(yield func(*Order) bool) {
		if e.ByAge != nil {
			e.ByAge(yield)
		}
		for i := range e.Snapshot.Orders {
			if !yield(&e.Snapshot.Orders[i]) {
				return
			}
		}
	}
}

// unitHolders returns which of the run's orders hold which units.
func (h *evidence) unitHolders() *Holders {
	if h.ByUnit == nil {
		return HoldersOf(h.Snapshot.Orders, h.report.StockStore)
	}
	returned := h.report.Cancelled+h.report.Expired > 0 || len(h.restocks) > 0
	return &Holders{h.ByUnit, returned || h.report.StockStore.Split()}
}

func (h *evidence) countOrder(o *Order) {
	h.stores[h.storeOf(o.Strategy)] = o
	if o.Run == h.Snapshot.Stock.Run && !slices.Contains(h.sellers, o.Strategy) {
		h.sellers = append(h.sellers, o.Strategy)
	}
	switch {
	case o.isMalformed():
	case o.isRestockIn(h.Snapshot.Stock.Run):
		h.countRestock(o)
	case o.Status == Cancelled:
		h.report.Cancelled++
		h.unitsCancelled += o.Quantity
	case o.Status == Expired:
		h.report.Expired++
		h.unitsExpired += o.Quantity
	default:
		h.report.Orders++
		if o.isUnpaid() {
			h.report.Reserved += o.Quantity
		} else {
			h.report.Sold += o.Quantity
		}
		h.countBuyer(o)
	}
}

// countBuyer notes conflicts between the active order o and the active orders before it.
func (h *evidence) countBuyer(o *Order) {
	several, again := h.hasSeveral[o.UserID]
	if h.hasSeveral[o.UserID] = again; again && !several {
		h.severalOrders.addOrder(o)
	}
	if sold := h.unitsHeld(); sold > h.Initial {
		h.ordersBeyondStock.add(beyond, o.PublicID, o.UserID, sold-o.Quantity+1, sold, h.Initial)
	}
	if o.Remaining < 0 {
		h.ordersBelowZero.addOrder(o)
	}
}

// storeOf returns the stock store of a strategy. An unknown strategy has a store of its own.
func (h *evidence) storeOf(strategy string) seckill.StockStore {
	if h.StockStoreOf == nil {
		return seckill.InRow
	}
	return cmp.Or(h.StockStoreOf[strategy], seckill.StockStore("of "+strategy))
}

// findStock finds the stock store of the run. It also finds the units left there, from the stock
// row or a counter.
func (h *evidence) findStock() {
	h.report.StockStore, h.report.Remaining = seckill.InRow, h.Snapshot.Stock.Num
	if len(h.stores) > 0 {
		h.report.StockStore = slices.Max(slices.Collect(maps.Keys(h.stores)))
	}
	counter := h.report.StockStore.Counter()
	if h.stockKnown = !h.hasMixedStores(); !h.stockKnown || counter == "" {
		return
	}
	h.counterSays, h.stockKnown = h.Snapshot.StockStores[counter]
	rowDecides := h.report.StockStore == seckill.InRowAndRedis || h.report.StockStore == seckill.InStream
	if h.stockKnown && !rowDecides {
		h.report.Remaining = h.counterSays
	}
}

// hasMixedStores reports whether orders were sold from several stock stores.
func (h *evidence) hasMixedStores() bool { return len(h.stores) > 1 }

// unitsHeld returns the units of active orders, paid or not, and of restocks that have not arrived.
func (h *evidence) unitsHeld() int64 { return h.report.Sold + h.report.Reserved + h.report.Arriving }

// matchCalls finds the order that each call is about, and the calls about each order.
func (h *evidence) matchCalls() {
	h.refused = make(map[Request]bool, len(h.Snapshot.Refused))
	for _, r := range h.Snapshot.Refused {
		h.refused[r] = true
	}
	naming := map[string][]*Call{} // order id → calls that name an order which is not found yet
	h.purchases = make([]*Call, 0, len(h.Calls))
	for i := range h.Calls {
		switch t := &h.Calls[i]; t.Kind {
		case CallBuy:
			h.purchases = append(h.purchases, t)
		case CallRestock:
			h.restockCalls = append(h.restockCalls, t)
		default:
			naming[t.OrderID] = append(naming[t.OrderID], t)
		}
	}
	h.groupRequests()
	h.recordsByUser = make(map[int64][]*orderRecord, len(h.records))
	for _, s := range h.records {
		h.recordsByUser[s.UserID] = append(h.recordsByUser[s.UserID], s)
		if s.isOurs {
			s.addCalls(naming[s.PublicID])
			delete(naming, s.PublicID)
			if s.request = h.findRequest(s.Order); s.request != nil {
				s.request.order = s
			}
		}
		if len(s.cancellations) > 0 {
			h.unitsReturned += s.Quantity
		}
	}
	for i := range h.Calls {
		t := &h.Calls[i]
		if t.Kind == CallBuy || t.Kind == CallRestock || naming[t.OrderID] == nil {
			continue
		}
		h.unmatchedCalls = append(h.unmatchedCalls, t)
		if t.Kind == CallCancel {
			h.unitsReturned += t.Quantity
		}
	}
}

// groupRequests sorts the calls to buy, and groups them into requests.
func (h *evidence) groupRequests() {
	slices.SortStableFunc(h.purchases, func(a, b *Call) int {
		return cmp.Or(cmp.Compare(a.User, b.User), strings.Compare(a.RequestID, b.RequestID),
			cmp.Compare(a.Sent, b.Sent))
	})
	h.requests = make([]request, 0, len(h.purchases))
	for begin := 0; begin < len(h.purchases); {
		first := h.purchases[begin]
		isCopy := func(t *Call) bool { return t.User == first.User && t.RequestID == first.RequestID }
		end := begin + 1
		for end < len(h.purchases) && isCopy(h.purchases[end]) {
			end++
		}
		h.requests = append(h.requests, request{user: first.User, key: first.RequestID, calls: h.purchases[begin:end]})
		begin = end
	}
}

// findRequest returns the request that an order answers, or nil if no buyer asked for it.
func (h *evidence) findRequest(o *Order) *request {
	at, found := slices.BinarySearchFunc(h.requests, o, func(r request, o *Order) int {
		return cmp.Or(cmp.Compare(r.user, o.UserID), strings.Compare(r.key, o.RequestID))
	})
	if !found {
		return nil
	}
	return &h.requests[at]
}

func (s *orderRecord) addCalls(calls []*Call) {
	for _, t := range calls {
		switch {
		case t.Kind == CallPay:
			s.payments = append(s.payments, t)
		case t.maySucceed() || t.Outcome == OutcomeInProgress:
			s.cancellations = append(s.cancellations, t)
		}
	}
}

// returnedAt returns when a cancellation of s was first acknowledged: then its units had certainly
// been given back. It returns never if no cancellation was acknowledged, or if s is still active.
func (s *orderRecord) returnedAt() time.Duration {
	first := never
	for _, t := range s.cancellations {
		if t.Outcome == OutcomeCancelled && s.Status != Active {
			first = min(first, t.answeredAt())
		}
	}
	return first
}

// returnedAnyTime reports whether the units of s were given back at an unknown time.
func (s *orderRecord) returnedAnyTime() bool {
	return s.Status == Expired || s.Status == Cancelled && len(s.cancellations) == 0
}

// anyOutcome reports whether at least one of the calls has one of the outcomes.
func anyOutcome(calls []*Call, outcomes ...Outcome) bool {
	return slices.ContainsFunc(calls, func(t *Call) bool { return slices.Contains(outcomes, t.Outcome) })
}

// Holders tells which orders hold which units. Units are numbered down to 1, the last unit. An
// active order of q units whose buyer was told that r are left holds the units r+1 to r+q. If a
// unit has two holders, it was sold twice. A unit below 1 never existed.
type Holders struct {
	orders    iter.Seq[*Order] // the active orders, from the highest unit down
	ambiguous bool             // true if units were returned and may be sold again, or orders do not name their units
}

// HoldersOf returns the holders of units in a run with these orders, sold from this stock store.
func HoldersOf(orders []Order, stock seckill.StockStore) *Holders {
	h, active := &Holders{ambiguous: stock.Split()}, []*Order(nil)
	for i := range orders {
		if o := &orders[i]; o.Status == Active && !o.IsRestock() {
			active = append(active, o)
		} else {
			h.ambiguous = true
		}
	}
	slices.SortStableFunc(active, func(a, b *Order) int { return cmp.Compare(b.highestUnit(), a.highestUnit()) })
	h.orders = slices.Values(active)
	return h
}

// highestUnit returns the highest unit that o holds.
func (o *Order) highestUnit() int64 { return o.Remaining + o.Quantity }

// Known reports whether each order names its units. No order does if units were given back, or if
// the stock is in pieces (StockStore.Split): two buyers may then be told the same number.
func (h *Holders) Known() bool { return !h.ambiguous }

// CountSharing returns how many active orders hold a unit of o, including o. It returns 0 if
// orders do not name their units.
func (h *Holders) CountSharing(o Order) int {
	orders := 0
	if h.ambiguous || o.Status != Active {
		return orders
	}
	for other := range h.orders {
		if o.Remaining < other.highestUnit() && other.Remaining < o.highestUnit() {
			orders++
		}
	}
	return orders
}

// UnitsSoldTwice returns how many units have two holders or more. It returns 0 if orders do not
// name their units.
func (h *Holders) UnitsSoldTwice() int64 {
	units := int64(0)
	h.visitShared(func(_, _ *Order, shared int64) { units += shared })
	return units
}

// findShared returns examples of two orders that hold the same unit.
func (h *Holders) findShared() examples {
	var found examples
	h.visitShared(func(a, b *Order, _ int64) {
		found.add(twice, a.PublicID, b.PublicID, min(a.highestUnit(), b.highestUnit()),
			a.Remaining, b.Remaining, a.UserID, b.UserID, a.Quantity, b.Quantity)
	})
	return found
}

// visitShared visits each order b that shares units with an order a that was visited before b. The
// argument units is the number of these units that had one holder until then. The orders come by
// their highest units, from the top down. So the units visited so far have no gap, and those with
// two holders are the upper part of them.
func (h *Holders) visitShared(visit func(a, b *Order, units int64)) {
	if h.ambiguous {
		return
	}
	var lowest *Order             // the order that holds the lowest unit so far
	twice := int64(math.MaxInt64) // the units above this number have two holders; none so far
	for o := range h.orders {
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
