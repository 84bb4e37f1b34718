package gate

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/seckill"
)

// told is what becomes of a purchase: the gate's refusal, or what the strategy
// answers.
func told(g Gate, r Request, strategy func() error) error {
	ended, refusal := g.Enter(r)
	if refusal != nil {
		return refusal
	}
	err := strategy()
	if ended != nil {
		ended(err)
	}
	return err
}

func says(err error) func() error { return func() error { return err } }

// asked counts how often the strategy is asked, which is sold out.
func asked(n *int) func() error {
	return func() error {
		*n++
		return seckill.ErrSoldOut
	}
}

func of(quantity int64) Request { return Request{Strategy: "s", SKU: 1, User: 1, Quantity: quantity} }

func TestTheFlagRefusesAsManyOrMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, n := newFlags(), 0
		_ = told(g, of(3), asked(&n))
		for _, c := range []struct {
			what  string
			r     Request
			flown bool
		}{
			{"as many", of(3), false},
			{"more", of(4), false},
			{"fewer", of(2), true},
			{"fewer, again", of(2), false},
			{"one between the two", of(3), false},
			{"another SKU", Request{Strategy: "s", SKU: 2, Quantity: 3}, true},
			{"another strategy", Request{Strategy: "t", SKU: 1, Quantity: 3}, true},
		} {
			before := n
			if err := told(g, c.r, asked(&n)); !errors.Is(err, seckill.ErrSoldOut) || (n > before) != c.flown {
				t.Errorf("%s: %v; reached the strategy: %t, want %t", c.what, err, n > before, c.flown)
			}
		}
	})
}

// A flag never refuses when it is as old as fresh, whatever happens; while the
// stock stays empty one buyer in every renew is let through, and keeps it up.
func TestTheFlagGetsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, n := newFlags(), 0
		for range 1000 { // one second
			_ = told(g, of(1), asked(&n))
			time.Sleep(time.Millisecond)
		}
		if n != 8 {
			t.Errorf("the strategy was asked %d times in a second, want 8: every %v", n, renew)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		g, n := newFlags(), 0
		_ = told(g, of(1), asked(&n))
		time.Sleep(renew)
		ended, _ := g.Enter(of(1)) // asks again, and gets no answer
		time.Sleep(fresh - renew - time.Nanosecond)
		if _ = told(g, of(1), asked(&n)); n != 1 {
			t.Error("one let through another")
		}
		time.Sleep(time.Nanosecond)
		if _ = told(g, of(1), asked(&n)); n != 2 {
			t.Errorf("a flag of %v refuses", fresh)
		}
		ended(nil)
	})
	synctest.Test(t, func(t *testing.T) { // it counts from when the buyer asked
		g, n := newFlags(), 0
		_ = told(g, of(1), func() error { time.Sleep(fresh); return seckill.ErrSoldOut })
		if _ = told(g, of(1), asked(&n)); n != 1 {
			t.Error("an answer about a time that is too long ago refuses")
		}
	})
}

// After a cancellation or a reset here, no flag from before refuses, nor one that
// is raised by a purchase that began before.
func TestTheFlagGoesWithACancellation(t *testing.T) {
	for what, back := range map[string]func(Gate){
		"cancelled": func(g Gate) { g.Refilled(1) }, "reset": func(g Gate) { g.Reset(1) }} {
		g := newFlags()
		_ = told(g, of(1), says(seckill.ErrSoldOut))
		slow, refusal := g.Enter(of(0)) // it asks for fewer, and so passes
		if refusal != nil {
			t.Fatal(refusal)
		}
		back(g)
		slow(seckill.ErrSoldOut)
		if err := told(g, of(1), says(nil)); err != nil {
			t.Errorf("%s: told %v", what, err)
		}
	}
}

// A sale of what the flag denies takes it down.
func TestASaleTakesTheFlagDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, n := newFlags(), 0
		_ = told(g, of(1), asked(&n))
		time.Sleep(renew)
		if err := told(g, of(1), says(nil)); err != nil {
			t.Fatal(err)
		}
		if _ = told(g, of(1), asked(&n)); n != 2 {
			t.Error("the flag still refuses")
		}
		for range mostFlags + 1 { // anyone may name any SKU
			g.of(Request{SKU: int64(len(g.bySKU)) + 10})
		}
		if len(g.bySKU) > mostFlags {
			t.Errorf("%d flags are kept", len(g.bySKU))
		}
	})
}

