package hotsku

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"

	"gorm.io/gorm"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// A stretch is a row of slot_lease: slots of which some may not be sold. What
// is in no stretch is sold. The rows are written with the stock row locked.
type stretch struct {
	ID, FirstSlot, LastSlot int64
	Live                    bool // leased, and the lease has not ended
}

func (st stretch) size() int64 { return st.LastSlot - st.FirstSlot + 1 }

// A lease is an eighth of what is free, so that leases get small towards the
// end, and no more than a process sells in a moment.
const (
	share     = 8
	mostSlots = 256
)

// errAllLeased: enough slots may be left, but other processes have them.
var errAllLeased = errors.New("all slots that are left are leased")

// leaseMore leases n slots or more besides those that the process has. It is
// ErrSoldOut only when too few are left anywhere.
func (s *slotLease) leaseMore(
	ctx context.Context, sh *shelf, has []int64, n int64,
) (got []int64, rest int64, err error) {
	var refused error
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		run, initial, err := s.lockRow(tx, sh.sku)
		if err != nil {
			return err
		}
		if run != sh.run {
			return fmt.Errorf("%w: the sale was reset meanwhile",
				seckill.ErrConflict)
		}
		all, err := s.stretches(tx, sh.sku, run, initial)
		if err != nil {
			return err
		}
		h := &harvest{slotLease: s, tx: tx, sku: sh.sku, run: run, has: has,
			seen: map[int64]bool{}}
		rest, err = h.gather(all, n)
		switch {
		case err != nil:
			return err
		case int64(len(h.got)) < n:
			refused, err = h.whyNot(all, n)
			return err
		}
		got, refused = h.got, nil
		return h.keep()
	})
	if err == nil {
		err = refused
	}
	return got, rest, err
}

// lockRow locks the stock row: those who lease or give back take turns.
func (s *slotLease) lockRow(
	tx *gorm.DB, sku int64,
) (run, initial int64, err error) {
	var row struct{ Run, Initial int64 }
	err = s.store.ReadIn(tx, &row,
		"SELECT run, initial FROM stock WHERE id = ? FOR UPDATE", sku)
	return row.Run, row.Initial, err
}

// stretches reads those of a run, live ones last. The clock is the database's.
// Before the first lease there is one that has all slots.
func (s *slotLease) stretches(
	tx *gorm.DB, sku, run, initial int64,
) (all []stretch, err error) {
	err = tx.Raw("SELECT id, first_slot, last_slot, "+
		"COALESCE(ends_at > UTC_TIMESTAMP(6), 0) AS live FROM slot_lease "+
		"WHERE sku_id = ? AND run = ? ORDER BY live, first_slot",
		sku, run).Scan(&all).Error
	if err != nil || len(all) > 0 || initial == 0 {
		return all, err
	}
	var sold []int64
	err = tx.Raw("SELECT slot FROM slot_sold "+
		"WHERE sku_id = ? AND run = ? LIMIT 1", sku, run).Scan(&sold).Error
	if err != nil || len(sold) > 0 {
		return nil, err
	}
	return []stretch{{FirstSlot: 1, LastSlot: initial}}, nil
}

// A harvest collects slots for one lease.
type harvest struct {
	*slotLease
	tx       *gorm.DB
	sku, run int64
	has      []int64        // slots that the process has already
	seen     map[int64]bool // two stretches may have the same slot
	got      []int64        // others that were found
	again    []int64        // of has, those that were found
	used     []int64        // stretches that all of them were found in
	rest     []stretch      // what is left of those
}

// gather goes through the stretches that are free or whose lease has ended.
// rest is about how many slots stay there.
func (h *harvest) gather(all []stretch, n int64) (rest int64, err error) {
	for _, st := range all {
		if !st.Live {
			rest += st.size()
		}
	}
	n = max(n, min(mostSlots, rest/share))
	for _, st := range all {
		if st.Live || int64(len(h.got)) >= n {
			break
		}
		before := st.size()
		if err := h.cut(&st, n); err != nil {
			return 0, err
		}
		rest -= before - max(st.size(), 0)
	}
	return rest, nil
}

// cut takes slots from the front of a stretch until there are n.
func (h *harvest) cut(st *stretch, n int64) error {
	h.used = append(h.used, st.ID)
	for st.size() > 0 && int64(len(h.got)) < n {
		to := min(st.LastSlot, st.FirstSlot+n-int64(len(h.got))-1)
		sold, err := h.sold(st.FirstSlot, to)
		if err != nil {
			return err
		}
		for slot := st.FirstSlot; slot <= to; slot++ {
			h.find(slot, sold)
		}
		st.FirstSlot = to + 1
	}
	if st.size() > 0 {
		h.rest = append(h.rest, *st)
	}
	return nil
}

func (h *harvest) find(slot int64, sold []int64) {
	if _, gone := slices.BinarySearch(sold, slot); gone || h.seen[slot] {
		return
	}
	h.seen[slot] = true
	if _, mine := slices.BinarySearch(h.has, slot); mine {
		h.again = append(h.again, slot)
		return
	}
	h.got = append(h.got, slot)
}

