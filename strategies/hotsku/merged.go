package hotsku

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

//go:embed merged.go batches.go
//go:embed merged.en.md merged.zh.md
var mergedFiles embed.FS

// Merged sells to many buyers in one transaction.
var Merged = catalog.Info{
	Name:   "merged",
	Title:  "Many purchases, one COMMIT",
	Family: "hotsku",
	Source: "group commit; inventory hints of AliSQL and PolarDB",
	Idea: "Purchases that wait in one process are committed together: one " +
		"INSERT of all orders, one UPDATE by their sum, one COMMIT.",
	Promises: "Never oversells and never loses an update, with any number of " +
		"processes; answers after the COMMIT.",
	Breaks: "Nothing breaks the stock; a COMMIT without an answer leaves the " +
		"outcome open for a whole batch.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LostReply,
			catalog.LateCommand, catalog.TwoFaults, catalog.OtherSKUs),
	Needs: []backend.Capability{
		backend.SQL, backend.RowLocks, backend.Procedures},
	Stock:  ledger.InRow,
	Shares: true,
	Files:  mergedFiles,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		s := &merged{oneTrip: oneTrip{d.Ledger}}
		s.commit = s.commitThenTell
		return s, nil
	},
}

// merged is one-trip for a buyer who is alone, and for cancellations.
type merged struct {
	oneTrip
	batches
	commit func(context.Context, *batch) error
}

func (s *merged) Deduct(
	ctx context.Context, p seckill.Purchase,
) (seckill.Receipt, error) {
	b := newBuyer(ctx, p)
	lead, err := s.enter(b)
	if err != nil {
		return seckill.Receipt{}, err
	}
	if lead {
		s.lead(b)
	}
	switch {
	case b.alone:
		return s.oneTrip.Deduct(ctx, p)
	case b.err != nil:
		return seckill.Receipt{}, b.err
	}
	return b.Receipt, nil
}

// lead sells to those who wait, and hands over. The batch is not the leader's
// alone: it goes on when the leader leaves.
func (s *merged) lead(b *buyer) {
	here := s.shard(b.Purchase.SKU)
	defer here.next(b.Purchase.SKU)
	all := here.take(b)
	if len(all) == 1 {
		b.Receipt, b.err = s.oneTrip.Deduct(b.ctx, b.Purchase)
		return
	}
	together := &batch{buyers: all}
	defer together.fail(seckill.ErrUnknown) // of a panic: the others are told
	ctx, cancel := tap.WithTimeout(
		context.WithoutCancel(b.ctx), longestBatch)
	defer cancel()
	s.sell(ctx, together)
}

// mostTries bounds how often a batch looks again. Then each of its buyers is
// sold to alone.
const mostTries = 4

// errAgain: the batch must look again, and was rolled back.
var errAgain = fmt.Errorf("%w: the batch is to be chosen again",
	seckill.ErrConflict)

func (s *merged) sell(ctx context.Context, b *batch) {
	for try := range mostTries {
		// A plain read, which waits for no one.
		run, num, err := s.store.Left(ctx, b.buyers[0].Purchase.SKU)
		if err == nil && try > 0 && run != b.run {
			err = refusal("reset")
		}
		if err == nil {
			b.choose(run, num)
			if len(b.orders) == 0 {
				return
			}
			err = s.commit(ctx, b)
		}
		if !errors.Is(err, errAgain) {
			b.fail(err)
			return
		}
	}
	b.eachAlone()
}

func (s *merged) commitThenTell(ctx context.Context, b *batch) error {
	var left int64
	err := s.store.Tx(ctx, func(tx *gorm.DB) (err error) {
		left, err = s.write(tx, b)
		return err
	})
	if err == nil {
		b.sold(left)
	}
	return err
}

// write writes the orders, then takes their units. The row comes last.
func (s *merged) write(tx *gorm.DB, b *batch) (left int64, err error) {
	ok, err := s.store.PlaceAll(tx, b.run, b.num, b.orders)
	if err == nil && !ok {
		err = errAgain // without those who have an order already
	}
	if err != nil {
		return 0, err
	}
	sku := b.orders[0].Purchase.SKU
	rows, left, err := s.store.Exec(tx, "UPDATE stock "+
		"SET num = LAST_INSERT_ID(num - ?) "+
		"WHERE id = ? AND run = ? AND num - ? >= 0", b.sum, sku, b.run, b.sum)
	if err == nil && rows == 0 {
		err = errAgain // another process was faster
	}
	if off := left - (b.num - b.sum); err == nil && off != 0 {
		err = s.store.Shift(tx, b.run, off, b.orders)
	}
	return left, err
}
