package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

var infos = []catalog.Info{MutexPerRequest, Mutex, MutexPerSKU}

func TestInfoSaysEverything(t *testing.T) {
	for _, i := range infos {
		source, err := i.Files.ReadFile(strings.ReplaceAll(i.Name, "-", "_") + ".go")
		if err != nil || !strings.Contains(string(source), "package local") {
			t.Errorf("%s does not show its source: %v", i.Name, err)
		}
		for n, line := range strings.Split(string(source), "\n") {
			if len([]rune(strings.ReplaceAll(line, "\t", "    "))) > 80 {
				t.Errorf("%s, line %d, is too wide for the page: %s", i.Name, n+1, line)
			}
		}
		if i.Family != "local" || i.Guarantees[catalog.Processes] != catalog.Breaks {
			t.Errorf("%s: family %q, and M %q", i.Name, i.Family, i.Guarantees[catalog.Processes])
		}
	}
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
	lease, err := l.Acquire(t.Context(), key, lock.Options{Wait: wait})
	if err != nil {
		t.Fatalf("acquire %q: %v", key, err)
	}
	return lease
}

func busy(t *testing.T, l lock.Locker, key string) {
	t.Helper()
	if _, err := l.Acquire(t.Context(), key, lock.Options{}); !errors.Is(err, seckill.ErrBusy) {
		t.Errorf("acquire %q, which is held: got %v, want %v", key, err, seckill.ErrBusy)
	}
}

func release(t *testing.T, l lock.Lease) {
	t.Helper()
	if err := l.Release(context.Background()); err != nil {
		t.Errorf("release: %v", err)
	}
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
				release(t, lease)
			}
		}
		release(t, held)
		release(t, acquire(t, l, i.Key(1), 0))
	}
}

func TestOneHolderAtATime(t *testing.T) {
	excluding(t, func(t *testing.T, i catalog.Info) {
		l := process(t, i)
		count := 0 // guarded by the lock alone: the race detector looks on
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				for range 200 {
					lease, err := l.Acquire(t.Context(), i.Key(1), lock.Options{Wait: -1})
					if err != nil {
						t.Error(err)
						return
					}
					count++
					release(t, lease)
				}
			})
		}
		all.Wait()
		if count != 16*200 {
			t.Errorf("counted to %d, want %d", count, 16*200)
		}
	})
}

func TestWaitHasALimit(t *testing.T) {
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
			time.AfterFunc(time.Second, func() { release(t, held) })
			release(t, acquire(t, l, i.Key(1), 2*time.Second))
		})
	})
}

func TestFirstComeFirstServed(t *testing.T) {
	excluding(t, func(t *testing.T, i catalog.Info) {
		synctest.Test(t, func(t *testing.T) {
			l := process(t, i)
			held := acquire(t, l, i.Key(1), 0)
			var served []int
			var all sync.WaitGroup
			for n := range 10 {
				all.Go(func() {
					lease := acquire(t, l, i.Key(1), -1)
					served = append(served, n)
					release(t, lease)
				})
				synctest.Wait() // until he stands in the queue
			}
			release(t, held)
			all.Wait()
			if !slices.IsSorted(served) || len(served) != 10 {
				t.Errorf("they came as 0 to 9 and were served as %v", served)
			}
		})
	})
}

func TestBuyerLeaves(t *testing.T) {
	excluding(t, func(t *testing.T, i catalog.Info) {
		l := process(t, i)
		gone, leave := context.WithCancelCause(t.Context())
		why := errors.New("had enough")
		held := acquire(t, l, i.Key(1), 0)
		waits := make(chan struct{})
		go func() {
			<-waits
			leave(why)
		}()
		_, err := l.Acquire(tap.With(gone, &watcher{before: func() { close(waits) }}), i.Key(1), lock.Options{Wait: -1})
		if !errors.Is(err, why) {
			t.Errorf("a buyer who leaves while he waits: got %v, want %v", err, why)
		}
		release(t, held)
		for range 20 { // it is free, so a choice at random would take it at times
			if _, err := l.Acquire(gone, i.Key(1), lock.Options{Wait: -1}); !errors.Is(err, why) {
				t.Fatalf("a buyer who has left before: got %v, want %v", err, why)
			}
		}
		release(t, acquire(t, l, i.Key(1), 0))
	})
}

