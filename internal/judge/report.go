package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"seckill/internal/seckill"
)

// A Verdict is the audit's judgement of one run.
type Verdict string

const (
	Held     Verdict = "held"      // nothing was oversold, lost or invented
	Oversold Verdict = "oversold"  // more units were sold than there were; perhaps units were lost as well
	Lost     Verdict = "lost"      // units or orders vanished, appeared from nowhere, or stayed unsold
	NotValid Verdict = "not_valid" // the run proves nothing, for instance because another client reset the sale
)

var (
	// orderOfRun ranks the verdicts on one SKU. NotValid is the worst, because other findings then cannot be trusted.
	orderOfRun = []Verdict{Held, Lost, Oversold, NotValid}
	// orderOfSale ranks the verdicts on several SKUs. A violation on one SKU stays proven if another SKU is not valid.
	orderOfSale = []Verdict{Held, NotValid, Lost, Oversold}
)

// Worse returns the worse of a and b. The list bestFirst has all values from the best to the worst.
func Worse[T comparable](bestFirst []T, a, b T) T {
	if slices.Index(bestFirst, b) > slices.Index(bestFirst, a) {
		return b
	}
	return a
}

// A Violation is one broken rule with a few examples.
type Violation struct {
	Rule     string   `json:"rule"`
	Verdict  Verdict  `json:"verdict"` // the verdict on a run that has only this violation
	Message  string   `json:"message"`
	Params   Params   `json:"params,omitempty"`
	Count    int      `json:"count"`
	Examples []string `json:"examples,omitempty"` // ids of up to maxExamples orders, users or requests
	Cases    []Case   `json:"cases,omitempty"`    // the same examples for pages in other languages
}

// Params has the numbers and the stock store in a violation's message, so that a page can write the message in
// another language. Each rule has its own parameters. The parameter "sku" is set if several SKUs were sold.
type Params map[string]any

// A Report is the result of Judge.
type Report struct {
	Verdict   Verdict `json:"verdict"`
	SKU       int64   `json:"sku_id"`
	Run       int64   `json:"run"`
	Initial   int64   `json:"initial"`
	Remaining int64   `json:"remaining"`
	Totals
	StockStore seckill.StockStore `json:"stock_store"`
	// Served says whether buyers were served while units were left. It is nil if Evidence.Calls was nil.
	Served     *Served     `json:"served,omitempty"`
	Violations []Violation `json:"violations"`
	// Warning is set if several strategies sold in the run. Several strategies are not a violation, but the
	// report then says nothing about any single strategy.
	Warning string `json:"warning,omitempty"`
}

// Totals counts the orders of a run, and their units.
type Totals struct {
	Sold      int64 `json:"sold"`      // the units of active orders, without the units in Reserved
	Orders    int   `json:"orders"`    // the number of active orders
	Cancelled int   `json:"cancelled"` // the number of cancelled orders
	// Reserved counts the units of active orders that are not paid yet. Such units count neither as sold nor
	// as remaining. Expired counts the orders that were not paid in time.
	Reserved int64 `json:"reserved,omitempty"`
	Expired  int   `json:"expired,omitempty"`
	// Restocked counts the units of all restocks. Initial includes all of them. Arriving counts the units of
	// restocks that are not in the stock yet.
	Restocked int64 `json:"restocked,omitempty"`
	Arriving  int64 `json:"arriving,omitempty"`
}

func (r *Report) add(broken Rule, e examples, args []any) {
	v := Violation{Rule: broken.ID, Verdict: broken.Verdict, Message: fmt.Sprintf(broken.Says, args...),
		Params: nameParams(broken.Params, args), Count: max(1, e.count), Examples: e.first, Cases: e.cases}
	r.Violations = append(r.Violations, v)
	r.Verdict = Worse(orderOfRun, r.Verdict, v.Verdict)
}

