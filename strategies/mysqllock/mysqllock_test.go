package mysqllock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
	"seckill/internal/sqlerr"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
	"seckill/strategies/saletest"
)

// together makes one attempt on each key at once: all have looked for the record before any of them
// inserts one. deadlocks counts the statements that a deadlock undid.
func together(t *testing.T, l lock.Locker, keys ...string) (errs []error, deadlocks int64) {
	t.Helper()
	var looked, done sync.WaitGroup
	looked.Add(len(keys))
	errs = make([]error, len(keys))
	var counted atomic.Int64
	for i, key := range keys {
		done.Go(func() {
			m := &taptest.Tap{OnBefore: func(c *tap.Command) error {
				if c.Name == "INSERT" {
					looked.Done()
					looked.Wait()
				}
				return nil
			}, OnAfter: func(_ *tap.Command, err error) error {
				if isUndone(err) {
					counted.Add(1)
				}
				return err
			}}
			lease, err := l.Acquire(tap.With(t.Context(), m), key, lock.Options{Lease: time.Minute})
			if errs[i] = err; err == nil {
				errs[i] = lease.Release(context.Background())
			}
		})
	}
	done.Wait()
	return errs, counted.Load()
}

// Two contenders who find no record lock the same gap, and one of them is undone.
func TestVersion1Deadlocks(t *testing.T) {
	b := newBench(t, LockTableV1)
	for name, keys := range map[string][]string{"one name": {b.Key, b.Key}, "two names": {b.Key + "a", b.Key + "b"}} {
		conflicts := 0
		errs, deadlocks := together(t, b, keys...)
		for _, err := range errs {
			switch {
			case isUndone(err) && errors.Is(err, seckill.ErrConflict):
				conflicts++
			case err != nil:
				t.Errorf("%s: %v", name, err)
			}
		}
		labtest.Same(t, [2]int{conflicts, int(deadlocks)}, [2]int{1, 1}, "%s: conflicts and deadlocks", name)
	}
}

// apart returns two neighbouring names that belong to different segments.
func apart(key string) (one, other string) {
	for i := 0; ; i++ {
		one, other = fmt.Sprint(key, i, "a"), fmt.Sprint(key, i, "b")
		if segmentRow(one) != segmentRow(other) {
			return one, other
		}
	}
}

// The source, article B, reads the record FOR UPDATE as well. Segments do not guard the gap between
// names of different segments.
func TestSegmentsDeadlockWhenTheRecordIsReadForUpdate(t *testing.T) {
	for _, forUpdate := range []bool{false, true} {
		b := newBench(t, LockTableSegmented, func(d *catalog.Deps) { d.Settings.RecordLock = forUpdate })
		one, other := apart(b.Key + fmt.Sprint(forUpdate))
		want := int64(0)
		if forUpdate {
			want = 1
		}
		failed := int64(0)
		errs, deadlocks := together(t, b, one, other)
		for _, err := range errs {
			if errors.Is(err, seckill.ErrBusy) {
				failed++
			} else if err != nil {
				t.Error(err)
			}
		}
		labtest.Same(t, []int64{deadlocks, failed}, []int64{want, want}, "for update %v: deadlocks, busy", forUpdate)
	}
}

// The central row is locked only while a lock is taken, not while it is held. A contender that
// holds the central row keeps out all others, or all others of its segment.
func TestWhoWaitsAtTheCentralRow(t *testing.T) {
	for _, c := range []struct {
		info  catalog.Info
		waits bool // true if a lock of another segment has to wait, too
	}{{LockTableCentral, true}, {LockTableSegmented, false}} {
		t.Run(c.info.Name, func(t *testing.T) {
			b := newBench(t, c.info)
			one, other := apart(b.Key)
			row := segmentRow(one)
			if c.info.Name == LockTableCentral.Name {
				row = centralRow
			}
			for i := 0; segmentRow(b.Key) != segmentRow(one); i++ {
				b.Key = fmt.Sprint(one, i)
			}
			held := b.Take(t, lock.Options{})
			labtest.Must(t, b.In.DB.WithContext(t.Context()).Transaction(func(tx *gorm.DB) error {
				if err := lockCentralRow(tx, row); err != nil {
					return err
				}
				soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				labtest.Check(t, held.Release(soon), seckill.ErrUnavailable,
					"while somebody is at %s, a release", row)
				for key, waits := range map[string]bool{one: true, other: c.waits} {
					l, err := b.Acquire(t.Context(), key, lock.Options{Lease: time.Minute})
					labtest.Same(t, errors.Is(err, seckill.ErrBusy), waits, "%s waits for %s (%v)", key, row, err)
					if l != nil {
						locktest.Free(t, l)
					}
				}
				return nil
			}))
			locktest.Free(t, held)
			labtest.Fails(t, lockCentralRow(b.In.DB.WithContext(t.Context()), "no row"), "", "a row that is not there")
		})
	}
}

// A deadlock undoes the DELETE that releases a lock. The DELETE is sent again; otherwise the row would stay.
func TestReleaseIsSentAgainAfterADeadlock(t *testing.T) {
	for _, info := range []catalog.Info{LockInsert, LockInsertPlain} {
		b := newBench(t, info)
		l := b.Take(t, lock.Options{Lease: time.Minute})
		var deadlock error = &mysql.MySQLError{Number: sqlerr.Deadlock}
		labtest.Must(t, l.Release(tap.With(t.Context(), &taptest.Tap{OnBefore: func(*tap.Command) (err error) {
			err, deadlock = deadlock, nil
			return err
		}})))
		locktest.Free(t, b.Take(t, lock.Options{Lease: time.Minute}))
	}
}

