package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A shop is a simulated service that keeps every promise, with buyers who send
// copies and retries, cancel, and lose answers. Calls take time on their way,
// wait in it, and a paused process may carry one out long after its buyer gave
// up. It refuses as busy only while it sells to others.
type shop struct {
	*rand.Rand
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

func (s *shop) after(most time.Duration, do func()) {
	s.events = append(s.events, event{s.now + time.Duration(s.Int64N(int64(most))), do})
}

func newShop(seed uint64) *shop {
	s := &shop{Rand: rand.New(rand.NewPCG(seed, 1)), working: map[string]bool{}, keys: map[string]int{}, sells: -time.Hour}
	s.Initial, s.Run, s.Patience = 1+s.Int64N(60), 1, shopPatience
	s.cancels = s.IntN(3) > 0
	s.Snapshot.Stock = Stock{ID: 1, Initial: s.Initial, Num: s.Initial, Run: 1}
	s.Told = []Told{}
	for user := range int64(10 + s.IntN(50)) {
		s.after(time.Second, func() { s.visit(user+1, 0) })
	}
	for len(s.events) > 0 {
		slices.SortStableFunc(s.events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
		next := s.events[0]
		s.events = s.events[1:]
		s.now = max(s.now, next.at)
		next.do()
	}
	switch s.IntN(10) {
	case 0: // nobody looked at a clock
		for i := range s.Told {
			s.Told[i].Sent, s.Told[i].Answered = 0, 0
		}
	case 1: // only when things were sent
		for i := range s.Told {
			s.Told[i].Answered = 0
		}
	}
	return s
}

// visit is a request of a user, with copies; retries come by themselves.
func (s *shop) visit(user int64, visits int) {
	quantity, key := 1+s.Int64N(3), fmt.Sprintf("k%d-%d", user, visits)
	for range 1 + max(0, s.IntN(6)-3) {
		s.call(user, quantity, key, 0)
	}
	if visits == 0 && s.IntN(5) == 0 {
		s.after(200*time.Millisecond, func() { s.visit(user, 1) })
	}
}

// send is a call that is answered, or not; do is the service's work.
func (s *shop) send(t Told, do func(answer func(Told))) {
	t.Sent = s.now + 1
	lost, paused := s.IntN(12) == 0, s.IntN(60) == 0
	way := 20 * time.Millisecond
	if paused {
		lost, way = true, 3*time.Second
	}
	if lost {
		gone := t
		gone.Outcome = OutcomeUnknown
		if s.IntN(2) == 0 {
			gone.Answered = gone.Sent + 100*time.Millisecond
		}
		s.Told = append(s.Told, gone)
		if t.Call.Is(CallBuy) && s.IntN(2) == 0 {
			s.after(400*time.Millisecond, func() { s.call(t.User, t.Quantity, t.RequestID, 1) })
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
		if t.Outcome == OutcomeBusy || s.IntN(4) == 0 {
			s.cancel(t)
		}
	case t.Outcome == OutcomeSold && s.cancels && s.IntN(4) == 0:
		s.cancel(Told{Call: CallCancel, User: t.User, Quantity: t.Quantity, OrderID: t.OrderID, RequestID: t.RequestID})
	case t.Outcome == OutcomeSold && s.IntN(8) == 0, t.Outcome != OutcomeSold && s.IntN(3) == 0:
		s.after(300*time.Millisecond, func() { s.call(t.User, t.Quantity, t.RequestID, 1) })
	}
}

func (s *shop) call(user, quantity int64, key string, retries int) {
	if retries > 0 && s.IntN(3) == 0 {
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
	case s.now-s.sells < 60*time.Millisecond && s.IntN(6) == 0:
		t.Outcome = []Outcome{OutcomeBusy, OutcomeConflict, OutcomeError}[s.IntN(3)]
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
	if s.IntN(2) == 0 {
		t.OrderID = "" // by the key
	} else if s.IntN(2) == 0 {
		t.OrderID, t.RequestID = "o"+t.RequestID, ""
	}
	key := cmp.Or(t.RequestID, t.OrderID[min(1, len(t.OrderID)):])
	s.after(200*time.Millisecond, func() {
		s.send(t, func(answer func(Told)) {
			t.RequestID = key
			if s.IntN(8) == 0 {
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

// A plant breaks one promise of a shop's history, or changes one fact of it; false:
// there was no place.
type plant struct {
	rule  string // "": the sale stands still
	plant func(*shop) bool
}

// anyRule: whichever notices first.
const anyRule = "any"

// order finds an order in a state, at random; nil if there is none.
func (s *shop) order(status string) *Order {
	for _, i := range s.Perm(len(s.Snapshot.Orders)) {
		if o := &s.Snapshot.Orders[i]; o.Status == status {
			return o
		}
	}
	return nil
}

// changed is a plant in an order.
func changed(status string, change func(*shop, *Order)) plant {
	return plant{anyRule, func(s *shop) bool {
		o := s.order(status)
		if o != nil {
			change(s, o)
		}
		return o != nil
	}}
}

// answerOf is a plant in the answer to a purchase.
func answerOf(outcome Outcome, change func(*Told)) plant {
	return plant{anyRule, func(s *shop) bool {
		i := s.find(func(t Told) bool { return t.Call.Is(CallBuy) && t.Outcome == outcome })
		if i >= 0 {
			change(&s.Told[i])
		}
		return i >= 0
	}}
}

// facts are plants that need no times: what the ledger and the buyers say.
var facts = map[string]plant{
	"an order disappears": changed(Active, func(s *shop, o *Order) {
		s.Snapshot.Orders = slices.DeleteFunc(s.Snapshot.Orders, func(p Order) bool { return p.PublicID == o.PublicID })
	}),
	"an order appears": changed(Active, func(s *shop, o *Order) {
		s.Snapshot.Orders = append(s.Snapshot.Orders, Order{PublicID: "new", RequestID: "new", Run: s.Run, UserID: -1, SKUID: 1, Quantity: 1, Status: Active, Strategy: "conditional"})
	}),
	"an order is doubled":                  changed(Active, func(s *shop, o *Order) { s.Snapshot.Orders = append(s.Snapshot.Orders, *o) }),
	"an order grows":                       changed(Active, func(_ *shop, o *Order) { o.Quantity++ }),
	"an order changes hands":               changed(Active, func(_ *shop, o *Order) { o.UserID = -1 }),
	"an order is cancelled without a word": changed(Active, func(_ *shop, o *Order) { o.Status = Cancelled }),
	"a cancelled order comes back":         changed(Cancelled, func(_ *shop, o *Order) { o.Status = Active }),
	"an order is of another run":           changed(Active, func(_ *shop, o *Order) { o.Run++ }),
	"the stock grows by one":               changed(Active, func(s *shop, _ *Order) { s.Snapshot.Stock.Num++ }),
	"the stock shrinks by one":             changed(Active, func(s *shop, _ *Order) { s.Snapshot.Stock.Num-- }),
	"the initial stock was another":        changed(Active, func(s *shop, _ *Order) { s.Snapshot.Stock.Initial++ }),
	"the run is another":                   changed(Active, func(s *shop, _ *Order) { s.Snapshot.Stock.Run++ }),
	"a receipt names another order":        answerOf(OutcomeSold, func(t *Told) { t.OrderID += "x" }),
	"a receipt has another remaining":      answerOf(OutcomeSold, func(t *Told) { t.Remaining-- }),
	"a refused buyer was sold something":   answerOf(OutcomeBusy, func(t *Told) { t.Outcome, t.OrderID = OutcomeSold, "x" }),
	"a buyer was told busy and has an order": changed(Active, func(s *shop, o *Order) {
		for i, t := range s.Told {
			if t.Call.Is(CallBuy) && t.RequestID == o.RequestID {
				s.Told[i].Outcome, s.Told[i].OrderID = OutcomeBusy, ""
			}
		}
	}),
}

// find is the place of an answer, or -1.
func (s *shop) find(fits func(Told) bool) int {
	for _, i := range s.Perm(len(s.Told)) {
		if fits(s.Told[i]) {
			return i
		}
	}
	return -1
}

func (s *shop) refusedAgain(o Outcome) plant {
	return plant{RuleKeyRefused, func(s *shop) bool {
		i := s.find(func(t Told) bool {
			// Beside a call without times a refusal proves nothing, nor after a cancellation, whatever its answer.
			timed := !slices.ContainsFunc(s.Told, func(c Told) bool {
				return c.RequestID == t.RequestID && c.Answered == 0 || c.User == t.User && c.Call.Is(CallCancel)
			})
			return t.Outcome == OutcomeSold && timed && s.Snapshot.Orders[s.keys[t.RequestID]].Status == Active &&
				!slices.ContainsFunc(s.Snapshot.Orders, func(o Order) bool { return o.UserID == t.User && o.RequestID != t.RequestID })
		})
		if i < 0 {
			return false
		}
		t := s.Told[i]
		t.Outcome, t.OrderID, t.Remaining, t.Sent, t.Answered = o, "", 0, t.Answered+1, t.Answered+2
		s.Told = append(s.Told, t)
		return true
	}}
}

func plants(s *shop) map[string]plant {
	timed := func() bool { return slices.ContainsFunc(s.Told, func(t Told) bool { return t.Answered > 0 }) }
	acknowledged := func() int {
		return s.find(func(t Told) bool {
			return t.Outcome == OutcomeCancelled && s.Snapshot.Orders[s.keys[t.RequestID]].Status == Cancelled
		})
	}
	all := map[string]plant{
		"a cancellation did not happen": {RuleNotCancelled, func(s *shop) bool {
			i := acknowledged()
			if i < 0 {
				return false
			}
			o := &s.Snapshot.Orders[s.keys[s.Told[i].RequestID]]
			o.Status = Active
			s.Snapshot.Stock.Num -= o.Quantity
			return true
		}},
		"a cancelled order is gone": {RuleNotCancelled, func(s *shop) bool {
			i := acknowledged()
			if i < 0 {
				return false
			}
			s.Snapshot.Orders = slices.DeleteFunc(s.Snapshot.Orders, func(o Order) bool { return o.RequestID == s.Told[i].RequestID })
			return true
		}},
		"an order is cancelled by nobody": {RuleCancelledUnasked, func(s *shop) bool {
			for i := range s.Snapshot.Orders {
				o := &s.Snapshot.Orders[i]
				if o.Status == Active && !slices.ContainsFunc(s.Told, func(t Told) bool { return t.Call == CallCancel && t.User == o.UserID }) {
					o.Status = Cancelled
					s.Snapshot.Stock.Num += o.Quantity
					return true
				}
			}
			return false
		}},
		"a stranger is told duplicate": {RuleFalseDuplicate, func(s *shop) bool {
			s.Told = append(s.Told, Told{User: 9999, RequestID: "new", Quantity: 1, Outcome: OutcomeDuplicate, Sent: 5, Answered: 9})
			return true
		}},
		"duplicate before the only order": {RuleFalseDuplicate, func(s *shop) bool {
			if !timed() {
				return false
			}
			o := Order{PublicID: "late", RequestID: "late", Run: 1, UserID: 9998, SKUID: 1, Quantity: 1, Status: Active, Strategy: "conditional"}
			s.Snapshot.Orders = append(s.Snapshot.Orders, o)
			s.Snapshot.Stock.Num--
			s.Told = append(s.Told, Told{User: 9998, RequestID: "early", Quantity: 1, Outcome: OutcomeDuplicate, Sent: 5, Answered: 9},
				Told{User: 9998, RequestID: "late", Quantity: 1, Outcome: OutcomeSold, OrderID: "late", Sent: 10, Answered: 12})
			return true
		}},
		"sold out after the order":  s.refusedAgain(OutcomeSoldOut),
		"duplicate after the order": s.refusedAgain(OutcomeDuplicate),
		"busy after the order":      s.refusedAgain(OutcomeBusy),
		"conflict after the order":  s.refusedAgain(OutcomeConflict),
		"sold out beside the order": {RuleKeyRefused, func(s *shop) bool {
			i := s.find(func(t Told) bool {
				return t.Outcome == OutcomeSold && t.Answered > 0 && !slices.ContainsFunc(s.Told, func(c Told) bool {
					return c.RequestID == t.RequestID && c.Sent > t.Sent
				})
			})
			if i < 0 || s.cancels {
				return false
			}
			t := s.Told[i]
			t.Outcome, t.OrderID, t.Remaining = OutcomeSoldOut, "", 0
			s.Told = append(s.Told, t)
			return true
		}},
		"two answers": {RuleTwoAnswers, func(s *shop) bool {
			i := s.find(func(t Told) bool { return t.Outcome == OutcomeSold })
			if i < 0 {
				return false
			}
			t := s.Told[i]
			t.OrderID = "another"
			s.Told = append(s.Told, t)
			return true
		}},
		"it stands still": {"", func(s *shop) bool {
			if s.cancels || s.Snapshot.Stock.Num < 1 || !timed() || slices.ContainsFunc(s.Told, func(t Told) bool { return t.Outcome == OutcomeSold && t.Answered == 0 }) {
				return false
			}
			s.now += time.Minute
			for i := range int64(10) {
				at := s.now + time.Duration(i)*shopPatience/8
				s.Told = append(s.Told, Told{User: 8000 + i, RequestID: "late", Quantity: 1, Outcome: []Outcome{OutcomeBusy, OutcomeError, OutcomeUnknown}[i%3], Sent: at, Answered: at + 1})
			}
			return true
		}},
	}
	maps.Copy(all, facts)
	return all
}

// A thousand clean histories: no false alarm on either axis. Each promise broken
// in each of them, where it can be: always found.
func TestJudgeOfCorrectShops(t *testing.T) {
	const shops = 1000
	caught, served := map[string]int{}, map[ServedState]int{}
	base := rand.Uint64()
	t.Logf("seeds from %d", base)
	for n := range uint64(shops) {
		seed := base + n
		clean := newShop(seed)
		r := Judge(clean.Evidence)
		if r.Verdict != Held || len(r.Violations) > 0 || r.Served.Blocked() {
			t.Fatalf("seed %d: a correct shop is judged %s, %+v: %+v", seed, r.Verdict, r.Served, r.Violations)
		}
		served[r.Served.State]++
		names := slices.Sorted(maps.Keys(plants(clean)))
		for i, name := range names {
			if (uint64(i)+n)%4 != 0 {
				continue // a quarter of them, to be done in time
			}
			s := newShop(seed)
			p := plants(s)[name]
			if !p.plant(s) {
				continue
			}
			r := Judge(s.Evidence)
			if found := p.rule == "" && r.Served.Blocked() || p.rule == anyRule && r.Verdict != Held || slices.Contains(broken(r), p.rule); !found {
				t.Fatalf("seed %d: %s, and the judge found %v, served %+v", seed, name, broken(r), r.Served)
			}
			caught[name]++
		}
	}
	for name := range plants(newShop(base)) {
		if caught[name] == 0 {
			t.Errorf("%q was planted in none of %d shops", name, shops)
		}
	}
	if served[ServedYes] < shops/2 {
		t.Errorf("%v: hardly any shop's answers had times", served)
	}
}
