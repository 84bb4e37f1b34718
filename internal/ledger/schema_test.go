package ledger_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
)

// Processes that start on an empty database at once all find their tables; other tables are
// refused. To drop them is advised only where they name another build. Each database has a
// name of its own.
func TestOtherBuildsTablesAreRefused(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		db := s.DB(t.Context())
		empty := func() {
			for _, table := range []string{"stock", "orders", "seckill_identity"} {
				labtest.Must(t, db.Migrator().DropTable(table))
			}
		}
		defer empty()
		empty()
		var g errgroup.Group
		for range 8 {
			g.Go(func() error { return ledger.Migrate(t.Context(), db) })
		}
		labtest.Must(t, g.Wait())
		identity := func() string {
			id, err := ledger.NewStore(db).Identity(t.Context())
			if err != nil || id == "" || strings.Contains(id, " ") {
				t.Errorf("the database is called %q (%v)", id, err)
			}
			return id
		}
		named := identity()
		if id := identity(); id != named {
			t.Errorf("two stores call the database %q and %q", named, id)
		}
		for what, statement := range map[string]string{
			"another schema": "UPDATE seckill_identity SET made_for = 'another'",
			"no row":         "DELETE FROM seckill_identity",
			"no such column": "ALTER TABLE seckill_identity DROP COLUMN made_for",
			"no such table":  "DROP TABLE seckill_identity",
		} {
			labtest.Must(t, db.Exec(statement).Error)
			err := ledger.Migrate(t.Context(), db)
			if !errors.Is(err, ledger.ErrOtherBuild) {
				t.Errorf("%s: %v, want it refused", what, err)
			} else if text := err.Error(); (strings.Contains(text, "DROP") || strings.Contains(text, "remove")) != (what == "another schema") {
				t.Errorf("%s: %v", what, err)
			}
			empty()
			if err := ledger.Migrate(t.Context(), db); err != nil {
				t.Fatalf("%s, and dropped: %v", what, err)
			}
			if identity() == named {
				t.Error("another database has the same name")
			}
		}
	})
}
