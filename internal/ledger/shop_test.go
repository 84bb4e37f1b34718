package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A shop is a simulated service that keeps every promise, with buyers who send
// copies and retries, cancel, and lose answers. Calls take time on their way,
// wait in it, and a paused process may carry one out long after its buyer gave
// up. It refuses as busy only while it sells to others.
type shop struct {
	t *rapid.T
	Evidence
	now     time.Duration
	events  []event
	working map[string]bool // keys that are being carried out
	keys    map[string]int  // of orders, by place
	sells   time.Duration   // when a unit was sold last
	cancels bool            // buyers cancel here
}

type event struct {
	at time.Duration
	do func()
}

const shopPatience = 400 * time.Millisecond

// below draws a number from 0 to n-1, all as likely: rapid prefers small ones, so
// what it draws is spread by a hash. 0 stays 0, to which it shrinks a history.
func (s *shop) below(n int) int {
	return int(rapid.Uint64().Draw(s.t, "n") * 0x9E3779B97F4A7C15 >> 33 % uint64(n))
}

// one is true once in n times.
func (s *shop) one(n int) bool { return s.below(n) == n-1 }

func (s *shop) after(most time.Duration, do func()) {
	s.events = append(s.events, event{s.now + time.Duration(s.below(int(most/time.Microsecond)))*time.Microsecond, do})
}

func newShop(t *rapid.T) *shop {
	s := &shop{t: t, working: map[string]bool{}, keys: map[string]int{}, sells: -time.Hour}
	s.Initial, s.Run, s.Patience = int64(1+s.below(60)), 1, shopPatience
	s.cancels = !s.one(3)
	s.Snapshot.Stock = Stock{ID: 1, Initial: s.Initial, Num: s.Initial, Run: 1}
	s.Told = []Told{}
	for user := range int64(5 + s.below(40)) {
		s.after(time.Second, func() { s.visit(user+1, 0) })
	}
	for len(s.events) > 0 {
		slices.SortStableFunc(s.events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
		next := s.events[0]
		s.events = s.events[1:]
		s.now = max(s.now, next.at)
		next.do()
	}
	clocks := s.below(10) // 9: there were none, 8: they only say when a call was sent
	for i := range s.Told {
		if clocks >= 8 {
			s.Told[i].Answered = 0
		}
		if clocks == 9 {
			s.Told[i].Sent = 0
		}
	}
	return s
}

// visit is a request of a user, with copies; retries come by themselves.
func (s *shop) visit(user int64, visits int) {
	quantity, key := int64(1+s.below(3)), fmt.Sprintf("k%d-%d", user, visits)
	for range 1 + max(0, s.below(6)-3) {
		s.call(user, quantity, key, false)
	}
	if visits == 0 && s.one(5) {
		s.after(200*time.Millisecond, func() { s.visit(user, 1) })
	}
}

// send is a call that is answered, or not; do is the service's work.
func (s *shop) send(t Told, do func(answer func(Told))) {
	t.Sent = s.now + 1
	lost, way := s.one(12), 20*time.Millisecond
	if s.one(60) { // the process is paused
		lost, way = true, 3*time.Second
	}
	if lost {
		gone := t
		gone.Outcome = OutcomeUnknown
		if s.one(2) {
			gone.Answered = gone.Sent + 100*time.Millisecond
		}
		s.Told = append(s.Told, gone)
		if t.Call == CallBuy && s.one(2) {
			s.after(400*time.Millisecond, func() { s.call(t.User, t.Quantity, t.RequestID, true) })
		}
	}
	s.after(way, func() {
		do(func(told Told) {
			told.Sent = t.Sent
			if !lost {
				s.after(20*time.Millisecond, func() {
					told.Answered = max(s.now, told.Sent+1)
					s.Told = append(s.Told, told)
					s.answered(told)
				})
			}
		})
	})
}

// answered is what a buyer does next.
func (s *shop) answered(t Told) {
	switch {
	case t.Call == CallCancel:
		if t.Outcome == OutcomeBusy || s.one(4) {
			s.cancel(t)
		}
	case t.Outcome == OutcomeSold && s.cancels && s.one(4):
		s.cancel(Told{Call: CallCancel, User: t.User, Quantity: t.Quantity, OrderID: t.OrderID, RequestID: t.RequestID})
	case t.Outcome == OutcomeSold && s.one(8), t.Outcome != OutcomeSold && s.one(3):
		s.after(300*time.Millisecond, func() { s.call(t.User, t.Quantity, t.RequestID, true) })
	}
}

func (s *shop) call(user, quantity int64, key string, again bool) {
	if again && s.one(3) {
		return
	}
	t := Told{User: user, Quantity: quantity, RequestID: key}
	s.send(t, func(answer func(Told)) {
		if o, ok := s.keys[key]; ok {
			answer(s.receipt(o))
			return
		}
		if s.working[key] {
			t.Outcome = OutcomeInProgress
			answer(t)
			return
		}
		s.working[key] = true
		s.after(30*time.Millisecond, func() {
			delete(s.working, key)
			answer(s.sell(t))
		})
	})
}

func (s *shop) sell(t Told) Told {
	left := &s.Snapshot.Stock.Num
	holds := slices.ContainsFunc(s.Snapshot.Orders, func(o Order) bool { return o.UserID == t.User && o.Status == Active })
	switch {
	case s.now-s.sells < 60*time.Millisecond && s.one(6):
		t.Outcome = []Outcome{OutcomeBusy, OutcomeConflict, OutcomeError}[s.below(3)]
	case holds:
		t.Outcome = OutcomeDuplicate
	case t.Quantity > *left:
		t.Outcome = OutcomeSoldOut
	default:
		*left -= t.Quantity
		s.sells = s.now
		s.keys[t.RequestID] = len(s.Snapshot.Orders)
		s.Snapshot.Orders = append(s.Snapshot.Orders, Order{PublicID: "o" + t.RequestID, RequestID: t.RequestID, Run: 1, UserID: t.User,
			SKUID: 1, Quantity: t.Quantity, Remaining: *left, Status: Active, Strategy: "conditional"})
		return s.receipt(len(s.Snapshot.Orders) - 1)
	}
	return t
}

func (s *shop) receipt(place int) Told {
	o := s.Snapshot.Orders[place]
	return Told{User: o.UserID, RequestID: o.RequestID, Quantity: o.Quantity, Outcome: OutcomeSold, OrderID: o.PublicID, Remaining: o.Remaining}
}

func (s *shop) cancel(t Told) {
	key := t.RequestID
	s.after(200*time.Millisecond, func() {
		s.send(t, func(answer func(Told)) {
			if s.one(8) {
				t.Outcome = OutcomeBusy
			} else {
				t.Outcome = OutcomeCancelled
				if o := &s.Snapshot.Orders[s.keys[key]]; o.Status == Active {
					o.Status = Cancelled
					s.Snapshot.Stock.Num += o.Quantity
				}
			}
			answer(t)
		})
	})
}

// The judge finds nothing in the history of a shop that keeps its promises. (What it
// finds in one that does not, the planted lies show.)
func TestACorrectShopIsHeld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newShop(t)
		if r := Judge(s.Evidence); r.Verdict != Held || len(r.Violations) > 0 || r.Served.Blocked() {
			t.Fatalf("a correct shop is judged %s, %+v: %+v", r.Verdict, r.Served, r.Violations)
		}
	})
}

