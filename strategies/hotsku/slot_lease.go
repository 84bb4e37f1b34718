package hotsku

import (
	"cmp"
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

//go:embed slot_lease.go slot_shelf.go slot_stretch.go
//go:embed slot_lease.en.md slot_lease.zh.md
var slotLeaseFiles embed.FS

// SlotLease numbers the units, and gives each process some numbers to sell.
var SlotLease = catalog.Info{
	Name:   "slot-lease",
	Title:  "Leased slots",
	Family: "hotsku",
	Source: "escrow transactions (O'Neil, 1986); bounded counters",
	Idea: "A process leases a range of unit numbers, then sells by inserting " +
		"order and number: no purchase touches the stock row.",
	Promises: "Never oversells and never loses an update, with any number of " +
		"processes, also when one that was taken for dead wakes up.",
	Breaks: "Nothing breaks the stock; what a dead process had leased waits " +
		"for the lease's end, and receipts say about how many remain.",
	Guarantees: catalog.Sound.
		Holds(catalog.SoldOut, catalog.DeadHolder, catalog.LeaseEnd,
			catalog.LostReply, catalog.LateCommand, catalog.TwoFaults,
			catalog.OtherSKUs),
	Needs:   []backend.Capability{backend.SQL, backend.RowLocks},
	Stock:   ledger.InSlots,
	Options: slotOptions,
	Files:   slotLeaseFiles,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return newSlotLease(d, func(int64) int64 { return 0 }), nil
	},
}

var slotOptions = []catalog.Option{
	{Flag: "--lock-wait", Doc: "how long a buyer waits while all slots that " +
		"are left are leased to others; a lease lasts half as long at most"},
	{Flag: "--lock-lease", Doc: "how long a lease lasts at most"},
	{Flag: "--lock-poll", Doc: "how long a waiting process pauses before it " +
		"looks again"},
	{Flag: "--retries", Doc: "further attempts after a slot that another " +
		"process has sold"},
}

type slotLease struct {
	store       *ledger.Store
	observe     seckill.Observer
	holder      string                  // this process, in slot_lease
	claim       func(order int64) int64 // the last column of the unique key
	wait, lease time.Duration
	poll        time.Duration
	retries     int
	shelves     shelves
}

func newSlotLease(
	d catalog.Deps, claim func(order int64) int64,
) *slotLease {
	usual := catalog.DefaultSettings()
	wait := cmp.Or(d.Settings.LockWait, usual.LockWait)
	lease := cmp.Or(d.Settings.LockLease, usual.LockLease)
	return &slotLease{store: d.Ledger, observe: d.Observe, holder: newHolder(),
		claim: claim, wait: wait, poll: d.Settings.LockPoll,
		// Buyers who wait for a dead process's slots live to get them.
		lease: min(lease, wait/2), retries: d.Settings.Retries}
}

// openSlots: as long as a stretch is left, some slot in it may be free; without
// one all are sold, or none.
const openSlots = `IF(EXISTS(SELECT 1 FROM slot_lease
   WHERE slot_lease.sku_id = stock.id AND slot_lease.run = stock.run)
  OR NOT EXISTS(SELECT 1 FROM slot_sold
   WHERE slot_sold.sku_id = stock.id AND slot_sold.run = stock.run),
  initial, 0) AS units, NULL AS piece`

func (s *slotLease) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	// A plain read, which waits for no one: the run, and whether all is sold.
	seen, err := s.store.LookAside(ctx, p, openSlots)
	if err != nil {
		return r, err
	}
	sh := s.shelves.of(p.SKU, seen.Run)
	for try := 0; ; try++ {
		slots, left, err := s.pick(ctx, sh, p)
		if err != nil {
			return r, err
		}
		r, err = s.sell(ctx, p, sh, slots, left)
		if !errors.Is(err, errSold) || try >= s.retries {
			return r, err
		}
		s.observe.Retried()
	}
}

// sell writes the order and its slots. The unique key has the last word: a
// process that slept while its lease ended, and whose slots were sold by
// another, meets it here.
func (s *slotLease) sell(
	ctx context.Context, p seckill.Purchase, sh *shelf,
	slots []int64, left int64,
) (r seckill.Receipt, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) (err error) {
		var id int64
		id, r, err = s.store.PlaceLeaving(tx, p, sh.run, left)
		if err != nil {
			return err
		}
		return s.take(tx, p.SKU, sh.run, id, slots)
	})
	switch {
	case errors.Is(err, errSold): // the lease was another's, then: all of it
		sh.forget()
	case err != nil && seckill.NothingTaken(err):
		sh.add(slots)
	}
	// After an unknown outcome the slots are left to the end of their lease:
	// the process that gets them then sees which of them are sold.
	return r, err
}

var errSold = fmt.Errorf("%w: another process sold the slot",
	seckill.ErrConflict)

const mysqlDuplicate = 1062

func (s *slotLease) take(
	tx *gorm.DB, sku, run, order int64, slots []int64,
) error {
	err := insertRows(s.store, tx,
		"INSERT INTO slot_sold (sku_id, run, slot, claim, order_id) VALUES ",
		"(?, ?, ?, ?, ?)", len(slots), func(i int) []any {
			return []any{sku, run, slots[i], s.claim(order), order}
		})
	var e *mysql.MySQLError
	if errors.As(err, &e) && e.Number == mysqlDuplicate {
		return errSold
	}
	return err
}

// Restore makes the order's slots a free stretch again. Its rows in slot_sold
// go with the order in one transaction, so a slot is free once only.
func (s *slotLease) Restore(ctx context.Context, orderID string) error {
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		o, back, err := s.store.Cancel(tx, orderID)
		if err != nil || !back {
			return err
		}
		switch run, _, err := s.lockRow(tx, o.SKUID); {
		case err != nil:
			return err
		case run != o.Run:
			return seckill.ErrUnknownOrder // the sale was reset meanwhile
		}
		return s.free(tx, o)
	})
}

// free gives the slots of a cancelled order back.
func (s *slotLease) free(tx *gorm.DB, o ledger.Order) error {
	const ofOrder = " FROM slot_sold " +
		"WHERE sku_id = ? AND run = ? AND order_id = ?"
	var slots []int64
	err := tx.Raw("SELECT slot"+ofOrder+" ORDER BY slot",
		o.SKUID, o.Run, o.ID).Scan(&slots).Error
	if err != nil {
		return err
	}
	_, _, err = s.store.Exec(tx, "DELETE"+ofOrder, o.SKUID, o.Run, o.ID)
	if err != nil {
		return err
	}
	return s.write(tx, o.SKUID, o.Run, stretches(slots), false)
}