// One buyer buys 3 of 5 while another, who wants 1, stands between the first read and GET_LOCK. MariaDB's
// innodb_snapshot_isolation (on from 11.6) refuses the other's number with error 1020. The ledger runs the transaction
// again, under the lock that ROLLBACK has not freed, and the second snapshot is new. The lock is not taken a second
// time: it would have to be freed twice.
func TestSnapshotFirstIsRefusedBySnapshotIsolation(t *testing.T) {
	config, known := labtest.WithSnapshotIsolation(t, labtest.Config(t, backend.SQL))
	if !known {
		t.Log("this server does not know innodb_snapshot_isolation")
		return
	}
	s := saletest.Open(t, SnapshotFirst, 5, catalog.Deps{Instance: labtest.Open(t, config), Settings: testSettings})
	begun := 0
	overtaken := taptest.EachBefore(t.Context(), func(c *tap.Command) {
		if c.Name == "BEGIN" {
			begun++
		}
		if strings.Contains(c.Text, "GET_LOCK") {
			labtest.Value(s.Buy(context.WithoutCancel(t.Context()), 1, 3)).Check(t, nil, "the buyer who overtakes")
		}
	})
	_, err := s.Buy(overtaken, 2, 1)
	row, wrong := s.Store.SKU(t.Context(), s.SKU)
	if err != nil || wrong != nil || row.Num != 1 || begun != 2 {
		t.Errorf("3 and 1 of 5 were bought: %v, %d are left (%v) after %d transactions; want 1 after two", err, row.Num, wrong, begun)
	}
	b := newBench(t, GetLock)
	b.Key = stockKey(s.SKU)
	locktest.Free(t, b.Take(t, lock.Options{Lease: time.Minute}))
}

// A reset comes while the lock's holder cancels an order. The new sale is not changed.
func TestACancellationMeetsAReset(t *testing.T) {
	s := saletest.Open(t, LockInsert, 5, catalog.Deps{Settings: testSettings})
	r, err := s.Buy(t.Context(), 1, 2)
	labtest.Must(t, err)
	ctx := taptest.Before(t.Context(), "UPDATE orders", func() { _, err = s.Store.Schedule(t.Context(), s.SKU, "", 9, nil) })
	told := s.Processes[0].Restore(ctx, r.OrderID)
	row, wrong := s.Store.SKU(t.Context(), s.SKU)
	if err = errors.Join(err, wrong); err != nil || !errors.Is(told, seckill.ErrUnknownOrder) || row.Num != 9 {
		t.Errorf("told %v, want %v; the new sale has %d of 9, %v", told, seckill.ErrUnknownOrder, row.Num, err)
	}
}

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

var testSettings = catalog.Settings{LockTimes: catalog.LockTimes{LockWait: 3 * time.Second, LockLease: time.Minute, LockPoll: 2 * time.Millisecond}}

// newBench returns a process with a lock, on an instance of its own.
func newBench(t *testing.T, info catalog.Info, change ...func(*catalog.Deps)) *locktest.Process {
	t.Helper()
	d := catalog.Deps{Settings: testSettings}
	for _, c := range change {
		c(&d)
	}
	return locktest.Open(t, info, d)
}

var sessionInfos = []catalog.Info{LockRow, GetLock}

// COMMIT and ROLLBACK release the lock of lock-row. They do not release the lock of GET_LOCK.
func TestCommit(t *testing.T) {
	for _, info := range sessionInfos {
		for _, fails := range []error{nil, seckill.ErrSoldOut} {
			b := newBench(t, info)
			l := b.Take(t, lock.Options{Lease: time.Minute})
			in := ledger.NewStore(nil).On(l.(lock.SessionLease).Session())
			labtest.Check(t, in.Tx(t.Context(), func(*gorm.DB) error { return fails }), fails,
				"%s: the transaction", info.Name)
			err := in.Tx(t.Context(), func(*gorm.DB) error { return nil })
			if info.Name == "get-lock" {
				_, busy := b.Acquire(t.Context(), b.Key, lock.Options{Lease: locktest.Long})
				labtest.Check(t, busy, seckill.ErrBusy, "the lock is held, and another")
				labtest.Check(t, err, nil, "a second transaction under the lock")
			} else {
				locktest.Free(t, b.Take(t, lock.Options{Lease: time.Minute}))
				labtest.Check(t, err, seckill.ErrConflict, "a second transaction after the lock has gone")
				labtest.Check(t, err, lock.ErrLost, "a second transaction after the lock has gone")
			}
			locktest.Free(t, l)
			locktest.Free(t, b.Take(t, lock.Options{Lease: time.Minute}))
		}
	}
}

// Waiters need connections, too, and here use up the pool. The next one waits for a connection as
// long as it would for the lock. Holders are not disturbed.
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
				labtest.Check(t, <-errs, nil, "buying")
			}
			labtest.Same(t, labtest.Value(s.Store.SKU(t.Context(), s.SKU)).Must(t).Num, 0, "the units left")
		})
	}
}

// If a wait is longer than the server allows for one statement, it takes several statements.
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
				asks := taptest.EachBefore(context.Background(), func(c *tap.Command) {
					if strings.Contains(c.Text, "FOR UPDATE") || strings.Contains(c.Text, "GET_LOCK") {
						asked <- struct{}{}
					}
				})
				got := make(chan error, 1)
				go func() {
					l, err := b.Acquire(asks, b.Key, lock.Options{Wait: wait, Lease: time.Minute})
					if err == nil {
						err = l.Release(context.Background())
					}
					got <- err
				}()
				<-asked
				<-asked // the server has ended the first wait
				locktest.Free(t, holder)
				labtest.Check(t, <-got, nil, "waiting %v", wait)
			}
		})
	}
}
