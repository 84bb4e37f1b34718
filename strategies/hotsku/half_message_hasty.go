package hotsku

import (
	"context"
	"embed"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

//go:embed half_message_hasty.go half_message.go half_broker.go
//go:embed half_message_hasty.en.md half_message_hasty.zh.md
var halfMessageHastyFiles embed.FS

// HalfMessageHasty is half-message with a check-back that only looks. On
// purpose.
var HalfMessageHasty = catalog.Info{
	Name:   "half-message-hasty",
	Title:  "Half messages, and a check-back that looks",
	Family: "hotsku",
	Source: "a mistake with transactional messages: not there is not never",
	Idea: "As half-message, but the check-back reads whether the sale is " +
		"there, and answers rolled back if it is not.",
	Promises: "Never oversells; the row hears of every sale that is " +
		"committed before the broker asks.",
	Breaks: "A transaction that is open when the broker asks commits " +
		"afterwards: the order is there, and its message is gone.",
	Guarantees: catalog.Sound.
		Holds(catalog.SoldOut, catalog.DeadHolder, catalog.LostReply,
			catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd, catalog.NodeLoss),
	Repair:  "half-message",
	Needs:   detailNeeds,
	Stock:   ledger.InDetails,
	Options: halfOptions,
	Files:   halfMessageHastyFiles,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		s := newHalfMessage(d)
		// It leaves sales the time of a lease. That makes it rarer.
		s.ask, s.settles = s.lookForSale, d.Settings.LockLease
		return s, nil
	},
}

// lookForSale sees what is committed, and keeps nothing from being committed.
func (s *halfMessage) lookForSale(
	ctx context.Context, sku int64, h half,
) (halfAnswer, error) {
	var there bool
	err := s.store.Read(ctx, &there, "SELECT EXISTS(SELECT 1 "+
		"FROM stock_details WHERE sku_id = ? AND run = ? AND epoch = ? "+
		"AND unit = ?)", sku, h.run, h.epoch, h.unit)
	if there {
		return committed, err
	}
	return rolledBack, err
}