// WithViolation returns r with a violation that Judge does not look for, such as an error that CheckLinearizable found.
func (r Report) WithViolation(rule, message string, params Params) Report {
	r.Violations = append(slices.Clip(r.Violations),
		Violation{Rule: rule, Verdict: Lost, Message: message, Params: params, Count: 1})
	r.Verdict = Worse(orderOfRun, r.Verdict, Lost)
	return r
}

// SumReports returns the report on a sale of several SKUs. It has the worst verdict, and all
// violations, each with its SKU.
func SumReports(reports []Report) Report {
	if len(reports) == 1 {
		return reports[0]
	}
	all := Report{Verdict: Held, Violations: []Violation{}}
	for i, r := range reports {
		if i == 0 {
			all.SKU, all.Run, all.StockStore = r.SKU, r.Run, r.StockStore
		}
		all.Initial += r.Initial
		all.Remaining += r.Remaining
		all.Sold += r.Sold
		all.Orders += r.Orders
		all.Cancelled += r.Cancelled
		all.Reserved += r.Reserved
		all.Expired += r.Expired
		all.Restocked += r.Restocked
		all.Arriving += r.Arriving
		all.Served = all.Served.worseOf(r.Served)
		all.Verdict = Worse(orderOfSale, all.Verdict, r.Verdict)
		for _, v := range r.Violations {
			v.Message = fmt.Sprintf("SKU %d: %s", r.SKU, v.Message)
			v.Params = maps.Clone(v.Params)
			v.Params["sku"] = r.SKU
			all.Violations = append(all.Violations, v)
		}
	}
	return all
}

// A Case is an example as a code with parameters, from which a page writes the example in another language.
type Case struct {
	Code   string `json:"code"`
	Params Params `json:"params"`
}

// A form describes one kind of example: its code, its format for fmt.Sprintf and the names of its arguments. The
// format need not use every argument.
type form struct{ code, format, params string }

var (
	ofOrder = form{"order", "order %s of user %d: quantity %d, told %d left, %s, sold by %s in run %d",
		"order user quantity left state strategy run"}
	beyond = form{"beyond", "order %s of user %d sold units %d to %d of %d", "order user from to stock"}
	twice  = form{"twice", "orders %[1]s and %[2]s both sold unit %[3]d: they were told %[4]d and %[5]d left",
		"order other unit left other_left user other_user quantity other_quantity"}
	ofRestock = form{"restock", "restock %s of %d units", "request quantity"}
	ofRequest = form{"request", "user %d by request %s", "user request"}
)

// examples counts the orders or requests that break a rule, and keeps the first few.
type examples struct {
	count int
	first []string
	cases []Case
}

const maxExamples = 5

func (e *examples) add(f form, args ...any) {
	e.count++
	if len(e.first) >= maxExamples {
		return
	}
	e.first = append(e.first, fmt.Sprintf(f.format, args...))
	e.cases = append(e.cases, Case{f.code, nameParams(f.params, args)})
}

func (e *examples) addOrder(o *Order) {
	e.add(ofOrder, o.PublicID, o.UserID, o.Quantity, o.Remaining, o.Status, o.Strategy, o.Run)
}

// nameParams returns a map that has the names in params as keys and the args as values. Args without a name are left
// out.
func nameParams(params string, args []any) Params {
	all := Params{}
	for i, name := range strings.Fields(params) {
		all[name] = args[i]
	}
	return all
}

// A ServedState says whether a sale served its buyers. The Verdict does not say this, because the stock can
// be right to the last unit while nobody can buy.
type ServedState string

const (
	ServedYes      ServedState = "served"    // the sale never stood still for longer than Patience
	ServedBlocked  ServedState = "blocked"   // units were left, but no buyer got one for longer than Patience
	ServedNotKnown ServedState = "not_known" // the evidence has no times or no patience, or the stock is not known
)

// Served says how long a sale stood still. Its times are milliseconds since the start of the run,
// by the clock of Evidence.Calls.
type Served struct {
	State      ServedState `json:"state"`
	PatienceMs float64     `json:"patience_ms"`
	// LongestMs is the length of the longest period in which no unit was sold although at every moment a buyer was
	// waiting for no more units than were left. FromMs is the start of this period. The period ends with the next sale
	// or the last answer. If there was no such period, LongestMs and FromMs are 0.
	LongestMs float64 `json:"longest_ms"`
	FromMs    float64 `json:"from_ms"`
}

