package hotsku

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

//go:embed detail_merge.go detail_counter.go detail_merger.go
//go:embed detail_take.lua detail_seed.lua
//go:embed detail_merge.en.md detail_merge.zh.md
var detailMergeFiles embed.FS

// DetailMerge writes orders, and lets the stock row follow them.
var DetailMerge = catalog.Info{
	Name:   "detail-merge",
	Title:  "Orders first, the row follows",
	Family: "hotsku",
	Source: "Taobao: sales as details, merged into the stock later",
	Idea: "A counter in Redis deals out units. A purchase inserts its order " +
		"and the units' numbers, no hot row; a merger subtracts the sums of " +
		"what it has not merged yet.",
	Promises: "Never oversells and never loses an update, whatever Redis " +
		"does: the database sells each unit of an epoch once.",
	Breaks: "Nothing breaks the stock; the row is behind, receipts say about " +
		"how many remain, and a new counter waits for sales under way.",
	Guarantees: catalog.Sound.
		Holds(catalog.SoldOut, catalog.DeadHolder, catalog.LeaseEnd,
			catalog.LostReply,
			catalog.LateCommand, catalog.TwoFaults, catalog.OtherSKUs,
			catalog.NodeLoss),
	Needs:   detailNeeds,
	Stock:   ledger.InDetails,
	Options: detailOptions,
	Files:   detailMergeFiles,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		s := newDetailMerge(d)
		s.enter = s.enterEpoch
		return s, nil
	},
}

var detailNeeds = []backend.Capability{backend.SQL, backend.RowLocks,
	backend.SkipLocked, backend.Redis}

var detailOptions = []catalog.Option{
	{Flag: "--lock-wait", Doc: "how long a buyer waits for units that were " +
		"dealt out and are not sold yet"},
	{Flag: "--lock-poll", Doc: "how long that buyer pauses before the " +
		"counter is rebuilt"},
	{Flag: "--retries", Doc: "further attempts after the counter was rebuilt"}}

type detailMerge struct {
	detailCounter
	// enter is the one step in which the broken twin differs.
	enter func(tx *gorm.DB, p seckill.Purchase, d dealt) (rows int64, err error)
	worker
}

func newDetailMerge(d catalog.Deps) *detailMerge {
	return &detailMerge{detailCounter: newDetailCounter(d)}
}

// Deduct takes units from the counter, and writes them with the order. Both may
// fail as often as they like: what was dealt out and not written is not sold,
// and is dealt out again when the counter is rebuilt.
func (s *detailMerge) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	end := time.Now().Add(s.deps.Settings.LockWait)
	for try := 0; ; try++ {
		d, err := s.admit(ctx, p, end)
		if err != nil {
			return r, err
		}
		r, err = s.sell(ctx, p, d)
		if err == nil || errors.Is(err, seckill.ErrUnknown) {
			s.noted(p.SKU)
		}
		if !errors.Is(err, errOldEpoch) || try >= s.deps.Settings.Retries {
			return r, err
		}
		s.deps.Observe.Retried()
		if err := s.renew(ctx, p, d); err != nil {
			return r, err
		}
	}
}

// errOldEpoch: the counter that dealt the units out is not the current one.
var errOldEpoch = fmt.Errorf("%w: the counter was rebuilt meanwhile",
	seckill.ErrConflict)

// sell writes the units and the order: no row that others write.
func (s *detailMerge) sell(
	ctx context.Context, p seckill.Purchase, d dealt,
) (r seckill.Receipt, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		rows, err := s.enter(tx, p, d)
		if err == nil && rows > 0 {
			err = s.enterRest(tx, p, d)
		}
		var e *mysql.MySQLError
		switch {
		case errors.As(err, &e) && e.Number == mysqlDuplicate:
			return errOldEpoch // Redis came back with an older number
		case err != nil:
			return err
		case rows == 0:
			return errOldEpoch
		}
		_, r, err = s.store.PlaceLeaving(tx, p, d.run, d.units-d.upTo)
		return err
	})
	return r, err
}

// enterEpoch writes the first unit, with the change of the whole order, if the
// epoch is still the current one and has the units. LOCK IN SHARE MODE keeps it
// the current one until this transaction ends: a rebuild waits for it. Buyers
// do not wait for each other.
func (s *detailMerge) enterEpoch(
	tx *gorm.DB, p seckill.Purchase, d dealt,
) (rows int64, err error) {
	rows, _, err = s.store.Exec(tx, "INSERT INTO stock_details "+
		"(sku_id, run, epoch, unit, change_by, merged) "+
		"SELECT sku_id, run, epoch, ?, ?, 0 FROM stock_epochs "+
		"WHERE sku_id = ? AND run = ? AND epoch = ? AND units >= ? "+
		"LOCK IN SHARE MODE",
		d.first(p), -p.Quantity, p.SKU, d.run, d.epoch, d.upTo)
	return rows, err
}

// enterRest writes the other units: the change is in the first.
func (s *detailMerge) enterRest(
	tx *gorm.DB, p seckill.Purchase, d dealt,
) error {
	return insertRows(s.store, tx, "INSERT INTO stock_details "+
		"(sku_id, run, epoch, unit, change_by, merged) VALUES ",
		"(?, ?, ?, ?, 0, 1)", int(p.Quantity-1), func(i int) []any {
			return []any{p.SKU, d.run, d.epoch, d.first(p) + int64(i) + 1}
		})
}

// Restore cancels the order, and writes what the stock row has to follow by,
// in one transaction: once. The units are dealt out again in the next epoch.
// This waits for no counter, as it only adds to what the next one may have.
func (s *detailMerge) Restore(ctx context.Context, orderID string) error {
	var sku int64
	err := s.apart.Tx(ctx, func(tx *gorm.DB) error {
		o, back, err := s.store.Cancel(tx, orderID)
		if err != nil || !back {
			return err
		}
		sku = o.SKUID
		return s.store.GiveBack(tx, "INSERT INTO stock_details "+
			"(sku_id, run, epoch, unit, change_by, merged) "+
			"SELECT sku_id, run, 0, ?, ?, 0 FROM stock_epochs "+
			"WHERE sku_id = ? AND run = ?", o.ID, o.Quantity, o.SKUID, o.Run)
	})
	if sku != 0 {
		s.noted(sku)
	}
	return err
}

// Count is what the row says, and what it lacks, in one view. ErrUnknownSKU in
// a run in which nothing was sold here.
func (s *detailMerge) Count(ctx context.Context, sku int64) (int64, error) {
	var now struct {
		Units int64
		Used  bool
	}
	err := s.store.Read(ctx, &now, "SELECT "+unmergedToo+" AS units, "+
		"EXISTS(SELECT 1 FROM stock_details d WHERE d.sku_id = stock.id "+
		"AND d.run = stock.run) AS used FROM stock WHERE id = ?", sku)
	if err == nil && !now.Used {
		err = fmt.Errorf("%w: nothing was sold of SKU %d by its details",
			seckill.ErrUnknownSKU, sku)
	}
	return now.Units, err
}

// unmergedToo is what is left by the orders that are committed.
const unmergedToo = "num + COALESCE((SELECT SUM(d.change_by) " +
	"FROM stock_details d WHERE d.sku_id = stock.id " +
	"AND d.run = stock.run AND d.merged = 0), 0)"
