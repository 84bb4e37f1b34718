package ledger_test

import (
	"slices"
	"testing"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
)

// Processes that start together on an empty server make the database and its tables
// together. None fails, and what they make is what one makes.
func TestManyStartTogether(t *testing.T) {
	config := labtest.Config(t, backend.SQL, backend.RowLocks)
	dsn, err := mysql.ParseDSN(config.MySQLDSN)
	if err != nil {
		t.Fatal(err)
	}
	main := labtest.Instance(t, backend.SQL, backend.RowLocks)
	dsn.DBName = "seckill_together"
	config.MySQLDSN = dsn.FormatDSN()
	drop := func() {
		if err := main.DB.Exec("DROP DATABASE IF EXISTS " + dsn.DBName).Error; err != nil {
			t.Error(err)
		}
	}
	drop()
	t.Cleanup(drop)
	if err := ledger.Migrate(t.Context(), main.DB); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		drop()
		var starting errgroup.Group
		for range 8 {
			starting.Go(func() error {
				in, err := backend.Open(t.Context(), config)
				if err != nil {
					return err
				}
				defer in.Close()
				return ledger.Migrate(t.Context(), in.DB)
			})
		}
		if err := starting.Wait(); err != nil {
			t.Fatal(err)
		}
		columns := func(database string) (all []string) {
			err := main.DB.Raw("SELECT CONCAT(table_name, '.', column_name, ' ', column_type) FROM information_schema.columns WHERE table_schema = ? "+
				"AND table_name IN ('stock', 'orders', 'refusals', 'reservations', 'stock_buckets', 'stock_units') "+
				"ORDER BY 1", database).Scan(&all).Error
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		own, err := mysql.ParseDSN(main.Config.MySQLDSN)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := columns(dsn.DBName), columns(own.DBName); !slices.Equal(got, want) || len(got) < 40 {
			t.Errorf("together they make\n%v\none makes\n%v", got, want)
		}
	}
}
