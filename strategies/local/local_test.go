package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

var infos = []catalog.Info{MutexPerRequest, Mutex, MutexPerSKU}

func TestContract(t *testing.T) {
	for _, c := range []struct {
		info   catalog.Info
		breaks []locktest.Promise
	}{
		{MutexPerRequest, []locktest.Promise{locktest.Exclusion}},
		{Mutex, []locktest.Promise{locktest.OtherKeys}},
		{MutexPerSKU, nil},
	} {
		t.Run(c.info.Name, func(t *testing.T) {
			l := process(t, c.info)
			locktest.Run(t, locktest.Harness{Key: "stock", Breaks: c.breaks,
				Open: func(testing.TB, catalog.Settings) *locktest.Process { return &locktest.Process{Locker: l} }})
		})
	}
}

// On a clock that stands still otherwise, a wait is as long as its limit.
func TestWaitIsExact(t *testing.T) {
	excluding(t, func(t *testing.T, i catalog.Info) {
		synctest.Test(t, func(t *testing.T) {
			l := process(t, i)
			held := acquire(t, l, i.Key(1), 0)
			for _, wait := range []time.Duration{0, time.Second} {
				begun := time.Now()
				_, err := l.Acquire(t.Context(), i.Key(1), lock.Options{Wait: wait})
				if took := time.Since(begun); !errors.Is(err, seckill.ErrBusy) || took != wait {
					t.Errorf("waiting %v: got %v after %v, want busy", wait, err, took)
				}
			}
			locktest.Free(t, held)
		})
	})
}

// First come, first served. The bubble shows when a goroutine waits at the
// channel; a tap shows only that it is about to.
func TestQueue(t *testing.T) {
	excluding(t, func(t *testing.T, i catalog.Info) {
		synctest.Test(t, func(t *testing.T) {
			l := process(t, i)
			holder := acquire(t, l, i.Key(1), 0)
			var line []*locktest.Waiter
			for range 6 {
				line = append(line, locktest.Contend(t, l, i.Key(1), nil))
				synctest.Wait()
			}
			for n, w := range line {
				locktest.Free(t, holder)
				synctest.Wait()
				for other, o := range line {
					if in := len(o.In); in > 0 != (other == n) {
						t.Fatalf("after release %d, waiter %d holds %d locks", n+1, other+1, in)
					}
				}
				holder = <-w.In
			}
			locktest.Free(t, holder)
		})
	})
}