// A watcher sees waits, and may lose their answer.
type watcher struct {
	before func()
	lose   error
	seen   atomic.Int64
}

func (w *watcher) Before(_ context.Context, c *tap.Command) error {
	if c.Backend != tap.Waiting {
		return fmt.Errorf("unexpected: %s %s", c.Backend, c.Text)
	}
	w.seen.Add(1)
	if w.before != nil {
		w.before()
	}
	return nil
}

func (w *watcher) After(_ context.Context, _ *tap.Command, err error) error {
	if err == nil {
		err = w.lose
	}
	return err
}

func TestTheWaitPassesTheTap(t *testing.T) {
	excluding(t, func(t *testing.T, i catalog.Info) {
		l := process(t, i)
		w := &watcher{}
		lease, err := l.Acquire(tap.With(t.Context(), w), i.Key(1), lock.Options{Wait: -1})
		if err != nil || w.seen.Load() != 1 {
			t.Fatalf("got %v, and the tap saw %d waits, want 1", err, w.seen.Load())
		}
		release(t, lease)
		w.lose = errors.New("stopped by the tap")
		_, err = l.Acquire(tap.With(t.Context(), w), i.Key(1), lock.Options{Wait: -1})
		if !errors.Is(err, seckill.ErrUnavailable) || !errors.Is(err, w.lose) {
			t.Errorf("the grant was lost: got %v", err)
		}
		release(t, acquire(t, l, i.Key(1), 0)) // it was not lost for the others
	})
}

// A second release must not put a second token into the mutex.
func TestReleasedOnce(t *testing.T) {
	excluding(t, func(t *testing.T, i catalog.Info) {
		l := process(t, i)
		first := acquire(t, l, i.Key(1), 0)
		release(t, first)
		if first.Context().Err() == nil {
			t.Error("the lease's context goes on after the release")
		}
		if err := first.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("releasing twice: got %v, want %v", err, lock.ErrNotHeld)
		}
		second := acquire(t, l, i.Key(1), 0)
		if err := first.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("releasing while another holds: got %v, want %v", err, lock.ErrNotHeld)
		}
		busy(t, l, i.Key(1))
		release(t, second)
	})
}

// Anybody may ask for any SKU: what nobody uses any more takes no room.
func TestMutexesAreForgotten(t *testing.T) {
	l := process(t, MutexPerSKU).(*mutexes)
	first := acquire(t, l, MutexPerSKU.Key(1), 0)
	busy(t, l, MutexPerSKU.Key(1))
	for sku := range int64(100) {
		release(t, acquire(t, l, MutexPerSKU.Key(2+sku), 0))
	}
	if len(l.byKey) != 1 {
		t.Errorf("one SKU is locked, and %d mutexes are kept", len(l.byKey))
	}
	release(t, first)
	if len(l.byKey) != 0 {
		t.Errorf("nothing is locked, and %d mutexes are kept", len(l.byKey))
	}
}

// before calls do before the first command that begins with verb.
type before struct {
	verb string
	do   func()
	once sync.Once
}

func (b *before) Before(_ context.Context, c *tap.Command) error {
	if strings.HasPrefix(c.Text, b.verb) {
		b.once.Do(b.do)
	}
	return nil
}

func (b *before) After(_ context.Context, _ *tap.Command, err error) error { return err }

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
					Settings: catalog.Settings{LockWait: 50 * time.Millisecond}})
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
				tapped := tap.With(t.Context(), &before{verb: "UPDATE stock", do: func() {
					second = buy(t.Context(), n, 2)
				}})
				if err := buy(tapped, 0, 1); err != nil {
					t.Fatal(err)
				}
				snap, err := store.Snapshot(t.Context(), 1)
				if err != nil {
					t.Fatal(err)
				}
				got := ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: stock, Run: set.Run,
					HomeOf: func(string) (ledger.Home, bool) { return ledger.HomeRow, true }})
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