// Blocked reports whether the sale was blocked. It returns false if s is nil.
func (s *Served) Blocked() bool { return s != nil && s.State == ServedBlocked }

// worseOf returns the worse of s and o, the results of two SKUs.
func (s *Served) worseOf(o *Served) *Served {
	if s == nil || o == nil {
		return cmp.Or(s, o)
	}
	worse := []ServedState{ServedYes, ServedNotKnown, ServedBlocked}
	byState := cmp.Compare(slices.Index(worse, o.State), slices.Index(worse, s.State))
	if cmp.Or(byState, cmp.Compare(o.LongestMs, s.LongestMs)) > 0 {
		return o
	}
	return s
}

type span struct{ from, to time.Duration }

func (s span) length() time.Duration { return s.to - s.from }

type change struct {
	at    time.Duration
	units int64 // units sold if positive, units returned if negative
}

// soldAfter returns a function that takes a time. The function returns the units sold after that time, less the units
// returned after it.
func soldAfter(all []change) func(time.Duration) int64 {
	slices.SortFunc(all, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	after := make([]int64, len(all)+1) // after[i] is the sum of the units of all[i:]
	for i := len(all) - 1; i >= 0; i-- {
		after[i] = after[i+1] + all[i].units
	}
	return func(at time.Duration) int64 {
		return after[sort.Search(len(all), func(i int) bool { return all[i].at > at })]
	}
}

// traffic has the times at which units were sold and returned, and at which buyers asked for units.
type traffic struct {
	changes []change // each sale at its earliest and each return at its latest possible time
	sold    []span   // for each order, the time during which it may have been sold
	asks    []ask    // the asks of all buyers, from the earliest to the latest
}

// An ask is one call's wait for units: its time span and the number of units.
type ask struct {
	span
	units int64
}

// collectTraffic collects the times of sales and calls. If a time is not certain, it assumes that the sale went on:
//
//   - An order is sold at the moment of the buyer's answer. If the call may have lost its answer,
//     the order may have been sold at any time from its first call until the answer to a retry, or
//     until Patience after the buyer gave up. All that time counts as selling.
//   - A buyer waits from sending a call until its answer. A call does not count if it was told
//     duplicate, if its request had a final answer before, or if its buyer holds another order. A
//     call that bought in the end counts for the time until its answer.
func (e *evidence) collectTraffic() *traffic {
	t := &traffic{changes: make([]change, 0, len(e.records)), sold: make([]span, 0, len(e.records)),
		asks: make([]ask, 0, len(e.purchases))}
	for _, rec := range e.records {
		switch {
		case rec.returnedAnyTime():
			t.changes = append(t.changes, change{never, -rec.Quantity})
		case rec.Status == Cancelled:
			t.changes = append(t.changes, change{rec.returnedAt(), -rec.Quantity})
		}
		if rec.request != nil {
			t.addSale(rec, e.Patience)
		}
	}
	for _, o := range e.restocks {
		if o.Status == Cancelled {
			t.changes = append(t.changes, change{e.restockedAt(o), -o.Quantity})
		}
	}
	holds := map[int64]time.Duration{} // maps a user to the time when the user was told of an order that stays active
	for i := range e.requests {
		if r := &e.requests[i]; r.order != nil && r.order.Status == Active {
			holds[r.user] = min(r.acknowledgedAt(), cmp.Or(holds[r.user], never))
		}
	}
	for i := range e.requests {
		r := &e.requests[i]
		final := firstToldAt(r.calls, OutcomeSold, OutcomeReserved, OutcomeSoldOut, OutcomeDuplicate)
		until := min(final, cmp.Or(holds[r.user], never))
		for _, c := range r.calls {
			if c.hasTimes() && c.Outcome != OutcomeDuplicate && c.Sent < until {
				t.asks = append(t.asks, ask{span{c.Sent, max(c.Sent, c.Answered)}, c.Quantity})
			}
		}
	}
	slices.SortFunc(t.sold, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	slices.SortFunc(t.asks, func(a, b ask) int { return cmp.Compare(a.from, b.from) })
	return t
}

// acknowledgedAt returns when an answer first named r's order. It returns the constant never if no answer did.
func (r *request) acknowledgedAt() time.Duration {
	return firstToldAt(r.calls, OutcomeSold, OutcomeReserved)
}

func (t *traffic) addSale(rec *orderRecord, patience time.Duration) {
	asked, told := rec.request.calls[0].Sent, rec.request.acknowledgedAt()
	latest, doubt := time.Duration(0), false
	for _, c := range rec.request.calls {
		latest = max(latest, c.Sent, c.Answered)
		doubt = doubt || c.maySucceed() && !c.succeeded()
	}
	sold := span{told, told}
	switch {
	case told == never:
		sold = span{asked, latest + patience}
	// A call with an unknown outcome may have bought the units at any time since the first call.
	case doubt:
		sold.from = asked
	}
	t.changes, t.sold = append(t.changes, change{sold.from, rec.Quantity}), append(t.sold, sold)
}

// findStandstill finds the longest time in which no unit was sold although buyers asked for no more units than were
// left. A pause of up to a quarter of Patience between two calls still counts as asking. The units left at a time are
// the units left at the end, plus the units sold later, less the units returned later. If the time of a sale is not
// certain, the sale counts as early; a return counts as late. So a sale is called blocked only if that is certain.
func (e *evidence) findStandstill() *Served {
	t := e.collectTraffic()
	s := &Served{State: ServedNotKnown, PatienceMs: milliseconds(e.Patience)}
	// Nobody can buy before the start of a sale. So if there is a start time, no standstill begins before the first order.
	starts := e.Snapshot.Stock.StartsAt != nil
	if e.Patience <= 0 || len(t.asks) == 0 || !e.stockKnown || starts && len(t.sold) == 0 {
		return s
	}
	from := time.Duration(0)
	if starts {
		from = t.sold[0].from
	}
	later, atEnd := soldAfter(t.changes), min(e.report.Remaining, e.Initial-e.unitsHeld())
	left := func(at time.Duration) int64 { return atEnd + later(at) }
	s.State = ServedYes
	longest := span{}
	for _, sold := range append(t.sold, span{never, never}) {
		if gap := (span{from, sold.from}); gap.length() > longest.length() {
			if asked := t.findAskedSpan(gap, e.Patience/4, left); asked.length() > longest.length() {
				longest = asked
			}
		}
		from = max(from, sold.to)
	}
	if longest.length() > e.Patience {
		s.State = ServedBlocked
	}
	s.LongestMs, s.FromMs = milliseconds(longest.length()), milliseconds(longest.from)
	return s
}

// findAskedSpan examines a gap between two sales. It returns the longest part of the gap in which, at every moment, a
// buyer asked for no more units than were left. A break between two calls does not end this part if the break is at
// most as long as the argument pause. The caller must pass gaps from the earliest to the latest, because findAskedSpan
// forgets calls that ended before the gap.
func (t *traffic) findAskedSpan(gap span, pause time.Duration, left func(time.Duration) int64) span {
	var longest span
	current := span{0, -pause - 1} // this span ends so early that the first call begins a new one
	for len(t.asks) > 0 && t.asks[0].to <= gap.from {
		t.asks = t.asks[1:]
	}
	for _, a := range t.asks {
		if a.from >= gap.to {
			break
		}
		asked := span{max(a.from, gap.from), min(a.to, gap.to)}
		if a.to <= gap.from || a.units > left(asked.from) {
			continue
		}
		if asked.from > current.to+pause {
			current = asked
		}
		current.to = max(current.to, asked.to)
		if current.length() > longest.length() {
			longest = current
		}
	}
	return longest
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
