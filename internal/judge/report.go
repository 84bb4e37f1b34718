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
	Held     Verdict = "held"      // nothing oversold, lost or invented
	Oversold Verdict = "oversold"  // more was sold than there was (also when both)
	Lost     Verdict = "lost"      // units or orders vanished, appeared from nowhere, or stayed unsold
	NotValid Verdict = "not_valid" // the run itself proves nothing
)

// rank orders verdicts: a run that proves nothing outranks what it seems to prove.
func verdictRank(v Verdict) int {
	return slices.Index([]Verdict{Held, Lost, Oversold, NotValid}, v)
}

// A Violation is one broken rule with a few examples.
type Violation struct {
	Rule     string   `json:"rule"`
	Verdict  Verdict  `json:"verdict"` // what this violation alone makes of the run
	Message  string   `json:"message"`
	Params   Params   `json:"params,omitempty"`
	Count    int      `json:"count"`
	Examples []string `json:"examples,omitempty"` // order ids, users, requests
	Cases    []Case   `json:"cases,omitempty"`    // each of Examples, in the same order
}

// Params are what a violation's message says, for callers that say it in another
// language: numbers, and the name of a stock store. Their names are fixed for each
// rule; "sku" is there when several were sold.
type Params map[string]any

// A Report is the judge's finding.
type Report struct {
	Verdict   Verdict `json:"verdict"`
	SKU       int64   `json:"sku_id"`
	Run       int64   `json:"run"`
	Initial   int64   `json:"initial"`
	Remaining int64   `json:"remaining"`
	Sold      int64   `json:"sold"`      // Σ quantity of active orders, less Reserved
	Orders    int     `json:"orders"`    // active ones
	Cancelled int     `json:"cancelled"` // cancelled ones
	// Reserved are units of active orders that are not paid yet: neither sold nor
	// left. Expired counts the orders that were not paid in time.
	Reserved   int64              `json:"reserved,omitempty"`
	Expired    int                `json:"expired,omitempty"`
	StockStore seckill.StockStore `json:"stock_store"`
	// Served is the second axis: whether buyers who asked were served while there
	// were units. nil without Told.
	Served     *Served     `json:"served,omitempty"`
	Violations []Violation `json:"violations"`
	// Warning says that orders of several strategies met in the run. It is no violation, but
	// what such a run shows is true of none of them. Empty if there is nothing to say.
	Warning string `json:"warning,omitempty"`
}

func (r *Report) add(broken rule, e examples, args []any) {
	v := Violation{Rule: broken.name, Verdict: broken.verdict, Message: fmt.Sprintf(broken.says, args...),
		Params: nameParams(broken.params, args), Count: max(1, e.count), Examples: e.first, Cases: e.cases}
	r.Violations = append(r.Violations, v)
	if verdictRank(v.Verdict) > verdictRank(r.Verdict) {
		r.Verdict = v.Verdict
	}
}

// Add is r with a violation that was found in what the judge does not look at:
// the times of the answers.
func (r Report) WithViolation(rule, message string, params Params) Report {
	r.Violations = append(slices.Clip(r.Violations), Violation{Rule: rule, Verdict: Lost, Message: message, Params: params, Count: 1})
	if verdictRank(Lost) > verdictRank(r.Verdict) {
		r.Verdict = Lost
	}
	return r
}

// Sum is the report on a sale of several SKUs: the worst verdict, and every
// violation with its SKU. What is proven of one SKU stays proven where the run of
// another proves nothing.
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
		all.Served = all.Served.worseOf(r.Served)
		worst := []Verdict{Held, NotValid, Lost, Oversold}
		all.Verdict = worst[max(slices.Index(worst, all.Verdict), slices.Index(worst, r.Verdict))]
		for _, v := range r.Violations {
			v.Message = fmt.Sprintf("SKU %d: %s", r.SKU, v.Message)
			v.Params = maps.Clone(v.Params)
			if v.Params == nil {
				v.Params = Params{}
			}
			v.Params["sku"] = r.SKU
			all.Violations = append(all.Violations, v)
		}
	}
	return all
}

// A Case is an example as a code with parameters, for callers that say it in
// another language.
type Case struct {
	Code   string `json:"code"`
	Params Params `json:"params"`
}

// A form is a kind of example. Each word of params names an argument; format need not
// say all of them.
type form struct{ code, format, params string }