// sold lists slots that are sold. A sale that is not committed yet is not among
// them: who takes its slot waits for it at the unique key.
func (h *harvest) sold(from, to int64) (slots []int64, err error) {
	err = h.tx.Raw("SELECT DISTINCT slot FROM slot_sold "+
		"WHERE sku_id = ? AND run = ? AND slot BETWEEN ? AND ? ORDER BY slot",
		h.sku, h.run, from, to).Scan(&slots).Error
	return slots, err
}

// whyNot looks at what is leased, too: sold out is said only when fewer than n
// are left there as well, besides those that the process has. Stretches that
// are sold go.
func (h *harvest) whyNot(all []stretch, n int64) (why, err error) {
	left, spent, err := h.count(all)
	if err != nil {
		return nil, err
	}
	if why = errAllLeased; left < n {
		why = seckill.ErrSoldOut
	}
	return why, h.drop(spent)
}

// count counts the slots that are not sold and that the process does not have,
// each once, and names the stretches in which all are sold.
func (h *harvest) count(
	all []stretch,
) (left int64, spent []int64, err error) {
	slices.SortFunc(all, func(a, b stretch) int {
		return cmp.Compare(a.FirstSlot, b.FirstSlot)
	})
	seen := int64(0) // the slots up to here
	for _, st := range all {
		sold, err := h.sold(st.FirstSlot, st.LastSlot)
		if err != nil {
			return 0, nil, err
		}
		if int64(len(sold)) == st.size() {
			spent = append(spent, st.ID)
		}
		st.FirstSlot = max(st.FirstSlot, seen+1)
		if st.size() > 0 {
			left += st.size() - st.within(union(sold, h.has))
			seen = st.LastSlot
		}
	}
	return left, spent, nil
}

func union(a, b []int64) []int64 {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// within is how many of the slots are in the stretch.
func (st stretch) within(slots []int64) (n int64) {
	for _, slot := range slots {
		if st.FirstSlot <= slot && slot <= st.LastSlot {
			n++
		}
	}
	return n
}

// keep writes the lease: what was found is this process's, what is left of the
// stretches is free.
func (h *harvest) keep() error {
	if err := h.drop(h.used); err != nil {
		return err
	}
	err := h.write(h.tx, h.sku, h.run, h.rest, false)
	if err != nil {
		return err
	}
	return h.write(h.tx, h.sku, h.run,
		stretches(union(h.again, h.got)), true)
}

func (h *harvest) drop(ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	return h.tx.Exec("DELETE FROM slot_lease "+
		"WHERE sku_id = ? AND run = ? AND id IN ?", h.sku, h.run, ids).Error
}

// write adds stretches: leased to this process, or free.
func (s *slotLease) write(
	tx *gorm.DB, sku, run int64, all []stretch, leased bool,
) error {
	holder, lease := "", any(nil)
	if leased {
		holder, lease = s.holder, s.lease.Microseconds()
	}
	return insertRows(s.store, tx, "INSERT INTO slot_lease "+
		"(sku_id, run, id, first_slot, last_slot, holder, ends_at) VALUES ",
		"(?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)",
		len(all), func(i int) []any {
			return []any{sku, run, newStretchID(), all[i].FirstSlot,
				all[i].LastSlot, holder, lease}
		})
}

// stretches joins neighbours.
func stretches(slots []int64) (all []stretch) {
	for _, slot := range slots {
		if n := len(all); n > 0 && all[n-1].LastSlot == slot-1 {
			all[n-1].LastSlot = slot
			continue
		}
		all = append(all, stretch{FirstSlot: slot, LastSlot: slot})
	}
	return all
}

// insertRows sends n rows, so many in one statement.
func insertRows(
	store *ledger.Store, tx *gorm.DB, into, row string, n int,
	values func(i int) []any,
) error {
	const most = 500
	for from := 0; from < n; from += most {
		rows, args := []string{}, []any{}
		for i := from; i < min(n, from+most); i++ {
			rows, args = append(rows, row), append(args, values(i)...)
		}
		_, _, err := store.Exec(tx, into+strings.Join(rows, ", "), args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// release ends this process's leases of one sale.
func (s *slotLease) release(ctx context.Context, sh *shelf) error {
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		if _, _, err := s.lockRow(tx, sh.sku); err != nil {
			return err
		}
		return tx.Exec("UPDATE slot_lease SET holder = '', ends_at = NULL "+
			"WHERE sku_id = ? AND run = ? AND holder = ?",
			sh.sku, sh.run, s.holder).Error
	})
}

// Count is how many slots are not sold: those of all stretches, each once, less
// those that are sold.
func (s *slotLease) Count(
	ctx context.Context, sku int64,
) (left int64, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		var row struct{ Run, Initial int64 }
		err := s.store.ReadIn(tx, &row,
			"SELECT run, initial FROM stock WHERE id = ?", sku)
		if err != nil {
			return err
		}
		all, err := s.stretches(tx, sku, row.Run, row.Initial)
		if err != nil {
			return err
		}
		h := &harvest{slotLease: s, tx: tx, sku: sku, run: row.Run}
		left, _, err = h.count(all)
		return err
	})
	return left, err
}

func newHolder() string {
	id := make([]byte, 8)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}

// newStretchID is random: a stretch has no number of its own. It has 19 digits
// and, unlike an order's id, begins with no time of today.
func newStretchID() int64 { return 2e18 + mathrand.Int64N(7e18) }
