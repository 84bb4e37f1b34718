package explore

import (
	"context"
	"errors"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// Does is what an actor does.
type Does string

// A doing is one kind of actor. Each is a file of its own, which adds it.
type doing struct {
	next Does // what the next buyer does, after all others are done
	// check says why a strategy cannot be asked to; nil: it always can.
	check func(*World) error
	// prepare is what must be there before the actors come.
	prepare func(ctx context.Context, w *World, first *process, b Buyer) error
	perform func(ctx context.Context, w *World, p *process, o *Outcome)
	// told is what the actor knows, for the ledger's judge; nil: nothing.
	told func(*World, Outcome) []ledger.Told
	// answer is what it was told, in words, when it worked; nil: "done".
	answer func(Outcome) string
}

var doings = map[Does]doing{}

func addDoing(name Does, d doing) Does {
	if d.next == "" {
		d.next = "buys"
	}
	if d.answer == nil {
		d.answer = func(Outcome) string { return "done" }
	}
	doings[name] = d
	return name
}

// Tell is what a buyer knows of a purchase.
func Tell(p seckill.Purchase, o Outcome) ledger.Told {
	t := ledger.Told{RequestID: p.RequestID, User: p.User, Quantity: p.Quantity, OrderID: o.Receipt.OrderID,
		Remaining: o.Receipt.Remaining, Outcome: ledger.OutcomeUnknown}
	switch {
	case o.Err == nil:
		t.Outcome = ledger.OutcomeSold
	case errors.Is(o.Err, seckill.ErrSoldOut):
		t.Outcome = ledger.OutcomeSoldOut
	case o.NothingTaken():
		t.Outcome = ledger.OutcomeError
	}
	return t
}
