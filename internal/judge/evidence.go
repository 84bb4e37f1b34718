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

// Evidence is everything the judge looks at.
type Evidence struct {
	Snapshot Snapshot
	// ByAge and ByUnit, if not nil, read the orders one at a time, and Snapshot.Orders is empty.
	// ByAge has all orders by run and age, ByUnit the active ones from the highest unit on.
	ByAge, ByUnit iter.Seq[*Order]
	// Initial is the stock that was *set* for this run, by its caller.
	Initial int64
	// Run is the number of the run that is judged; 0: whichever is current.
	Run int64
	// StockStoreOf says where each strategy keeps its stock; nil: all in the row.
	StockStoreOf map[string]seckill.StockStore
	// Told holds what buyers were told, call by call; nil when the ledger is
	// judged alone. An empty, non-nil slice is a run without demand.
	Calls []Call
	// Ours tells the orders of Told's buyers from those of others who buy in the
	// same sale; nil: all are ours. Those of others are neither invented nor
	// unasked for, and count in the balance like any.
	Ours func(*Order) bool
	// Patience is the longest wait for a lock plus the longest lease (and what
	// else may rightly keep buyers waiting, such as an outage that was planned):
	// a sale that stands still for longer is blocked. 0: Report.Served is
	// ServedNotKnown. A sale with a start of its own (Stock.StartsAt) is looked at
	// from its first order on.
	Patience time.Duration
}

// Told is what a buyer was told about one call. Copies and retries of one
// request are calls of their own with the same user and request id, and so is
// a cancellation.
type Call struct {
	Kind      CallKind
	RequestID string // the idempotency key of the purchase
	User      int64
	Quantity  int64 // units asked for; of a cancellation: units of its order
	Outcome   Outcome
	OrderID   string // of a purchase that was told sold or reserved; of other calls: the order that they name
	Remaining int64  // of a purchase that was told sold or reserved
	// Late: of CallPay: it was sent when the deadline had certainly passed.
	Late bool
	// Early: of CallPay: it was answered when the deadline had certainly not passed.
	Early bool
	// Replayed: of a purchase that was told sold: another call of the request had bought.
	Replayed bool
	// ThisCall: of OutcomeError: it says that nothing was taken by this call, and nothing of the request.
	ThisCall bool
	// Sent and Answered are times since the start of the run, by one clock.
	// Answered 0: no answer, or its time is not known. Both 0: neither is known.
	Sent, Answered time.Duration
}

// A Call is what a buyer asked for.
type CallKind string

const (
	CallBuy    CallKind = ""
	CallCancel CallKind = "cancel"
	CallPay    CallKind = "pay" // a reservation
)

// An Outcome is what a buyer was told.
type Outcome string

const (
	OutcomeSold       Outcome = "sold"     // of CallPay: the reservation is paid
	OutcomeReserved   Outcome = "reserved" // of CallBuy: the units are held until they are paid
	OutcomeSoldOut    Outcome = "sold_out"
	OutcomeBusy       Outcome = "busy"
	OutcomeConflict   Outcome = "conflict"
	OutcomeDuplicate  Outcome = "duplicate"
	OutcomeInProgress Outcome = "in_progress" // another copy of the request is under way
	OutcomeAccepted   Outcome = "accepted"    // the answer comes later
	OutcomeExpired    Outcome = "expired"     // of CallPay: it came after the deadline
	OutcomeCancelled  Outcome = "cancelled"   // of CallCancel: the order is cancelled
	OutcomeUnknown    Outcome = "unknown"     // no answer, or one that says so
	OutcomeError      Outcome = "error"       // an answer that says that nothing was taken, or given back
)

const never = time.Duration(math.MaxInt64)

// timed: the call's times are known, at least when it was sent.
func (t *Call) hasTimes() bool { return t.Sent != 0 || t.Answered != 0 }

// end is when the call was answered; never if it was not, or at an unknown time.
func (t *Call) answeredAt() time.Duration {
	if t.Answered == 0 {
		return never
	}
	return t.Answered
}

// took: the call got what it asked for, or may have.
func (t *Call) maySucceed() bool {
	switch t.Outcome {
	case OutcomeSold, OutcomeReserved, OutcomeCancelled, OutcomeUnknown, OutcomeAccepted:
		return true
	}
	return false
}

// got: the call was told that the units are the buyer's, for good or until they
// are paid.
func (t *Call) succeeded() bool { return t.Outcome == OutcomeSold || t.Outcome == OutcomeReserved }

