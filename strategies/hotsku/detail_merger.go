package hotsku

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"gorm.io/gorm"

	"seckill/internal/tap"
)

// mostDetails bounds one transaction of the merger.
const mostDetails = 500

// A worker knows in which SKUs this process has left something to merge.
type worker struct {
	mu   sync.Mutex
	used map[int64]bool
}

func (w *worker) noted(sku int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.used == nil {
		w.used = map[int64]bool{}
	}
	w.used[sku] = true
}

func (w *worker) takeNoted() (skus []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	skus = slices.Collect(maps.Keys(w.used))
	clear(w.used)
	return skus
}

// Work lets the stock rows follow until ctx ends, and then once more: those of
// this process's sales, and those that processes which died have left behind.
// What it does not reach stays in stock_details, for others.
func (s *detailMerge) Work(ctx context.Context) { s.work(ctx, s.Settle) }

func (s *detailMerge) work(
	ctx context.Context, settle func(context.Context, int64) error,
) {
	tick := time.NewTicker(workEvery)
	defer tick.Stop()
	for searched := (time.Time{}); ; {
		if time.Since(searched) > searchEvery {
			searched = time.Now()
			s.searchDetails(ctx)
		}
		select {
		case <-tick.C:
			s.settleNoted(ctx, settle)
		case <-ctx.Done():
			ctx, cancel := tap.WithTimeout(
				context.WithoutCancel(ctx), afterwards)
			defer cancel()
			s.settleNoted(ctx, settle)
			return
		}
	}
}

func (s *detailMerge) settleNoted(
	ctx context.Context, settle func(context.Context, int64) error,
) {
	for _, sku := range s.takeNoted() {
		if err := settle(ctx, sku); err != nil {
			s.noted(sku)
			if ctx.Err() == nil {
				s.deps.Log.WarnContext(ctx, "the stock row is behind",
					"sku", sku, "error", err)
			}
		}
	}
}

// searchDetails notes every SKU whose row lacks something.
func (s *detailMerge) searchDetails(ctx context.Context) {
	var skus []int64
	err := s.store.DB(ctx).Raw("SELECT e.sku_id FROM stock_epochs e " +
		"WHERE EXISTS(SELECT 1 FROM stock_details d WHERE " +
		"d.sku_id = e.sku_id AND d.run = e.run AND d.merged = 0)").
		Scan(&skus).Error
	if err != nil && ctx.Err() == nil {
		s.deps.Log.WarnContext(ctx, "look for details", "error", err)
	}
	for _, sku := range skus {
		s.noted(sku)
	}
}

// Settle lets the stock row of sku follow what is committed now.
func (s *detailMerge) Settle(ctx context.Context, sku int64) error {
	for {
		merged, err := s.merge(ctx, sku)
		if err != nil || merged < mostDetails {
			return err
		}
	}
}

// A detail is a row of stock_details that the stock row lacks.
type detail struct{ Run, Epoch, Unit, ChangeBy int64 }

// merge takes some details that no other merger has, and lets the row follow
// by their sum, in one transaction: all of it is done once, or nothing. It skips
// what is locked: sales under way, and what other processes merge.
func (s *detailMerge) merge(
	ctx context.Context, sku int64,
) (merged int, err error) {
	err = s.apart.Tx(ctx, func(tx *gorm.DB) error {
		var list []detail
		err := tx.Raw("SELECT run, epoch, unit, change_by "+
			"FROM stock_details FORCE INDEX (stock_details_open) "+
			"WHERE sku_id = ? AND run = (SELECT run FROM stock "+
			"WHERE id = ?) AND merged = 0 ORDER BY epoch, unit LIMIT ? "+
			"FOR UPDATE SKIP LOCKED", sku, sku, mostDetails).Scan(&list).Error
		merged = len(list)
		if err != nil || merged == 0 {
			return err
		}
		if err := s.mark(tx, sku, list); err != nil {
			return err
		}
		return s.follow(tx, sku, list)
	})
	return merged, err
}

// mark meets each detail by its primary key. An UPDATE with a list may be run as
// a scan, and would wait for sales under way.
func (s *detailMerge) mark(tx *gorm.DB, sku int64, list []detail) error {
	var rows []string
	for _, d := range list {
		rows = append(rows, fmt.Sprintf("(%d, %d, %d, %d, 0, 1)",
			sku, d.Run, d.Epoch, d.Unit))
	}
	_, _, err := s.store.Exec(tx, "INSERT INTO stock_details "+
		"(sku_id, run, epoch, unit, change_by, merged) VALUES "+
		strings.Join(rows, ", ")+" ON DUPLICATE KEY UPDATE merged = 1")
	return err
}

// follow writes the stock row. It decides nothing: what is sold is sold. A run
// that is over has no row any more that could follow.
func (s *detailMerge) follow(tx *gorm.DB, sku int64, list []detail) error {
	var sum int64
	for _, d := range list {
		sum += d.ChangeBy
	}
	_, _, err := s.store.Exec(tx, "UPDATE stock SET num = num + ?, "+
		"version = version + 1 WHERE id = ? AND run = ?",
		sum, sku, list[0].Run)
	return err
}
