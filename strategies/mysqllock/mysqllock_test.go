package mysqllock

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

func TestInfosSayEverything(t *testing.T) {
	for _, i := range append(lockInfos, MySQLCounter) {
		source, err := i.Files.ReadFile(strings.ReplaceAll(i.Name, "-", "_") + ".go")
		if err != nil || !strings.Contains(string(source), "package mysqllock") {
			t.Errorf("%s does not show its source: %v", i.Name, err)
		}
		for n, line := range strings.Split(string(source), "\n") {
			if len([]rune(strings.ReplaceAll(line, "\t", "    "))) > 80 {
				t.Errorf("%s, line %d, is too wide for the page: %s", i.Name, n+1, line)
			}
		}
		if i.Locker == nil {
			continue
		}
		if got := i.Key(7); got != "seckill:lock:stock:7" {
			t.Errorf("%s locks SKU 7 by %q", i.Name, got)
		}
	}
}

// A bad name is refused before it reaches a server that would cut it.
func TestNamesAreChecked(t *testing.T) {
	most := map[string]int{"get-lock": 64, "lock-table-v1": 128, "lock-table-central": 128, "lock-table-segmented": 128}
	eachLock(t, func(t *testing.T, info catalog.Info) {
		b := newBench(t, info)
		limit := most[info.Name]
		if limit == 0 {
			limit = 255
		}
		for name, want := range map[string]error{"": seckill.ErrInvalid, strings.Repeat("x", limit+1): seckill.ErrInvalid,
			"Ünicode'; DROP": nil, strings.Repeat("ü", limit): nil} {
			l, err := b.Acquire(t.Context(), name, lock.Options{Lease: time.Minute})
			if !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("a name of %d bytes: %v, want %v", len(name), err, want)
			}
			if l != nil {
				release(t, l)
			}
		}
	})
}

func TestOneHolderAtATime(t *testing.T) {
	eachLock(t, func(t *testing.T, info catalog.Info) {
		benches := []*bench{newBench(t, info), newBench(t, info)}
		var inside atomic.Int32
		var count int // guarded by the lock alone: the race detector looks on
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				b := benches[i%2]
				for range 5 {
					l, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: -1, Lease: time.Minute})
					if err != nil {
						t.Error(err)
						return
					}
					if n := inside.Add(1); n != 1 {
						t.Errorf("%d holders at once", n)
					}
					count++
					runtime.Gosched()
					inside.Add(-1)
					release(t, l)
				}
			})
		}
		all.Wait()
		if count != 60 {
			t.Errorf("counted to %d, want 60", count)
		}
		t.Logf("%d deadlocks", benches[0].retried.n.Load()+benches[1].retried.n.Load())
	})
}

func TestWaitHasALimit(t *testing.T) {
	eachLock(t, func(t *testing.T, info catalog.Info) {
		b := newBench(t, info)
		holder := b.acquire(t, lock.Options{Lease: time.Minute})
		waits := []time.Duration{0, 50 * time.Millisecond}
		if info.Name == "lock-row" || info.Name == "get-lock" { // whose waits the server counts, in seconds
			waits = append(waits, 1100*time.Millisecond, 3*time.Second)
		}
		for _, wait := range waits {
			begin := time.Now()
			_, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: wait, Lease: time.Minute})
			took := time.Since(begin)
			// InnoDB looks for waits that are over about once a second.
			if !errors.Is(err, seckill.ErrBusy) || took < wait || took > wait+1500*time.Millisecond {
				t.Errorf("waiting %v gave %v after %v, want busy", wait, err, took)
			}
		}
		release(t, holder)
		again := b.acquire(t, lock.Options{Lease: time.Minute})
		release(t, again)
	})
}

// Waits longer than the server lets one statement wait are several statements.
func TestWaitIsLongerThanTheServersLimit(t *testing.T) {
	for _, info := range []catalog.Info{LockRow, GetLock} {
		t.Run(info.Name, func(t *testing.T) {
			b := newBench(t, info, func(d *catalog.Deps) {
				config := d.Config
				config.RowLockWait = time.Second
				in, err := backend.Open(t.Context(), config)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { in.Close() })
				d.Instance = in
			})
			for _, wait := range []time.Duration{-1, 20 * time.Second} {
				holder := b.acquire(t, lock.Options{Lease: time.Minute})
				asked := make(chan struct{}, 100)
				m := &meddler{before: func(c *tap.Command) error {
					if strings.Contains(c.Text, "FOR UPDATE") || strings.Contains(c.Text, "GET_LOCK") {
						asked <- struct{}{}
					}
					return nil
				}}
				got := make(chan error, 1)
				go func() {
					l, err := b.Acquire(tap.With(context.Background(), m), b.key, lock.Options{Wait: wait, Lease: time.Minute})
					if err == nil {
						err = l.Release(context.Background())
					}
					got <- err
				}()
				<-asked
				<-asked // the server has ended the first wait
				release(t, holder)
				if err := <-got; err != nil {
					t.Errorf("waiting %v: %v", wait, err)
				}
			}
		})
	}
}

