package ledger

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

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
	// than there was, all the time: where it began, how long it was, the calls
	// in it (answered or not), and the units that were there at least. All 0 if
	// there was none. The end of the stretch is the last answer or the next sale.
	LongestMs float64 `json:"longest_ms"`
	FromMs    float64 `json:"from_ms"`
	Asked     int     `json:"asked"`
	Left      int64   `json:"left"`
	// Calls to buy, and what they came to.
	Calls   int             `json:"calls"`
	Answers map[Outcome]int `json:"answers"`
}

// Rate is the share of the calls to buy that were answered with o.
func (s *Served) Rate(o Outcome) float64 {
	if s == nil || s.Calls == 0 {
		return 0
	}
	return float64(s.Answers[o]) / float64(s.Calls)
}

// Blocked is false also for nil.
func (s *Served) Blocked() bool { return s != nil && s.State == ServedBlocked }

// and is the word on two SKUs: blocked if one is.
func (s *Served) and(o *Served) *Served {
	if s == nil || o == nil {
		return cmp.Or(s, o)
	}
	worse := []ServedState{ServedYes, ServedNotKnown, ServedBlocked}
	both, calls := *s, s.Calls+o.Calls
	if a, b := slices.Index(worse, s.State), slices.Index(worse, o.State); b > a || a == b && o.LongestMs > s.LongestMs {
		both = *o
	}
	both.Calls, both.Answers = calls, map[Outcome]int{}
	for _, one := range []*Served{s, o} {
		for outcome, n := range one.Answers {
			both.Answers[outcome] += n
		}
	}
	return &both
}

// standing is what is known of when units went and came back.
type standing struct {
	sales   []change // by when the buyer was told
	unsaid  []change // orders that a call without an answer may have got, by when they were asked for
	windows []span   // … and when they may have been sold
	returns []change // by when the unit was back at the latest
	untimed bool     // a sale has no time
}

type change struct {
	at    time.Duration
	units int64
}

func (s *standing) back(at time.Duration, units int64) {
	s.returns = append(s.returns, change{at, units})
}

func (s *standing) sold(b *buyers, o *Order, calls []int32) {
	asked, told, latest, doubt := never, never, time.Duration(0), false
	for _, i := range calls {
		t := &b.told[i]
		asked, latest = min(asked, t.Sent), max(latest, t.Sent, t.Answered)
		if !t.got() {
			doubt = doubt || t.took()
			continue
		}
		if told = min(told, t.end()); t.Answered == 0 {
			s.untimed = true
		}
	}
	switch {
	case told == never:
		s.unsaid = append(s.unsaid, change{asked, o.Quantity})
		s.windows = append(s.windows, span{asked, latest + b.patience})
	case doubt: // sold by a call without an answer, and told again by its retry
		s.unsaid = append(s.unsaid, change{asked, o.Quantity})
		s.windows = append(s.windows, span{asked, told})
	default:
		s.sales = append(s.sales, change{told, o.Quantity})
	}
}

// A ledger of changes answers how many units changed hands after a time.
type changes struct {
	sorted []change
	after  []int64 // Σ units of sorted[i:]
}

func sum(all []change) changes {
	slices.SortFunc(all, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	c := changes{all, make([]int64, len(all)+1)}
	for i := len(all) - 1; i >= 0; i-- {
		c.after[i] = c.after[i+1] + all[i].units
	}
	return c
}

func (c changes) later(than time.Duration) int64 {
	return c.after[sort.Search(len(c.sorted), func(i int) bool { return c.sorted[i].at > than })]
}

// served looks for the longest stretch in which the sale stood still. It is
// blocked only by what is certain:
//
//   - A sale is a moment: when its buyer was told. An order that a call without
//     an answer may have got may have been sold at any time from when it was
//     first asked for until its buyer was told by a retry, or else until Patience
//     after the buyer gave up: all that time counts as sold.
//   - The units that were there at a time are those that were left or sold
//     later, less those that came back later. What may have been sold before
//     counts as sold before, what may have come back later as come back later.
//   - Buyers asked from when they sent a call until it was answered, for no more
//     units than were there; a pause between such calls of up to a quarter of
//     Patience is still asking. A buyer who was told duplicate has an order
//     and does not count. One who waited and bought in the end does: until then
//     they got nothing.
func (t *Trial) served() *Served {
	b := t.buyers
	s := &Served{State: ServedNotKnown, PatienceMs: ms(t.Patience), Calls: len(b.buys), Answers: map[Outcome]int{}}
	type ask struct {
		span
		units int64
	}
	var asks []ask
	for _, i := range b.buys {
		told := &b.told[i]
		s.Answers[told.Outcome]++
		if told.timed() && told.Outcome != OutcomeDuplicate {
			asks = append(asks, ask{span{told.Sent, max(told.Sent, told.Answered)}, told.Quantity})
		}
	}
	from := t.Started
	if t.Snapshot.Stock.StartsAt != nil && from == 0 {
		from = never
		for _, sale := range b.stood.sales {
			from = min(from, sale.at)
		}
	}
	unread := slices.ContainsFunc(t.report.Violations, func(v Violation) bool { return v.Rule == RuleUnknownStore })
	if t.Patience <= 0 || len(asks) == 0 || b.stood.untimed || t.storesDiffer || unread || from == never {
		return s
	}
	s.State = ServedYes
	slices.SortFunc(asks, func(a, b ask) int { return cmp.Compare(a.from, b.from) })
	latest := make([]time.Duration, len(asks)) // the last end of asks[:i+1]
	for i, a := range asks {
		if latest[i] = a.to; i > 0 {
			latest[i] = max(latest[i], latest[i-1])
		}
	}
	sold, unsaid, back := sum(b.stood.sales), sum(b.stood.unsaid), sum(b.stood.returns)
	least := min(t.report.Remaining, t.Initial-t.taken())
	left := func(at time.Duration) int64 { return least + sold.later(at) + unsaid.later(at) - back.later(at) }

	longest := span{}
	// still looks at a time without a sale.
	still := func(gap span) {
		if gap.to-gap.from <= longest.to-longest.from {
			return
		}
		var now span
		n, units := 0, int64(0)
		end := func() {
			if n > 0 && now.to-now.from > longest.to-longest.from {
				longest, s.Asked, s.Left = now, n, units
			}
			n = 0
		}
		first := sort.Search(len(asks), func(i int) bool { return latest[i] > gap.from })
		for _, a := range asks[first:] {
			if a.from >= gap.to {
				break
			}
			asked := span{max(a.from, gap.from), min(a.to, gap.to)}
			there := left(asked.from)
			if a.to <= gap.from || a.units > there {
				continue
			}
			if n > 0 && asked.from > now.to+t.Patience/4 {
				end()
			}
			if n == 0 {
				now, units = asked, there
			}
			n++
			now.to, units = max(now.to, asked.to), min(units, there)
		}
		end()
	}
	moments := slices.Clone(b.stood.windows)
	for _, sale := range b.stood.sales {
		moments = append(moments, span{sale.at, sale.at})
	}
	slices.SortFunc(moments, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for _, m := range moments {
		still(span{from, m.from})
		from = max(from, m.to)
	}
	still(span{from, never})
	if longest.to-longest.from > t.Patience {
		s.State = ServedBlocked
	}
	s.LongestMs, s.FromMs = ms(longest.to-longest.from), ms(longest.from)
	return s
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