// process is one process's locker.
func process(t *testing.T, i catalog.Info) lock.Locker {
	t.Helper()
	l, err := catalog.NewLocker(i, catalog.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func acquire(t *testing.T, l lock.Locker, key string, wait time.Duration) lock.Lease {
	t.Helper()
	return locktest.Take(t, l, key, lock.Options{Wait: wait})
}

// excluding are the strategies that exclude somebody.
func excluding(t *testing.T, f func(*testing.T, catalog.Info)) {
	for _, i := range []catalog.Info{Mutex, MutexPerSKU} {
		t.Run(i.Name, func(t *testing.T) { f(t, i) })
	}
}

// What each mutex covers is the whole difference between the three.
func TestWhomTheLockExcludes(t *testing.T) {
	for name, want := range map[string]struct{ sameSKU, otherSKU bool }{
		MutexPerRequest.Name: {false, false},
		Mutex.Name:           {true, true},
		MutexPerSKU.Name:     {true, false},
	} {
		i := infos[slices.IndexFunc(infos, func(i catalog.Info) bool { return i.Name == name })]
		if i.Guarantees[catalog.Processes] != catalog.Breaks {
			t.Errorf("%s says that it works across processes", name)
		}
		l := process(t, i)
		held := acquire(t, l, i.Key(1), 0)
		for who, c := range map[string]struct {
			in   lock.Locker
			sku  int64
			busy bool
		}{
			"the same SKU":                   {l, 1, want.sameSKU},
			"another SKU":                    {l, 2, want.otherSKU},
			"the same SKU, in a new process": {process(t, i), 1, false},
		} {
			lease, err := c.in.Acquire(t.Context(), i.Key(c.sku), lock.Options{})
			if got := errors.Is(err, seckill.ErrBusy); got != c.busy || !got && err != nil {
				t.Errorf("%s, a buyer of %s: got %v, want busy %v", name, who, err, c.busy)
			}
			if err == nil {
				locktest.Free(t, lease)
			}
		}
		locktest.Free(t, held)
		locktest.Free(t, acquire(t, l, i.Key(1), 0))
	}
}

func TestTheWaitPassesTheTap(t *testing.T) {
	excluding(t, func(t *testing.T, i catalog.Info) {
		l := process(t, i)
		n := &tap.Counter{}
		lease, err := l.Acquire(tap.With(t.Context(), n), i.Key(1), lock.Options{Wait: -1})
		if err != nil || n.Count(tap.Waiting) != 1 {
			t.Fatalf("got %v, and the tap saw %d waits, want 1", err, n.Count(tap.Waiting))
		}
		locktest.Free(t, lease)
		lost := &locktest.Tap{OnAfter: func(*tap.Command, error) error { return locktest.ErrLostReply }}
		_, err = l.Acquire(tap.With(t.Context(), lost), i.Key(1), lock.Options{Wait: -1})
		if !errors.Is(err, seckill.ErrUnavailable) || !errors.Is(err, locktest.ErrLostReply) {
			t.Errorf("the grant was lost: got %v", err)
		}
		locktest.Free(t, acquire(t, l, i.Key(1), 0)) // it was not lost for the others
	})
}

// Anybody may ask for any SKU: what nobody uses any more takes no room.
func TestMutexesAreForgotten(t *testing.T) {
	l := process(t, MutexPerSKU).(*mutexes)
	first := acquire(t, l, MutexPerSKU.Key(1), 0)
	locktest.Busy(t, l, MutexPerSKU.Key(1))
	for sku := range int64(100) {
		locktest.Free(t, acquire(t, l, MutexPerSKU.Key(2+sku), 0))
	}
	if len(l.byKey) != 1 {
		t.Errorf("one SKU is locked, and %d mutexes are kept", len(l.byKey))
	}
	locktest.Free(t, first)
	if len(l.byKey) != 0 {
		t.Errorf("nothing is locked, and %d mutexes are kept", len(l.byKey))
	}
}

// A buyer has read the stock and is about to write when another comes. In his
// own process the other has to wait; in a second process he does not, and one
// of the two updates is lost.
func TestASecondProcessHasAMutexOfItsOwn(t *testing.T) {
	for _, i := range infos {
		t.Run(i.Name, func(t *testing.T) {
			var store *ledger.Store
			var processes [2]seckill.Strategy
			for n := range processes {
				in := labtest.Instance(t, backend.SQL)
				if err := ledger.Migrate(t.Context(), in.DB); err != nil {
					t.Fatal(err)
				}
				store = ledger.NewStore(in.DB)
				s, err := catalog.Build(i, catalog.Deps{Instance: in, Ledger: store,
					Settings: catalog.Settings{LockTimes: catalog.LockTimes{LockWait: 50 * time.Millisecond}}})
				if err != nil {
					t.Fatal(err)
				}
				processes[n] = s
			}
			for n, where := range []string{"the same process", "another process"} {
				const stock = 10
				set, err := store.Reset(t.Context(), 1, i.Name, stock)
				if err != nil {
					t.Fatal(err)
				}
				buy := func(ctx context.Context, n int, user int64) error {
					_, err := processes[n].Deduct(ctx, seckill.Purchase{SKU: 1, User: user, Quantity: user,
						RequestID: fmt.Sprint(i.Name, n, user)})
					return err
				}
				var second error
				var once sync.Once
				tapped := tap.With(t.Context(), &locktest.Tap{OnBefore: func(c *tap.Command) error {
					if strings.HasPrefix(c.Text, "UPDATE stock") {
						once.Do(func() { second = buy(t.Context(), n, 2) })
					}
					return nil
				}})
				if err := buy(tapped, 0, 1); err != nil {
					t.Fatal(err)
				}
				snap, err := store.Snapshot(t.Context(), 1)
				if err != nil {
					t.Fatal(err)
				}
				got := ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: stock, Run: set.Run,
					StockStoreOf: func(string) (ledger.StockStore, bool) { return ledger.InRow, true }})
				sound := n == 0 && !i.Broken()
				switch {
				case sound && (!errors.Is(second, seckill.ErrBusy) || got.Verdict != ledger.Held):
					t.Errorf("a second buyer in %s was told %v, and the audit says %s %+v; want busy and held",
						where, second, got.Verdict, got.Violations)
				case !sound && (second != nil || got.Verdict != ledger.Lost):
					t.Errorf("a second buyer in %s was told %v, and the audit says %s; want a lost update",
						where, second, got.Verdict)
				}
			}
		})
	}
}