func TestBuyerLeavesWhileHeWaits(t *testing.T) {
	eachLock(t, func(t *testing.T, info catalog.Info) {
		b := newBench(t, info)
		holder := b.acquire(t, lock.Options{Lease: time.Minute})
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, leave)
		if _, err := b.Acquire(ctx, b.key, lock.Options{Wait: -1, Lease: time.Minute}); !errors.Is(err, context.Canceled) {
			t.Errorf("a buyer who left was told %v", err)
		}
		left := time.Now() // at the latest when the server's own limit is over, although nobody has freed the lock
		eventually(t, "no statement of the buyer who left is in the server", testSettings.LockWait+3*time.Second, func() bool {
			return b.ask(t, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE ? AND ID <> CONNECTION_ID()",
				"%"+b.key+"%") == 0
		})
		t.Logf("the server noticed after %v", time.Since(left).Round(time.Millisecond))
		release(t, holder)
		next, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: 10 * time.Second, Lease: time.Minute})
		if err != nil {
			t.Fatalf("the buyer who left has the lock still: %v", err)
		}
		release(t, next)
	})
}

func TestReleasedTwice(t *testing.T) {
	eachLock(t, func(t *testing.T, info catalog.Info) {
		b := newBench(t, info)
		first := b.acquire(t, lock.Options{Lease: time.Minute})
		release(t, first)
		if err := first.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("released again: %v, want %v", err, lock.ErrNotHeld)
		}
		if first.Context().Err() == nil {
			t.Error("the lease's context lives on after the release")
		}
		second := b.acquire(t, lock.Options{Lease: time.Minute})
		err := first.Release(t.Context())
		if info.Guarantees[catalog.Owner] == catalog.Breaks {
			if err != nil {
				t.Errorf("%s frees whoever's lock it is: %v", info.Name, err)
			}
			if err := second.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
				t.Errorf("the second holder still had his lock: %v", err)
			}
			return
		}
		if !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("released again under a successor: %v", err)
		}
		b.busy(t)
		release(t, second)
	})
}

// Other names are other locks; and who takes none of them waits for nobody.
func TestOtherNamesAreFree(t *testing.T) {
	eachLock(t, func(t *testing.T, info catalog.Info) {
		b := newBench(t, info)
		one := b.acquire(t, lock.Options{Lease: time.Minute})
		other, err := b.Acquire(t.Context(), b.key+" other", lock.Options{Lease: time.Minute})
		if err != nil {
			t.Fatalf("another name: %v", err)
		}
		release(t, other)
		release(t, one)
	})
}

// Where there is a lease, its end lets the next one in. Who frees what is not
// his any more frees it all the same, or not.
func TestLeaseEndsUnderItsHolder(t *testing.T) {
	for _, info := range []catalog.Info{LockInsertByName, LockInsert, LockTableCentral, LockTableSegmented} {
		t.Run(info.Name, func(t *testing.T) {
			b := newBench(t, info)
			slow := b.acquire(t, lock.Options{Lease: time.Minute})
			b.busy(t)
			b.expire(t)
			successor := b.acquire(t, lock.Options{Lease: time.Minute})
			err := slow.Release(t.Context())
			if info.Guarantees[catalog.Owner] == catalog.Breaks {
				third, third_err := b.Acquire(t.Context(), b.key, lock.Options{Lease: time.Minute})
				if err != nil || third_err != nil {
					t.Fatalf("the slow holder's release gave %v; then a third got %v: %s is expected to break here",
						err, third_err, info.Name)
				}
				release(t, third)
				return
			}
			if !errors.Is(err, lock.ErrNotHeld) {
				t.Errorf("the slow holder's release gave %v, want %v", err, lock.ErrNotHeld)
			}
			b.busy(t)
			release(t, successor)
		})
	}
}