// Any other answer raises nothing.
func TestOnlySoldOutRaisesTheFlag(t *testing.T) {
	for _, err := range []error{nil, seckill.ErrBusy, seckill.ErrConflict, seckill.ErrDuplicate, seckill.ErrUnknown,
		seckill.ErrUnavailable, &Refusal{Err: seckill.ErrBusy}} {
		g, n := newFlags(), 0
		_ = told(g, of(1), says(err))
		if _ = told(g, of(1), asked(&n)); n != 1 {
			t.Errorf("%v raised the flag", err)
		}
	}
}

func TestTheNaiveFlagHidesWhatIsLeft(t *testing.T) {
	g := newNaive()
	_ = told(g, of(5), says(seckill.ErrSoldOut))
	if err := told(g, of(1), says(nil)); !errors.Is(err, seckill.ErrSoldOut) {
		t.Errorf("a smaller quantity: %v", err)
	}
	g.Refilled(1)
	if err := told(g, of(1), says(nil)); !errors.Is(err, seckill.ErrSoldOut) {
		t.Errorf("after a cancellation: %v", err)
	}
	g.Reset(1)
	if err := told(g, of(1), says(nil)); err != nil {
		t.Errorf("after a reset: %v", err)
	}
}

func TestTheWaitingRoomLetsInInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRooms(2)
		buy := func(user int64) *Refusal {
			_, r := g.Enter(Request{SKU: 1, User: user})
			return r
		}
		for user := range int64(2) { // a second's worth
			if r := buy(user + 1); r != nil {
				t.Fatal(r)
			}
		}
		for user := int64(3); user <= 6; user++ {
			r := buy(user)
			if r == nil || !errors.Is(r, seckill.ErrBusy) || r.Position != user-2 || r.RetryAfter != time.Duration(user-2)*time.Second/2 {
				t.Errorf("user %d is told %+v", user, r)
			}
		}
		time.Sleep(time.Second) // of 3 and 4 it is the turn
		if r := buy(5); r == nil || r.Position != 1 || r.RetryAfter != time.Second/2 {
			t.Errorf("user 5 is told %+v, and is next", r)
		}
		for user := int64(3); user <= 4; user++ {
			if r := buy(user); r != nil {
				t.Errorf("user %d has their turn and is told %+v", user, r)
			}
		}
		if r := buy(3); r == nil || r.Position != 3 {
			t.Errorf("a ticket was used twice: %+v", r)
		}
		if g.waiting() != 3 {
			t.Errorf("%d wait, want users 5, 6 and 3", g.waiting())
		}
		if _, r := g.Enter(Request{SKU: 2, User: 5}); r != nil {
			t.Errorf("another SKU has a room of its own: %+v", r)
		}
	})
}

// A late buyer has lost the turn; however late they come, no more are let in
// than the rate allows.
func TestTheWaitingRoomIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRooms(10)
		const users = 100
		buy := func() (in int) {
			for user := range int64(users) {
				if _, r := g.Enter(Request{SKU: 1, User: user}); r == nil {
					in++
				}
			}
			return in
		}
		if in := buy(); in != 10 {
			t.Errorf("%d were let in at once, want 10", in)
		}
		time.Sleep(9 * time.Second) // all turns are there, and all come
		if in := buy(); in != 10 {
			t.Errorf("%d were let in at once, want 10", in)
		}
		time.Sleep(2 * (turnLasts + 10*time.Second))
		g.mu.Lock()
		if g.sweep(time.Now()); g.tickets != 0 || len(g.bySKU) != 0 {
			t.Errorf("%d tickets and %d rooms are kept for no one", g.tickets, len(g.bySKU))
		}
		g.mu.Unlock()
		g.tickets = mostTickets
		for range 11 {
			_, r := g.Enter(Request{SKU: 1, User: 7})
			if r != nil && (r.Position != 0 || r.RetryAfter == 0 || !errors.Is(r, seckill.ErrBusy)) {
				t.Errorf("a full room tells %+v", r)
			}
		}
		if n := len(g.bySKU[1].line); n != 0 {
			t.Errorf("a full room gives %d tickets", n)
		}
		g.tickets = 0
		for sku := range int64(mostRooms + 10) {
			g.Enter(Request{SKU: sku, User: 1})
		}
		if len(g.bySKU) > mostRooms {
			t.Errorf("%d rooms", len(g.bySKU))
		}
	})
}

func TestTheRateIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRates(2, 5)
		try := func(user, sku int64) *Refusal {
			_, r := g.Enter(Request{SKU: sku, User: user})
			return r
		}
		for n := range 4 {
			r := try(1, 1)
			if limited := n >= 2; (r != nil) != limited || limited && (!errors.Is(r, ErrRateLimited) || r.RetryAfter != time.Second/2) {
				t.Errorf("try %d: %+v", n+1, r)
			}
		}
		for user := int64(2); user <= 4; user++ {
			if r := try(user, 1); r != nil {
				t.Errorf("user %d: %+v", user, r)
			}
		}
		if r := try(5, 1); r == nil || r.RetryAfter != time.Second/5 {
			t.Errorf("the sixth of this SKU: %+v", r)
		}
		for range 2 { // the refusal above cost user 5 nothing
			if r := try(5, 2); r != nil {
				t.Errorf("another SKU: %+v", r)
			}
		}
		time.Sleep(time.Second / 2)
		if r := try(1, 1); r != nil {
			t.Errorf("half a second later: %+v", r)
		}
	})
	g := newRates(1, 0)
	for user := range int64(3 * mostBuckets) {
		g.Enter(Request{SKU: 1, User: user})
	}
	if n := len(g.users.young) + len(g.users.old); n > mostBuckets {
		t.Errorf("%d buckets are kept", n)
	}
	if _, r := g.Enter(Request{SKU: 1, User: 3*mostBuckets - 1}); r == nil {
		t.Error("one who was just here has a full bucket")
	}
}

// Gates stand in one order, however they are named.
func TestGatesStandInOrder(t *testing.T) {
	s := DefaultSettings()
	s.Gates, s.UserRate, s.RoomRate = []string{"waiting-room", SoldOut, "rate"}, 3, 1
	gates, err := Open(s)
	if err != nil || len(gates) != 3 {
		t.Fatal(gates, err)
	}
	synctest.Test(t, func(t *testing.T) {
		gates, _ := Open(s)
		want := []string{"", SoldOut, SoldOut, "rate"}
		for n, name := range want {
			ended, refusal := gates.Enter(of(1))
			if name == "" {
				ended(seckill.ErrSoldOut)
			}
			if (refusal == nil) != (name == "") || refusal != nil && refusal.Gate != name {
				t.Errorf("try %d: %+v, want %q", n+1, refusal, name)
			}
		}
		if gates.Refilled(1); gates.Waiting() != 0 {
			t.Error("someone waits")
		}
		time.Sleep(time.Second / 2)
		if _, refusal := gates.Enter(of(1)); refusal == nil || refusal.Gate != "waiting-room" || gates.Waiting() != 1 {
			t.Errorf("after a cancellation: %+v, and %d wait", refusal, gates.Waiting())
		}
	})
}

func TestSettingsThatAreWrong(t *testing.T) {
	for want, change := range map[string]func(*Settings){
		"no such gate":     func(s *Settings) { s.Gates = []string{"door"} },
		"given twice":      func(s *Settings) { s.Gates = []string{"rate", "rate"} },
		"give one of them": func(s *Settings) { s.Gates = []string{SoldOut, SoldOutNaive} },
		"--gate-room-rate": func(s *Settings) { s.Gates, s.RoomRate = []string{"waiting-room"}, 0 },
		"--gate-user-rate": func(s *Settings) { s.UserRate = -1 },
		"--gate-sku-rate":  func(s *Settings) { s.SKURate = mostRate + 1 },
	} {
		s := DefaultSettings()
		change(&s)
		if _, err := Open(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
}