var (
	ofOrder = form{"order", "order %s of user %d: quantity %d, told %d left, %s, sold by %s in run %d",
		"order user quantity left state strategy run"}
	beyond = form{"beyond", "order %s of user %d sold units %d to %d of %d", "order user from to stock"}
	twice  = form{"twice", "orders %[1]s and %[2]s both sold unit %[3]d: they were told %[4]d and %[5]d left",
		"order other unit left other_left user other_user quantity other_quantity"}
	ofRequest = form{"request", "user %d by request %s", "user request"}
)

// examples counts what breaks a rule, and shows the first few.
type examples struct {
	count int
	first []string
	cases []Case
}

const maxExamples = 5

func (e *examples) add(f form, args ...any) {
	if e.count++; len(e.first) >= maxExamples {
		return
	}
	e.first = append(e.first, fmt.Sprintf(f.format, args...))
	e.cases = append(e.cases, Case{f.code, nameParams(f.params, args)})
}

func (e *examples) addOrder(o *Order) {
	e.add(ofOrder, o.PublicID, o.UserID, o.Quantity, o.Remaining, o.Status, o.Strategy, o.Run)
}

// named gives the first of args their names; nil if there are none.
func nameParams(params string, args []any) (all Params) {
	for i, name := range strings.Fields(params) {
		if all == nil {
			all = Params{}
		}
		all[name] = args[i]
	}
	return all
}

// A ServedState is the judge's word on the second axis: right is one question,
// served another. A sale that stands still can be right to the last unit.
type ServedState string

const (
	ServedYes      ServedState = "served"    // while units were there, no buyers asked for longer than Patience without a sale
	ServedBlocked  ServedState = "blocked"   // they did
	ServedNotKnown ServedState = "not_known" // no times, no patience, or no stock that can be trusted
)

// Served says how buyers were served. Times are milliseconds since the start of
// the run, by the clock of Told.
type Served struct {
	State      ServedState `json:"state"`
	PatienceMs float64     `json:"patience_ms"` // what was allowed
	// The longest stretch without a sale during which buyers asked for no more
	// than there was, all the time: where it began, and how long it was. 0 if
	// there was none. It ends with the last answer or the next sale.
	LongestMs float64 `json:"longest_ms"`
	FromMs    float64 `json:"from_ms"`
}

// Blocked is false also for nil.
func (s *Served) Blocked() bool { return s != nil && s.State == ServedBlocked }

// and is the word on two SKUs: blocked if one is.
func (s *Served) worseOf(o *Served) *Served {
	if s == nil || o == nil {
		return cmp.Or(s, o)
	}
	worse := []ServedState{ServedYes, ServedNotKnown, ServedBlocked}
	if a, b := slices.Index(worse, s.State), slices.Index(worse, o.State); b > a || a == b && o.LongestMs > s.LongestMs {
		return o
	}
	return s
}

// A span is a stretch of time.
type span struct{ from, to time.Duration }

func (s span) length() time.Duration { return s.to - s.from }

// A change of what is left.
type change struct {
	at    time.Duration
	units int64 // that were sold; less than 0: they came back
}