// Who holds a unit is counted as one would by hand.
func TestHoldersAreCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		orders := make([]Order, rapid.IntRange(0, 30).Draw(t, "orders"))
		units, twice := map[int64]int{}, int64(0)
		for i := range orders {
			o := &orders[i]
			o.Remaining, o.Quantity, o.Status = rapid.Int64Range(-5, 15).Draw(t, "remaining"), rapid.Int64Range(1, 4).Draw(t, "quantity"), Active
			for k := range o.Quantity {
				if units[o.Remaining+1+k]++; units[o.Remaining+1+k] == 2 {
					twice++
				}
			}
		}
		h := HoldersOf(orders, InRow)
		if pairs := h.pairs(); h.Twice() != twice || (pairs.count > 0) != (twice > 0) || !h.Known() {
			t.Errorf("%d units twice, want %d; %+v", h.Twice(), twice, pairs)
		}
		for _, o := range orders {
			want := 0
			for _, p := range orders {
				if o.Remaining < p.Remaining+p.Quantity && p.Remaining < o.Remaining+o.Quantity {
					want++
				}
			}
			if h.Of(o) != want {
				t.Errorf("%d holders of %+v, want %d", h.Of(o), o, want)
			}
		}
		given := HoldersOf(append(orders, Order{Quantity: 1, Status: Cancelled}), InRow)
		if split := HoldersOf(orders, InBuckets); given.Known() || split.Known() || given.Twice()+split.Twice() > 0 {
			t.Error("units that come back, and a stock in pieces, have known holders")
		}
	})
}
