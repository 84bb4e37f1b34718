package mysqllock

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// Waits longer than the server lets one statement wait are several statements.
func TestWaitIsLongerThanTheServersLimit(t *testing.T) {
	for _, info := range []catalog.Info{LockRow, GetLock} {
		t.Run(info.Name, func(t *testing.T) {
			b := newBench(t, info, func(d *catalog.Deps) {
				config := labtest.Config(t, info.Needs...)
				config.RowLockWait = time.Second
				d.Instance = labtest.Open(t, config)
			})
			for _, wait := range []time.Duration{-1, 20 * time.Second} {
				holder := b.Take(t, lock.Options{Lease: time.Minute})
				asked := make(chan struct{}, 100)
				m := &taptest.Tap{OnBefore: func(c *tap.Command) error {
					if strings.Contains(c.Text, "FOR UPDATE") || strings.Contains(c.Text, "GET_LOCK") {
						asked <- struct{}{}
					}
					return nil
				}}
				got := make(chan error, 1)
				go func() {
					l, err := b.Acquire(tap.With(context.Background(), m), b.Key, lock.Options{Wait: wait, Lease: time.Minute})
					if err == nil {
						err = l.Release(context.Background())
					}
					got <- err
				}()
				<-asked
				<-asked // the server has ended the first wait
				locktest.Free(t, holder)
				if err := <-got; err != nil {
					t.Errorf("waiting %v: %v", wait, err)
				}
			}
		})
	}
}

// Several processes build their locks at once, beside purchases under way.
func TestBuiltByManyAtOnce(t *testing.T) {
	first := newBench(t, LockTableCentral)
	labtest.Must(t, first.In.DB.Exec("DROP TABLE IF EXISTS distributed_lock, lock_row, lock_record, lock_central").Error)
	var all sync.WaitGroup
	for range 4 {
		in := labtest.Instance(t, backend.SQL, backend.RowLocks)
		all.Go(func() {
			if err := ledger.Migrate(t.Context(), in.DB); err != nil {
				t.Error(err)
			}
			for _, info := range append(lockInfos, MySQLCounter) {
				if _, err := catalog.Build(info, catalog.Deps{Instance: in, Ledger: ledger.NewStore(in.DB), Settings: testSettings}); err != nil {
					t.Errorf("%s: %v", info.Name, err)
				}
			}
		})
	}
	all.Wait()
	var n int64
	labtest.Must(t, first.In.DB.Raw("SELECT COUNT(*) FROM lock_central").Scan(&n).Error)
	if n != 101 {
		t.Errorf("%d central rows, want 101", n)
	}
}