// A hearing is the evidence put in order: the totals of the orders, each order with
// the calls that name it, and each request with its order.
type evidence struct {
	Evidence
	report         Report
	unitsCancelled int64                         // Σ quantity of cancelled orders
	unitsExpired   int64                         // Σ quantity of expired orders
	stores         map[seckill.StockStore]*Order // with an order that was sold from it
	counterSays    int64                         // what the counter of the stock store says
	stockKnown     bool                          // what is left is known: one stock store, and its counter could be read
	records        []*orderRecord                // without Told only those that break a rule
	hasSeveral     map[int64]bool                // with an active order; true: with several
	sellers        []string                      // the strategies of the run's orders

	severalOrders, ordersBeyondStock, ordersBelowZero examples // of users with several orders, units that never were, orders told less than 0

	// Without Told these are empty.
	purchases      []*Call // calls to buy, by user, request and time
	requests       []request
	recordsByUser  map[int64][]*orderRecord
	unmatchedCalls []*Call          // cancellations and payments whose order is not there
	unitsReturned  int64            // units of orders that buyers cancelled, or may have
	refused        map[Request]bool // by the ledger
}

// A sale is an order with all that was said about it.
type orderRecord struct {
	*Order
	isOurs        bool     // its buyer is one of Told's
	request       *request // nil: none of them asked for it
	cancellations []*Call  // its cancellations, but for those that were told that nothing was done
	payments      []*Call  // payments of it
}

// A request is what one buyer asked for with one key.
type request struct {
	user  int64
	key   string
	calls []*Call      // at least one
	order *orderRecord // nil: it has no order
}

