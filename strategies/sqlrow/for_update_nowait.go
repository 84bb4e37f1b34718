package sqlrow

import (
	"context"
	"embed"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

//go:embed for_update_nowait.go
//go:embed for_update_nowait.en.md for_update_nowait.zh.md
var forUpdateNowaitFiles embed.FS

// ForUpdateNowait locks the row or gives up at once.
var ForUpdateNowait = catalog.Info{
	Name:   "for-update-nowait",
	Title:  "SELECT … FOR UPDATE NOWAIT",
	Family: "sqlrow",
	Source: "D: NOWAIT, to lock without blocking",
	Idea: "In one transaction: SELECT num … FOR UPDATE NOWAIT, check, " +
		"write, record the order, COMMIT. A row that somebody holds " +
		"is an error at once, and the buyer is told busy.",
	Promises: "Never oversells and never loses an update, across any " +
		"number of processes: nobody reads the row between another's " +
		"read and his COMMIT. Nobody queues, so a crowd does not eat " +
		"up the connections. A buyer who dies is rolled back when " +
		"the server sees his connection close.",
	Breaks: "Not the stock, but the buyers: of many who come at once " +
		"one buys and the rest are sent away, although units are " +
		"left; who comes back first is luck. A holder that hangs, or " +
		"loses power without a closing packet, makes everybody busy " +
		"until the server gives up on him. MySQL answers with error " +
		"3572, MariaDB with 1205, its number for a wait that took " +
		"too long; older servers know no NOWAIT.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LeaseEnd, catalog.LostReply,
			catalog.LateCommand, catalog.TwoFaults, catalog.OtherSKUs),
	Needs: []backend.Capability{backend.SQL, backend.RowLocks},
	Stock: ledger.HomeRow,
	Files: forUpdateNowaitFiles,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &forUpdateNowait{d.Ledger}, nil
	},
}

type forUpdateNowait struct{ store *ledger.Store }

func (s *forUpdateNowait) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		num, err := s.lock(tx, p.SKU)
		if err != nil {
			return err // held by somebody: ErrBusy
		}
		left := num - p.Quantity
		if left < 0 {
			return seckill.ErrSoldOut
		}
		if err := s.write(tx, p.SKU, left); err != nil {
			return err
		}
		r, err = s.store.Record(tx, p, ledger.AnyRun, left)
		return err
	})
	return r, err
}

func (s *forUpdateNowait) Restore(
	ctx context.Context, orderID string,
) error {
	o, err := s.store.Order(ctx, orderID)
	if err != nil {
		return err
	}
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		num, err := s.lock(tx, o.SKUID)
		if err != nil {
			return err
		}
		o, back, err := s.store.Cancel(tx, orderID)
		if err != nil || !back {
			return err
		}
		return s.write(tx, o.SKUID, num+o.Quantity)
	})
}

func (s *forUpdateNowait) lock(
	tx *gorm.DB, sku int64,
) (num int64, err error) {
	err = s.store.ReadIn(tx, &num,
		"SELECT num FROM stock WHERE id = ? FOR UPDATE NOWAIT", sku)
	return num, err
}

func (s *forUpdateNowait) write(tx *gorm.DB, sku, num int64) error {
	return tx.Exec("UPDATE stock SET num = ? WHERE id = ?",
		num, sku).Error
}
