package mysqllock

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
	"seckill/strategies/saletest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

var testSettings = catalog.Settings{LockTimes: catalog.LockTimes{LockWait: 3 * time.Second, LockLease: time.Minute, LockPoll: 2 * time.Millisecond}}

// newBench is a lock on an instance of its own.
func newBench(t *testing.T, info catalog.Info, change ...func(*catalog.Deps)) *locktest.Process {
	t.Helper()
	d := catalog.Deps{Settings: testSettings}
	for _, c := range change {
		c(&d)
	}
	return locktest.Open(t, info, d)
}

var sessionInfos = []catalog.Info{LockRow, GetLock}

// COMMIT and ROLLBACK release the lock of the row. They do not release GET_LOCK's.
func TestCommit(t *testing.T) {
	for _, info := range sessionInfos {
		for _, fails := range []error{nil, seckill.ErrSoldOut} {
			b := newBench(t, info)
			l := b.Take(t, lock.Options{Lease: time.Minute})
			in := ledger.NewStore(nil).On(l.(lock.SessionLease).Session())
			if err := in.Tx(t.Context(), func(*gorm.DB) error { return fails }); !errors.Is(err, fails) {
				t.Errorf("%s: the transaction gave %v, want %v", info.Name, err, fails)
			}
			err := in.Tx(t.Context(), func(*gorm.DB) error { return nil })
			if info.Name == "get-lock" {
				b.Busy(t)
				if err != nil {
					t.Errorf("a second transaction under the lock: %v", err)
				}
			} else {
				locktest.Free(t, b.Take(t, lock.Options{Lease: time.Minute}))
				if !errors.Is(err, seckill.ErrConflict) || !errors.Is(err, lock.ErrLost) {
					t.Errorf("a second transaction after the lock has gone: %v, want a conflict", err)
				}
			}
			locktest.Free(t, l)
			locktest.Free(t, b.Take(t, lock.Options{Lease: time.Minute}))
		}
	}
}

// Waiters need connections, too: as many as the pool has. The next one waits
// for a connection as long as they would for the lock, and holders are not hurt.
func TestMoreWaitersThanConnections(t *testing.T) {
	for _, info := range sessionInfos {
		t.Run(info.Name, func(t *testing.T) {
			s := saletest.Open(t, info, 100, catalog.Deps{Settings: testSettings})
			errs := make(chan error, 100)
			for user := range int64(100) {
				go func() {
					_, err := s.Buy(t.Context(), user+1, 1)
					errs <- err
				}()
			}
			for range 100 {
				if err := <-errs; err != nil {
					t.Error(err)
				}
			}
			if row, err := s.Store.SKU(t.Context(), s.SKU); err != nil || row.Num != 0 {
				t.Errorf("%d left, %v", row.Num, err)
			}
		})
	}
}

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
