package explore

import (
	"context"
	"errors"
	"fmt"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// accepts buys and does not wait for the order, and asks again, with the same
// key, when the answer was lost (Buyer.Again). The next buyer of such a
// scenario comes a lease later, and writes what others have left.
var accepts = actorKind{
	can: func(i catalog.Info) bool { return i.Accepts },
	perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
		o.ask(ctx, func() (final bool) {
			var written bool
			o.Receipt, written, o.Err = p.Strategy.(seckill.Acceptor).Accept(ctx, w.purchase(o.Buyer))
			o.Accepted = o.Err == nil && !written
			return o.Err == nil || seckill.NothingTaken(o.Err) && !errors.Is(o.Err, seckill.ErrUnavailable)
		})
	},
	told: func(w *World, o Outcome) []ledger.Told {
		t := tell(w.purchase(o.Buyer), o)
		if o.Accepted && !o.Dead {
			t.Outcome, t.OrderID, t.Remaining = ledger.OutcomeAccepted, "", 0
		}
		return []ledger.Told{t}
	},
	answer: func(o Outcome) string {
		if o.Accepted {
			return "accepted"
		}
		return sold(o)
	},
}

// untold asks what became of those who were told accepted, when all is over.
func (w *World) untold(ctx context.Context, p *process, s *Schedule) (list []Problem) {
	for _, o := range s.Buyers {
		if !o.Accepted || o.Dead {
			continue
		}
		buy := w.purchase(o.Buyer)
		_, err := p.Store.Requested(ctx, buy.SKU, buy.User, buy.RequestID)
		if errors.Is(err, seckill.ErrUnknownOrder) {
			err = p.Strategy.(seckill.Acceptor).Became(ctx, buy.SKU, buy.User, buy.RequestID)
		}
		if err != nil && (!seckill.NothingTaken(err) || errors.Is(err, seckill.ErrUnknownOrder) || errors.Is(err, seckill.ErrUnavailable)) {
			list = append(list, Problem{RuleUntold, fmt.Sprintf("%s was told accepted, and the look-up says: %v", o.Name, err)})
		}
	}
	return list
}