func collectEvidence(e Evidence) *evidence {
	s := &e.Snapshot
	h := &evidence{Evidence: e, stores: map[seckill.StockStore]*Order{}, hasSeveral: map[int64]bool{}, report: Report{
		Verdict: Held, Violations: []Violation{}, SKU: s.Stock.ID, Run: s.Stock.Run, Initial: e.Initial}}
	for o := range h.eachOrder() {
		h.countOrder(o)
		sold := &orderRecord{Order: o, isOurs: e.Calls != nil && (e.Ours == nil || e.Ours(o))}
		breaks := func(rule func(*orderRecord) bool) bool { return rule(sold) }
		if e.Calls != nil || o.Run != s.Stock.Run || slices.ContainsFunc(singly, breaks) {
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

// orders are all orders, by run and age.
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

// holders say which orders hold which units.
func (h *evidence) unitHolders() *Holders {
	if h.ByUnit == nil {
		return HoldersOf(h.Snapshot.Orders, h.report.StockStore)
	}
	return &Holders{h.ByUnit, h.report.StockStore.Split() || h.report.Cancelled+h.report.Expired > 0}
}

func (h *evidence) countOrder(o *Order) {
	h.stores[h.storeOf(o.Strategy)] = o
	if o.Run == h.Snapshot.Stock.Run && !slices.Contains(h.sellers, o.Strategy) {
		h.sellers = append(h.sellers, o.Strategy)
	}
	switch {
	case o.isMalformed():
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

// countBuyer looks for what an active order cannot be beside those before it.
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

// storeOf gives a strategy that is not known a store of its own.
func (h *evidence) storeOf(strategy string) seckill.StockStore {
	if h.StockStoreOf == nil {
		return seckill.InRow
	}
	return cmp.Or(h.StockStoreOf[strategy], seckill.StockStore("of "+strategy))
}

// findStock finds out where the stock is kept, and what is left of it: by the row,
// or by the counter that a sale is sold from.
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
	behind := h.report.StockStore == seckill.InRowAndRedis || h.report.StockStore == seckill.InStream // there the row has the last word
	if h.stockKnown && !behind {
		h.report.Remaining = h.counterSays
	}
}

// mixed: the orders are of strategies that keep their stock in different places.
func (h *evidence) hasMixedStores() bool { return len(h.stores) > 1 }

// taken are the units that active orders hold, paid or not.
func (h *evidence) unitsHeld() int64 { return h.report.Sold + h.report.Reserved }

// listen brings orders and calls together.
func (h *evidence) matchCalls() {
	h.refused = make(map[Request]bool, len(h.Snapshot.Refused))
	for _, r := range h.Snapshot.Refused {
		h.refused[r] = true
	}
	naming := map[string][]*Call{} // calls about an order, by its id; those that meet it are taken out
	h.purchases = make([]*Call, 0, len(h.Calls))
	for i := range h.Calls {
		if t := &h.Calls[i]; t.Kind == CallBuy {
			h.purchases = append(h.purchases, t)
		} else {
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
		if t.Kind == CallBuy || naming[t.OrderID] == nil {
			continue
		}
		h.unmatchedCalls = append(h.unmatchedCalls, t)
		if t.Kind == CallCancel {
			h.unitsReturned += t.Quantity
		}
	}
}

// findRequests sorts the calls to buy into requests.
func (h *evidence) groupRequests() {
	slices.SortStableFunc(h.purchases, func(a, b *Call) int {
		return cmp.Or(cmp.Compare(a.User, b.User), strings.Compare(a.RequestID, b.RequestID), cmp.Compare(a.Sent, b.Sent))
	})
	h.requests = make([]request, 0, len(h.purchases))
	for begin, end := 0, 0; begin < len(h.purchases); begin = end {
		first := h.purchases[begin]
		end = begin + 1
		for end < len(h.purchases) && h.purchases[end].User == first.User && h.purchases[end].RequestID == first.RequestID {
			end++
		}
		h.requests = append(h.requests, request{user: first.User, key: first.RequestID, calls: h.purchases[begin:end]})
	}
}

// requestOf is the request that an order answers; nil if no buyer asked for it.
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

// until is when s had certainly been given back: when a cancellation of it was
// acknowledged. never if none was, or if it did not take place.
func (s *orderRecord) returnedAt() time.Duration {
	first := never
	for _, t := range s.cancellations {
		if t.Outcome == OutcomeCancelled && s.Status != Active {
			first = min(first, t.answeredAt())
		}
	}
	return first
}

// anyTime: s was given back, and no call says when.
func (s *orderRecord) returnedAnyTime() bool {
	return s.Status == Expired || s.Status == Cancelled && len(s.cancellations) == 0
}

// heard reports whether one of some calls had one of some outcomes.
func anyOutcome(calls []*Call, outcomes ...Outcome) bool {
	return slices.ContainsFunc(calls, func(t *Call) bool { return slices.Contains(outcomes, t.Outcome) })
}

// Holders say which orders hold which units. An active order of q units that was
// told that r are left holds the units r+1 to r+q, counted from the last: a unit
// with two holders was sold twice, and a unit below 1 never was there.
type Holders struct {
	orders    iter.Seq[*Order] // active ones, from the highest unit on
	ambiguous bool             // units were given back and may be sold again, or orders do not say which they have
}

// HoldersOf takes all orders of a run that was sold from stock.
func HoldersOf(orders []Order, stock seckill.StockStore) *Holders {
	h, active := &Holders{ambiguous: stock.Split()}, []*Order(nil)
	for i := range orders {
		if o := &orders[i]; o.Status == Active {
			active = append(active, o)
		} else {
			h.ambiguous = true
		}
	}
	slices.SortStableFunc(active, func(a, b *Order) int { return cmp.Compare(b.highestUnit(), a.highestUnit()) })
	h.orders = slices.Values(active)
	return h
}

// highest is the first of the units that o holds.
func (o *Order) highestUnit() int64 { return o.Remaining + o.Quantity }

// Known is false once units were given back, and where the stock is in pieces
// (StockStore.Split): then two orders may rightly have been told the same.
func (h *Holders) Known() bool { return !h.ambiguous }

// Of is how many active orders share a unit with o, and o itself; 0 if that is
// not known.
func (h *Holders) CountSharing(o Order) (orders int) {
	if h.ambiguous || o.Status != Active {
		return 0
	}
	for other := range h.orders {
		if o.Remaining < other.highestUnit() && other.Remaining < o.highestUnit() {
			orders++
		}
	}
	return orders
}

// Twice is how many units have two holders or more; 0 if that is not known.
func (h *Holders) UnitsSoldTwice() (units int64) {
	h.visitShared(func(_, _ *Order, shared int64) { units += shared })
	return units
}

// pairs shows orders that hold the same unit.
func (h *Holders) findShared() (found examples) {
	h.visitShared(func(a, b *Order, _ int64) {
		found.add(twice, a.PublicID, b.PublicID, min(a.highestUnit(), b.highestUnit()), a.Remaining, b.Remaining, a.UserID, b.UserID, a.Quantity, b.Quantity)
	})
	return found
}

// share visits each order b that holds a unit which a earlier one, a, holds too,
// with the number of such units that had one holder before. Orders come by their
// highest unit, so what is held above it down to the lowest unit so far is held
// without a gap, and so are the units with two holders.
func (h *Holders) visitShared(visit func(a, b *Order, units int64)) {
	if h.ambiguous {
		return
	}
	var lowest *Order
	twice := int64(math.MaxInt64) // units above it have two holders
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
