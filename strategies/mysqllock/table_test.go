package mysqllock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// together runs an attempt on each key side by side: each has looked for the
// record before any of them inserts one. deadlocks are the statements that one undid.
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
				if undone(err) {
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

// Two who find no record lock the same gap, and one of them is undone.
func TestVersion1Deadlocks(t *testing.T) {
	b := newBench(t, LockTableV1)
	for name, keys := range map[string][]string{"one name": {b.Key, b.Key}, "two names": {b.Key + "a", b.Key + "b"}} {
		conflicts := 0
		errs, deadlocks := together(t, b, keys...)
		for _, err := range errs {
			switch {
			case undone(err) && errors.Is(err, seckill.ErrConflict):
				conflicts++
			case err != nil:
				t.Errorf("%s: %v", name, err)
			}
		}
		if conflicts != 1 || deadlocks != 1 {
			t.Errorf("%s: %d conflicts and %d deadlocks, want 1 and 1", name, conflicts, deadlocks)
		}
	}
}

// B takes the last two digits of the CRC-32.
func TestSegment(t *testing.T) {
	if got, want := segment("123456789"), "center_lock_62"; got != want { // its check value is 3421780262
		t.Errorf("the check value's segment is %s, want %s", got, want)
	}
}

// apart are two names, next to each other, of different segments.
func apart(key string) (one, other string) {
	for i := 0; ; i++ {
		one, other = fmt.Sprint(key, i, "a"), fmt.Sprint(key, i, "b")
		if segment(one) != segment(other) {
			return one, other
		}
	}
}

// B's pseudo-code reads the record FOR UPDATE as well. Segments do not guard
// the gap between names of different segments.
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
		if deadlocks != want || failed != want {
			t.Errorf("for update %v: %d deadlocks, and %d without the lock, want %d", forUpdate, deadlocks, failed, want)
		}
	}
}

// The central row is passed while a lock is taken, not while it is held: who
// stands there keeps out everybody, or his segment.
func TestWhoWaitsAtTheCentralRow(t *testing.T) {
	for _, c := range []struct {
		info  catalog.Info
		waits bool // although it is another segment
	}{{LockTableCentral, true}, {LockTableSegmented, false}} {
		t.Run(c.info.Name, func(t *testing.T) {
			b := newBench(t, c.info)
			one, other := apart(b.Key)
			row := segment(one)
			if c.info.Name == LockTableCentral.Name {
				row = center
			}
			for i := 0; segment(b.Key) != segment(one); i++ {
				b.Key = fmt.Sprint(one, i)
			}
			held := b.Take(t, lock.Options{})
			err := b.In.DB.WithContext(t.Context()).Transaction(func(tx *gorm.DB) error {
				if err := passCentral(tx, row); err != nil {
					return err
				}
				soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				if err := held.Release(soon); !errors.Is(err, seckill.ErrUnavailable) {
					t.Errorf("while somebody is at %s, a release: %v", row, err)
				}
				for key, waits := range map[string]bool{one: true, other: c.waits} {
					l, err := b.Acquire(t.Context(), key, lock.Options{Lease: time.Minute})
					if errors.Is(err, seckill.ErrBusy) != waits {
						t.Errorf("while somebody is at %s, %s: %v", row, key, err)
					}
					if l != nil {
						locktest.Free(t, l)
					}
				}
				return nil
			})
			labtest.Must(t, err)
			locktest.Free(t, held)
			if err := passCentral(b.In.DB.WithContext(t.Context()), "no row"); err == nil {
				t.Error("a central row that is not there is passed")
			}
		})
	}
}

// A deadlock undoes the DELETE that frees a lock: it is sent again, or the row would stay.
func TestReleaseIsSentAgainAfterADeadlock(t *testing.T) {
	for _, info := range []catalog.Info{LockInsert, LockInsertPlain} {
		b := newBench(t, info)
		l := b.Take(t, lock.Options{Lease: time.Minute})
		var deadlock error = &mysql.MySQLError{Number: backend.MySQLDeadlock}
		labtest.Must(t, l.Release(tap.With(t.Context(), &taptest.Tap{OnBefore: func(*tap.Command) (err error) {
			err, deadlock = deadlock, nil
			return err
		}})))
		locktest.Free(t, b.Take(t, lock.Options{Lease: time.Minute}))
	}
}
