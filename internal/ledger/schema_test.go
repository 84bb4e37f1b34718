package ledger_test

import (
	"testing"

	"golang.org/x/sync/errgroup"

	"seckill/internal/ledger"
)

// A ledger that is older than stock.code, and several processes that start on
// it at once.
func TestCodeIsAddedToATableThatIsThere(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		db := s.DB(t.Context())
		if err := db.Exec("ALTER TABLE stock DROP COLUMN code").Error; err != nil {
			t.Fatal(err)
		}
		if _, err := s.Reset(t.Context(), sku+2, "from before", 5); err != nil {
			t.Fatal(err)
		}
		var g errgroup.Group
		for range 8 {
			g.Go(func() error { return ledger.Migrate(t.Context(), db) })
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Reset(t.Context(), sku+3, "from after", 5); err != nil {
			t.Fatal(err)
		}
		for _, id := range []int64{sku + 2, sku + 3} {
			var found []int64
			if err := db.Raw("SELECT id FROM stock WHERE code = ?", id).Scan(&found).Error; err != nil || len(found) != 1 || found[0] != id {
				t.Errorf("code %d finds the rows %v (%v), want the one of that id", id, found, err)
			}
		}
	})
}
