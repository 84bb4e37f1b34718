package mysqllock

import (
	"errors"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/catalog/saletest"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
)

var sessionInfos = []catalog.Info{LockRow, GetLock}

// The lock of the row is over with COMMIT, and with ROLLBACK; GET_LOCK's is not.
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

// The session has freed the lock by itself: the release says so.
func TestUserLockFreedBefore(t *testing.T) {
	b := newBench(t, GetLock)
	l := b.Take(t, lock.Options{})
	labtest.Must(t, l.(lock.SessionLease).Session().Exec("DO RELEASE_LOCK(?)", b.Key).Error)
	if err := l.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("the release says %v, want %v", err, lock.ErrNotHeld)
	}
}

// Waiters need connections, too: as many as the pool has. The next one waits
// for a connection as long as he would for the lock, and holders are not hurt.
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
