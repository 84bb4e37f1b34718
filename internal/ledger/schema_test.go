package ledger_test

import (
	"testing"

	"golang.org/x/sync/errgroup"

	"seckill/internal/ledger"
)

// A ledger that is older than stock.code and stock.starts_at, and several
// processes that start on it at once.
func TestColumnsAreAddedToATableThatIsThere(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		db := s.DB(t.Context())
		for _, statement := range []string{
			"DELETE FROM stock", "ALTER TABLE stock DROP COLUMN code", "ALTER TABLE stock DROP COLUMN starts_at",
			"INSERT INTO stock (id, name, initial, num, run) VALUES (7003, 'from before', 5, 5, 1)",
		} {
			if err := db.Exec(statement).Error; err != nil {
				t.Fatal(err)
			}
		}
		var g errgroup.Group
		for range 8 {
			g.Go(func() error { return ledger.Migrate(t.Context(), db) })
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		if old, err := s.Start(t.Context(), sku+2); err != nil || old.StartsAt != nil {
			t.Errorf("a sale from before starts at %+v (%v), want at once", old, err)
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
