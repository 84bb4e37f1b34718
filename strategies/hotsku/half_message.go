package hotsku

import (
	"context"
	"embed"
	"errors"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

//go:embed half_message.go half_broker.go detail_merge.go detail_counter.go
//go:embed half_open.lua half_commit.lua half_look.lua
//go:embed detail_take.lua detail_seed.lua detail_merger.go
//go:embed half_message.en.md half_message.zh.md
var halfMessageFiles embed.FS

// HalfMessage has the stock row follow the orders by messages.
var HalfMessage = catalog.Info{
	Name:   "half-message",
	Title:  "Half messages with a check-back",
	Family: "hotsku",
	Source: "RocketMQ's transactional messages, over a Redis stream",
	Idea: "Half a message, the local transaction with the order, then its " +
		"other half. Without an answer the broker asks back. Consumers let " +
		"the stock row follow.",
	Promises: "Never oversells and never loses an update, also when " +
		"processes die: the answer to the broker binds the transaction.",
	Breaks: "Nothing breaks the stock; if Redis loses messages, the row " +
		"never hears of those sales.",
	Guarantees: catalog.Sound.
		Holds(catalog.SoldOut, catalog.DeadHolder, catalog.LeaseEnd,
			catalog.LostReply, catalog.LateCommand, catalog.TwoFaults,
			catalog.OtherSKUs).
		Breaks(catalog.NodeLoss),
	Needs:   detailNeeds,
	Stock:   ledger.InDetails,
	Options: halfOptions,
	Files:   halfMessageFiles,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		s := newHalfMessage(d)
		s.ask = s.decideSale
		return s, nil
	},
}

var halfOptions = append([]catalog.Option{{Flag: "--lock-lease",
	Doc: "after this the broker asks back"}}, detailOptions...)

// A halfMessage sells as detail-merge does. What its sales change reaches the
// stock row by messages.
type halfMessage struct {
	*detailMerge
	// ask is the one step in which the broken twin differs.
	ask func(context.Context, int64, half) (halfAnswer, error)
	// settles is the age at which Settle asks back.
	settles time.Duration
}

func newHalfMessage(d catalog.Deps) *halfMessage {
	s := &halfMessage{detailMerge: newDetailMerge(d)}
	s.enter, s.half = s.enterEpoch, true
	return s
}

// Deduct: the counter keeps half a message with the units; the transaction
// writes them and the order; the message is committed. From the COMMIT on the
// order is there, whether the message is committed now or after a check-back.
func (s *halfMessage) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	end := time.Now().Add(s.deps.Settings.LockWait)
	for try := 0; ; try++ {
		d, err := s.admit(ctx, p, end)
		if err != nil {
			return r, err
		}
		s.noted(p.SKU)
		r, err = s.sell(ctx, p, d)
		if err == nil {
			s.commit(ctx, p.SKU, half{d.run, d.epoch, d.first(p)})
		}
		// After any error the broker asks back: others may have been dealt
		// the same units, and their message has the same name.
		if !errors.Is(err, errOldEpoch) || try >= s.deps.Settings.Retries {
			return r, err
		}
		s.deps.Observe.Retried()
		if err := s.renew(ctx, p, d); err != nil {
			return r, err
		}
	}
}

// Restore cancels in the same three steps.
func (s *halfMessage) Restore(ctx context.Context, orderID string) error {
	o, err := s.store.Order(ctx, orderID)
	if err != nil {
		return err
	}
	h := half{o.Run, cancellation, o.ID}
	if o.Status == ledger.Active {
		if err := s.openHalf(ctx, o.SKUID, h); err != nil {
			return untaken(answered(err))
		}
		s.noted(o.SKUID)
	}
	err = s.detailMerge.Restore(ctx, orderID)
	if err == nil { // also if another has cancelled it: then it is done
		s.commit(ctx, o.SKUID, h)
	}
	return err
}

// Count is what the row says, and what messages that it has not heard of will
// change. A change without a message is missing.
func (s *halfMessage) Count(ctx context.Context, sku int64) (int64, error) {
	if _, err := s.detailMerge.Count(ctx, sku); err != nil {
		return 0, err
	}
	halves, messages, err := s.lookAt(ctx, sku, 0, everyMessage)
	if err != nil {
		return 0, err
	}
	known := map[half]bool{}
	for _, h := range halves {
		known[h] = true
	}
	for _, m := range messages {
		known[m.of] = true
	}
	var rows []struct{ Num, Run, Epoch, Unit, ChangeBy int64 }
	err = s.store.Read(ctx, &rows, "SELECT num, stock.run, "+
		"COALESCE(epoch, 0) AS epoch, COALESCE(unit, 0) AS unit, "+
		"COALESCE(change_by, 0) AS change_by FROM stock "+
		"LEFT JOIN stock_details d ON d.sku_id = stock.id "+
		"AND d.run = stock.run AND d.merged = 0 WHERE stock.id = ?", sku)
	if err != nil {
		return 0, err
	}
	left := rows[0].Num
	for _, r := range rows {
		if known[half{r.Run, r.Epoch, r.Unit}] {
			left += r.ChangeBy
		}
	}
	return left, nil
}
