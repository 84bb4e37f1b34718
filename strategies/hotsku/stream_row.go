package hotsku

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gorm.io/gorm"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

var (
	errNotAll = fmt.Errorf("%w: not all can be written", seckill.ErrConflict)
	// errStale: the row has seen a newer run or epoch.
	errStale = fmt.Errorf("%w: another writes now", seckill.ErrConflict)
)

// sell writes the orders of entries, or none. The row decides: whether there
// is enough, whether the sale is the same, whether it has started, and whether
// the entries are still this writer's, or were taken over while it slept.
func (s *stream) sell(
	ctx context.Context, b haul, entries []entry,
) (list []verdict, err error) {
	var orders []ledger.Accepted
	var units int64
	for _, e := range entries {
		orders = append(orders, e.Accepted)
		units += e.Quantity
	}
	var receipts []seckill.Receipt
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		rows, left, err := s.store.Exec(tx,
			"UPDATE stock SET num = LAST_INSERT_ID(num - ?), fence = ? "+
				"WHERE id = ? AND run = ? AND fence <= ? "+
				"AND num - ? >= 0 AND "+s.store.Started(),
			units, b.epoch, b.sku, b.run, b.epoch, units)
		if err != nil {
			return err
		}
		if rows == 0 {
			return errNotAll
		}
		receipts, err = s.store.RecordAll(tx, b.run, left, orders)
		return err
	})
	for i, r := range receipts {
		if err == nil {
			list = append(list, soldTo(entries[i], r))
		}
	}
	return list, err
}

func soldTo(e entry, r seckill.Receipt) verdict {
	return verdict{e, fmt.Sprint("sold ", r.OrderID, " ", r.Remaining, " ",
		r.Quantity), reply{receipt: r}}
}

// oneByOne finds out which entries stand in the way of a batch.
func (s *stream) oneByOne(
	ctx context.Context, b haul, entries []entry,
) (list []verdict, err error) {
	for _, e := range entries {
		one, err := s.sell(ctx, b, []entry{e})
		if errors.Is(err, errNotAll) || errors.Is(err, seckill.ErrDuplicate) {
			one, err = s.decide(ctx, b, e)
		}
		if err != nil {
			return list, err
		}
		list = append(list, one...)
	}
	return list, nil
}

// lock takes the row for a writer of b, and makes sleepers stale.
func (s *stream) lock(tx *gorm.DB, b haul) error {
	rows, _, err := s.store.Exec(tx, "UPDATE stock SET fence = ? "+
		"WHERE id = ? AND run = ? AND fence <= ?",
		b.epoch, b.sku, b.run, b.epoch)
	if err == nil && rows == 0 {
		err = errStale
	}
	return err
}

// decide says what became of an entry that cannot be sold. It may have been
// written before: by this process, whose COMMIT got no reply, or by one that
// died before it could settle.
func (s *stream) decide(
	ctx context.Context, b haul, e entry,
) (list []verdict, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		list = nil
		if err := s.lock(tx, b); err != nil {
			return err
		}
		o, why := s.store.WhyNot(tx, b.run, e.Purchase)
		switch name := nameOf(why); {
		case o != nil:
			list = []verdict{soldTo(e, o.Receipt())}
		case name != "":
			list = []verdict{{e, "refused " + name, reply{err: why}}}
			return s.store.Refuse(tx, b.run, e.Accepted,
				strings.ReplaceAll(name, " ", "_"))
		default:
			return why // nil: try again
		}
		return nil // the refusal holds once the epoch is committed
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// cancelOrder cancels, and gives the units back to the row.
func (s *stream) cancelOrder(ctx context.Context, b haul, e entry) error {
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		if err := s.lock(tx, b); err != nil {
			return err
		}
		o, back, err := s.store.Cancel(tx, e.order)
		if err != nil || !back {
			return err
		}
		return s.store.GiveBack(tx, "UPDATE stock "+
			"SET num = num + ? WHERE id = ? AND run = ?",
			o.Quantity, o.SKUID, o.Run)
	})
}

// The refusals of the database, as Redis remembers them.
var refusals = map[string]error{
	"sold out":    seckill.ErrSoldOut,
	"duplicate":   seckill.ErrDuplicate,
	"not started": seckill.ErrNotStarted,
}

func nameOf(err error) string {
	for name, refusal := range refusals {
		if errors.Is(err, refusal) {
			return name
		}
	}
	return ""
}

func refusedFor(name string) error {
	if err := refusals[name]; err != nil {
		return err
	}
	return fmt.Errorf("%w: refused: %s", seckill.ErrUnknown,
		strconv.Quote(name))
}