// Without a lease a lock has no end: a reset removes it by force.
func TestClear(t *testing.T) {
	for _, info := range []catalog.Info{LockInsertPlain, LockInsertByName, LockTableV1, LockTableCentral, LockTableSegmented} {
		t.Run(info.Name, func(t *testing.T) {
			b := newBench(t, info)
			b.acquire(t, lock.Options{Lease: time.Minute})
			b.busy(t)
			if err := b.Locker.(lock.Clearer).Clear(t.Context(), b.key); err != nil {
				t.Fatal(err)
			}
			release(t, b.acquire(t, lock.Options{Lease: time.Minute}))
		})
	}
}

// The sockets of a dead holder close: what lives in a session is free at once,
// what lives in a row stays until its end, if it has one.
func TestHolderDies(t *testing.T) {
	eachLock(t, func(t *testing.T, info catalog.Info) {
		victim, b := newBench(t, info), newBench(t, info)
		lease := victim.acquire(t, lock.Options{Lease: time.Minute})
		victim.in.Kill()
		if info.Name == "lock-row" || info.Name == "get-lock" {
			next := b.acquire(t, lock.Options{Wait: 10 * time.Second, Lease: time.Minute})
			if err := lease.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
				t.Errorf("the dead holder's release: %v", err)
			}
			b.busy(t)
			release(t, next)
			return
		}
		b.busy(t)
		if err := lease.Release(t.Context()); !errors.Is(err, seckill.ErrUnavailable) {
			t.Errorf("the dead holder's release: %v, want unavailable", err)
		}
		if info.Guarantees[catalog.DeadHolder] == catalog.Breaks {
			if n := b.ask(t, "SELECT (SELECT COUNT(*) FROM distributed_lock WHERE name = ? AND expire IS NULL) + "+
				"(SELECT COUNT(*) FROM lock_record WHERE name = ? AND deadline < NOW() AND status = 1)", b.key, b.key); n != 1 {
				t.Errorf("%d rows without an end are left, want 1", n)
			}
			return
		}
		b.expire(t)
		release(t, b.acquire(t, lock.Options{Lease: time.Minute}))
	})
}

// Whatever reply is lost, those who release by owner or by session leave
// nothing behind, at once.
func TestLostReplyLeavesNothing(t *testing.T) {
	for _, info := range []catalog.Info{LockInsert, LockRow, GetLock} {
		t.Run(info.Name, func(t *testing.T) {
			b := newBench(t, info)
			for n := 0; ; n++ {
				seen := 0
				m := &meddler{after: func(c *tap.Command) error {
					if seen++; seen == n+1 {
						return errLostReply
					}
					return nil
				}}
				key := b.key + string(rune('a'+n)) // a first use each time
				l, err := b.Acquire(tap.With(t.Context(), m), key, lock.Options{Lease: time.Minute})
				if err == nil {
					_ = l.Release(context.Background())
				} else if !errors.Is(err, seckill.ErrUnavailable) {
					t.Errorf("command %d: %v, want unavailable", n, err)
				}
				next, err := b.Acquire(t.Context(), key, lock.Options{Wait: 2 * time.Second, Lease: time.Minute})
				if err != nil {
					t.Fatalf("after command %d the next one was told %v", n, err)
				}
				release(t, next)
				if seen <= n {
					break
				}
			}
		})
	}
}

// Several processes build their locks at once, beside purchases under way.
func TestBuiltByManyAtOnce(t *testing.T) {
	first := newBench(t, LockTableCentral)
	first.exec(t, "DROP TABLE IF EXISTS distributed_lock, lock_row, lock_record, lock_central")
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
	if n := first.ask(t, "SELECT COUNT(*) FROM lock_central"); n != 101 {
		t.Errorf("%d central rows, want 101", n)
	}
	err := first.in.DB.WithContext(t.Context()).Transaction(func(tx *gorm.DB) error {
		for _, row := range []string{center, segment("x")} {
			if err := passCentral(tx, row); err != nil {
				return err
			}
		}
		if err := tx.Exec("INSERT INTO lock_row (name) VALUES ('building')").Error; err != nil {
			return err
		}
		begun := time.Now()
		for _, info := range lockInfos {
			newBench(t, info)
		}
		if took := time.Since(begun); took > 20*time.Second { // the server ends such a wait after 50
			t.Errorf("building waited %v for a transaction", took)
		}
		return errLostReply
	})
	if !errors.Is(err, errLostReply) {
		t.Error(err)
	}
}