// soldAfter says how many units were sold after a time, less those that came back.
func soldAfter(all []change) func(time.Duration) int64 {
	slices.SortFunc(all, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	after := make([]int64, len(all)+1) // Σ units of all[i:]
	for i := len(all) - 1; i >= 0; i-- {
		after[i] = after[i+1] + all[i].units
	}
	return func(at time.Duration) int64 {
		return after[sort.Search(len(all), func(i int) bool { return all[i].at > at })]
	}
}

// traffic is when units went and came back, and when buyers asked for some.
type traffic struct {
	changes []change // sales at the earliest, and returns at the latest
	sold    []span   // when each order was sold, or may have been
	asks    []ask    // by when they began
}

// An ask is a call that waited for units.
type ask struct {
	span
	units int64
}

// traffic collects what is certain:
//
//   - A sale is a moment: when its buyer was told. An order that a call without
//     an answer may have got may have been sold at any time from when it was
//     first asked for until its buyer was told by a retry, or else until Patience
//     after the buyer gave up: all that time counts as sold.
//   - Buyers ask from when they send a call until it is answered. One who was told
//     duplicate has an order and does not count, nor does one whose request had its
//     answer before, or who holds another order. A buyer who waited and bought in the
//     end does: until then they got nothing.
func (h *evidence) collectTraffic() *traffic {
	t := &traffic{changes: make([]change, 0, len(h.records)), sold: make([]span, 0, len(h.records)),
		asks: make([]ask, 0, len(h.purchases))}
	for _, s := range h.records {
		switch {
		case s.returnedAnyTime():
			t.changes = append(t.changes, change{never, -s.Quantity})
		case s.Status == Cancelled:
			t.changes = append(t.changes, change{s.returnedAt(), -s.Quantity})
		}
		if s.request != nil {
			t.addSale(s, h.Patience)
		}
	}
	holds := map[int64]time.Duration{} // since when a buyer knows of an order that stays
	for i := range h.requests {
		if r := &h.requests[i]; r.order != nil && r.order.Status == Active && r.acknowledgedAt() < cmp.Or(holds[r.user], never) {
			holds[r.user] = r.acknowledgedAt()
		}
	}
	for i := range h.requests {
		r := &h.requests[i]
		final := r.firstToldAt(OutcomeSold, OutcomeReserved, OutcomeSoldOut, OutcomeDuplicate)
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

// acknowledged is when the request was first told that it has its order; never if it was not.
func (r *request) acknowledgedAt() time.Duration { return r.firstToldAt(OutcomeSold, OutcomeReserved) }

// firstTold is when the request was first told one of some outcomes; never if it was not.
func (r *request) firstToldAt(outcomes ...Outcome) time.Duration {
	first := never
	for _, c := range r.calls {
		if slices.Contains(outcomes, c.Outcome) {
			first = min(first, c.answeredAt())
		}
	}
	return first
}

func (t *traffic) addSale(s *orderRecord, patience time.Duration) {
	asked, told := s.request.calls[0].Sent, s.request.acknowledgedAt()
	latest, doubt := time.Duration(0), false
	for _, c := range s.request.calls {
		latest = max(latest, c.Sent, c.Answered)
		doubt = doubt || c.maySucceed() && !c.succeeded()
	}
	sold := span{told, told}
	switch {
	case told == never:
		sold = span{asked, latest + patience}
	case doubt: // sold by a call without an answer, and told again by its retry
		sold.from = asked
	}
	t.changes, t.sold = append(t.changes, change{sold.from, s.Quantity}), append(t.sold, sold)
}

// served looks for the longest stretch in which the sale stood still while buyers
// asked for no more units than were there; a pause between such calls of up to a
// quarter of Patience is still asking. It is blocked only by what is certain: the
// units that were there at a time are those that were left or sold later, less
// those that came back later. What may have been sold before counts as sold
// before, what may have come back later as come back later.
func (h *evidence) findStandstill() *Served {
	t := h.collectTraffic()
	s := &Served{State: ServedNotKnown, PatienceMs: milliseconds(h.Patience)}
	starts := h.Snapshot.Stock.StartsAt != nil // then it is looked at from its first order on
	if h.Patience <= 0 || len(t.asks) == 0 || !h.stockKnown || starts && len(t.sold) == 0 {
		return s
	}
	from := time.Duration(0)
	if starts {
		from = t.sold[0].from
	}
	later, least := soldAfter(t.changes), min(h.report.Remaining, h.Initial-h.unitsHeld())
	left := func(at time.Duration) int64 { return least + later(at) }
	s.State = ServedYes
	longest := span{}
	for _, sold := range append(t.sold, span{never, never}) {
		if gap := (span{from, sold.from}); gap.length() > longest.length() {
			if asked := t.longestAskedIn(gap, h.Patience/4, left); asked.length() > longest.length() {
				longest = asked
			}
		}
		from = max(from, sold.to)
	}
	if longest.length() > h.Patience {
		s.State = ServedBlocked
	}
	s.LongestMs, s.FromMs = milliseconds(longest.length()), milliseconds(longest.from)
	return s
}

// longestIn is the longest stretch of a gap between two sales in which buyers asked
// without a pause for units that were there. Gaps come one after the other: calls that
// have ended before this one are not looked at again.
func (t *traffic) longestAskedIn(gap span, pause time.Duration, left func(time.Duration) int64) (longest span) {
	now := span{0, -pause - 1} // no call yet
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
		if asked.from > now.to+pause {
			now = asked
		}
		if now.to = max(now.to, asked.to); now.length() > longest.length() {
			longest = now
		}
	}
	return longest
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
