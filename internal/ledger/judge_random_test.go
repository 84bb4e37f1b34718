package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// A randomSale is a sale by a correct service, with everything that may
// happen in one: refusals, lost answers, repeated requests, cancellations.
type randomSale struct {
	*rand.Rand
	Evidence
}

func newRandomSale(seed uint64) *randomSale {
	s := &randomSale{Rand: rand.New(rand.NewPCG(seed, 0))}
	s.Initial = 1 + s.Int64N(100)
	s.Run = 1 + s.Int64N(5)
	s.Snapshot.Stock = Stock{ID: 1, Initial: s.Initial, Num: s.Initial, Run: s.Run}
	s.Snapshot.Orders, s.Told = []Order{}, []Told{}
	s.buy(1, 1, OutcomeSold) // there is always one sale
	for user := range 20 + s.Int64N(30) {
		s.visit(user + 2)
	}
	return s
}

// visit is all that one user does.
func (s *randomSale) visit(user int64) {
	quantity := 1 + s.Int64N(4)
	switch s.IntN(10) {
	case 0:
		s.tell(user, quantity, OutcomeBusy)
	case 1:
		s.tell(user, quantity, OutcomeConflict)
	case 2:
		s.tell(user, quantity, OutcomeError)
	case 3:
		s.tell(user, quantity, OutcomeUnknown) // and nothing was taken
	case 4:
		s.buy(user, quantity, OutcomeUnknown)
	default:
		if !s.buy(user, quantity, OutcomeSold) {
			return
		}
		bought := len(s.Told) - 1
		switch s.IntN(6) {
		case 0:
			s.tell(user, quantity, OutcomeDuplicate)
		case 1:
			s.Told = append(s.Told, s.Told[bought]) // the same request again
		case 2:
			s.cancel(bought)
		case 3:
			s.cancel(bought)
			s.buy(user, quantity, OutcomeSold)
		case 4:
			s.Evidence.cancel(bought, OutcomeUnknown) // and without success
		}
	}
}

// tell answers a new request of user.
func (s *randomSale) tell(user, quantity int64, o Outcome) *Told {
	s.Told = append(s.Told, Told{RequestID: fmt.Sprintf("r%d", len(s.Told)), User: user, Quantity: quantity, Outcome: o})
	return &s.Told[len(s.Told)-1]
}

// buy sells, if there is enough, and tells the buyer o.
func (s *randomSale) buy(user, quantity int64, o Outcome) bool {
	stock := &s.Snapshot.Stock
	if quantity > stock.Num {
		s.tell(user, quantity, OutcomeSoldOut)
		return false
	}
	stock.Num -= quantity
	t := s.tell(user, quantity, o)
	id := "o" + t.RequestID
	if o == OutcomeSold {
		t.OrderID, t.Remaining = id, stock.Num
	}
	s.Snapshot.Orders = append(s.Snapshot.Orders, Order{PublicID: id, RequestID: t.RequestID, Run: s.Run, UserID: user, SKUID: 1,
		Quantity: quantity, Remaining: stock.Num, Status: Active, Strategy: "conditional"})
	return true
}

func (s *randomSale) cancel(bought int) {
	s.Evidence.cancel(bought, OutcomeCancelled)
	o := &s.Snapshot.Orders[len(s.Snapshot.Orders)-1]
	o.Status = Cancelled
	s.Snapshot.Stock.Num += o.Quantity
}

