package strategies_test

import (
	"errors"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/strategies"
	"seckill/strategies/saletest"
)

// An address may choose innodb_snapshot_isolation, the default of MariaDB from 11.6.2. A transaction that read before
// it locked is then undone by every purchase in between, so a cancellation locks first: none is refused. (A MySQL has
// no such setting.)
func TestCancellingWithSnapshotIsolation(t *testing.T) {
	for _, name := range []string{"conditional", "conditional-scan", "version", "for-update", "order-first", "bucketed",
		"reserve", "one-trip", "redis-counter-mysql"} {
		t.Run(name, func(t *testing.T) {
			info := strategies.Named(name)
			in := labtest.Instance(t, info.Uses()...)
			var has []struct{ Value string }
			labtest.Must(t, in.DB.Raw("SHOW VARIABLES LIKE 'innodb_snapshot_isolation'").Scan(&has).Error)
			if len(has) > 0 {
				config := in.Config
				dsn, err := backend.ParseMySQL(config.MySQLDSN)
				labtest.Must(t, err)
				dsn.Params = map[string]string{"innodb_snapshot_isolation": "ON"}
				config.MySQLDSN = dsn.FormatDSN()
				in = labtest.Open(t, config)
				labtest.Must(t, in.DB.Raw("SHOW VARIABLES LIKE 'innodb_snapshot_isolation'").Scan(&has).Error)
				if has[0].Value != "ON" {
					t.Fatal("the address did not choose the setting")
				}
			}
			s := saletest.Open(t, info, 60, catalog.Deps{Instance: in, Settings: patient})
			var g errgroup.Group
			g.SetLimit(16)
			var mu sync.Mutex
			cancelled := 0
			for user := range int64(300) {
				g.Go(func() error {
					r, err := s.Buy(t.Context(), user+1, 1)
					if errors.Is(err, seckill.ErrSoldOut) || errors.Is(err, seckill.ErrConflict) {
						return nil
					}
					if err == nil && user%6 == 0 {
						mu.Lock()
						cancelled++
						mu.Unlock()
						err = s.Processes[0].Restore(t.Context(), r.OrderID)
					}
					return err
				})
			}
			if err := g.Wait(); err != nil {
				t.Error(err)
			}
			report := s.Judge(t)
			if report.Verdict != judge.Held || report.Cancelled != cancelled || cancelled == 0 {
				t.Errorf("%s: %d of %d cancelled; %+v", report.Verdict, report.Cancelled, cancelled, report.Violations)
			}
		})
	}
}