// mutations each change one fact of a sale, if they find one that matters;
// a judge must notice every one of them.
var mutations = map[string]func(*randomSale) (changed bool){
	"an order disappears": func(s *randomSale) bool {
		i, o := s.order(func(o Order) bool { return o.Status == Active })
		if o != nil {
			s.Snapshot.Orders = append(s.Snapshot.Orders[:i], s.Snapshot.Orders[i+1:]...)
		}
		return o != nil
	},
	"an order appears": func(s *randomSale) bool {
		s.Snapshot.Orders = append(s.Snapshot.Orders, Order{PublicID: "new", RequestID: "new", Run: s.Run, UserID: -1, SKUID: 1, Quantity: 1, Status: Active, Strategy: "conditional"})
		return true
	},
	"an order is doubled": func(s *randomSale) bool {
		_, o := s.order(func(o Order) bool { return o.Status == Active })
		if o != nil {
			s.Snapshot.Orders = append(s.Snapshot.Orders, *o)
		}
		return o != nil
	},
	"an order grows": func(s *randomSale) bool {
		_, o := s.order(func(o Order) bool { return o.Status == Active })
		if o != nil {
			o.Quantity++
		}
		return o != nil
	},
	"an order changes hands": func(s *randomSale) bool {
		_, o := s.order(func(Order) bool { return true })
		o.UserID = -1
		return true
	},
	"an order is cancelled without a word": func(s *randomSale) bool {
		_, o := s.order(func(o Order) bool { return o.Status == Active })
		if o != nil {
			o.Status = Cancelled
		}
		return o != nil
	},
	"a cancelled order comes back": func(s *randomSale) bool {
		_, o := s.order(func(o Order) bool { return o.Status == Cancelled })
		if o != nil {
			o.Status = Active
		}
		return o != nil
	},
	"an order is of another run": func(s *randomSale) bool {
		_, o := s.order(func(Order) bool { return true })
		o.Run++
		return true
	},
	"the stock grows by one":        func(s *randomSale) bool { s.Snapshot.Stock.Num++; return true },
	"the stock shrinks by one":      func(s *randomSale) bool { s.Snapshot.Stock.Num--; return true },
	"the initial stock was another": func(s *randomSale) bool { s.Snapshot.Stock.Initial++; return true },
	"the run is another":            func(s *randomSale) bool { s.Snapshot.Stock.Run++; return true },
	"a receipt names another order": func(s *randomSale) bool { return s.told(OutcomeSold, func(t *Told) { t.OrderID += "x" }) },
	"a receipt has another remaining": func(s *randomSale) bool {
		return s.told(OutcomeSold, func(t *Told) { t.Remaining-- })
	},
	"a refused buyer was sold something": func(s *randomSale) bool {
		return s.told(OutcomeBusy, func(t *Told) { t.Outcome, t.OrderID = OutcomeSold, "x" })
	},
	"a buyer was told busy and has an order": func(s *randomSale) bool {
		_, o := s.order(func(Order) bool { return true })
		for i, t := range s.Told {
			if t.Call != CallCancel && t.User == o.UserID && t.RequestID == o.RequestID {
				s.Told[i].Outcome = OutcomeBusy
			}
		}
		return true
	},
	"a buyer was told sold out in vain": func(s *randomSale) bool {
		back := int64(0)
		for _, t := range s.Told {
			if t.Call == CallCancel {
				back += t.Quantity
			}
		}
		if s.Snapshot.Stock.Num <= back {
			return false
		}
		s.tell(-1, 1, OutcomeSoldOut)
		return true
	},
}

// order finds a random order that fits; nil if there is none.
func (s *randomSale) order(fits func(Order) bool) (int, *Order) {
	for _, i := range s.Perm(len(s.Snapshot.Orders)) {
		if o := &s.Snapshot.Orders[i]; fits(*o) {
			return i, o
		}
	}
	return 0, nil
}

// told changes a random answer with an outcome, if there is one.
func (s *randomSale) told(o Outcome, change func(*Told)) bool {
	for _, i := range s.Perm(len(s.Told)) {
		if s.Told[i].Outcome == o {
			change(&s.Told[i])
			return true
		}
	}
	return false
}

func TestJudgeRandomSales(t *testing.T) {
	const sales = 500
	caught := map[string]int{}
	for range sales {
		seed := rand.Uint64()
		if r := Judge(newRandomSale(seed).Evidence); r.Verdict != Held {
			t.Fatalf("seed %d: a correct sale is judged %s: %+v", seed, r.Verdict, r.Violations)
		}
		for name, mutate := range mutations {
			s := newRandomSale(seed)
			if !mutate(s) {
				continue
			}
			if r := Judge(s.Evidence); r.Verdict == Held {
				t.Fatalf("seed %d: %s, and no rule noticed", seed, name)
			}
			caught[name]++
		}
	}
	for name := range mutations {
		if caught[name] < sales/20 {
			t.Errorf("%q was tried in %d of %d sales only", name, caught[name], sales)
		}
	}
}
