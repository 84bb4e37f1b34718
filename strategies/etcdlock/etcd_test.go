package etcdlock

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

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"seckill/internal/backend"
	"seckill/internal/backend/backendtest"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

const (
	long  = time.Minute
	short = 2 * time.Second // the smallest lease that etcd grants
)

// A bench is a lock on an instance of its own, and the etcd behind it.
type bench struct {
	lock.Locker
	in  *backend.Instance
	key string
}

func (b *bench) sessions() *sessions {
	switch l := b.Locker.(type) {
	case *etcdLock:
		return l.sessions
	case *etcdNode:
		return l.sessions
	}
	return nil
}

func newBench(t *testing.T, info catalog.Info, lease time.Duration) *bench {
	t.Helper()
	return benchOn(t, info, labtest.Instance(t, backend.Etcd), lease)
}

func benchOn(t *testing.T, info catalog.Info, in *backend.Instance, lease time.Duration) *bench {
	t.Helper()
	l, err := info.Locker(catalog.Deps{Instance: in, Settings: catalog.Settings{LockLease: lease}})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{l, in, "/test/locks/" + strings.ReplaceAll(t.Name(), "/", "-")}
}

// wired is a bench that reaches etcd through a wire.
func wired(t *testing.T, info catalog.Info, lease time.Duration) (*bench, *backendtest.Wire) {
	t.Helper()
	endpoint := labtest.Instance(t, backend.Etcd).Config.EtcdEndpoints[0]
	w := backendtest.NewWire(t, strings.TrimPrefix(endpoint, "http://"))
	in, err := backend.Open(t.Context(), backend.Config{EtcdEndpoints: []string{w.Addr}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return benchOn(t, info, in, lease), w
}

func each(t *testing.T, f func(t *testing.T, info catalog.Info)) {
	for _, info := range []catalog.Info{Etcd, EtcdNode} {
		t.Run(info.Name, func(t *testing.T) { f(t, info) })
	}
}

func (b *bench) acquire(t *testing.T, wait time.Duration) lock.Lease {
	t.Helper()
	l, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: wait})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func release(t *testing.T, l lock.Lease) {
	t.Helper()
	if err := l.Release(context.Background()); err != nil {
		t.Errorf("release: %v", err)
	}
}

// keys lists who is there, the first who came first.
func (b *bench) keys(t *testing.T) (keys []string) {
	t.Helper()
	got, err := b.in.Etcd.Get(context.Background(), b.key, clientv3.WithPrefix(),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range got.Kvs {
		keys = append(keys, string(kv.Key))
	}
	return keys
}

func (b *bench) queued(t *testing.T, n int) {
	t.Helper()
	soon(t, fmt.Sprintf("%d keys", n), func() bool { return len(b.keys(t)) == n })
}

func soon(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(long); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still waiting after a minute: %s", what)
		}
	}
}

func ended(t *testing.T, l lock.Lease) error {
	t.Helper()
	select {
	case <-l.Context().Done():
		return context.Cause(l.Context())
	case <-time.After(long):
		t.Fatal("nobody told the holder")
		return nil
	}
}

// A meddler does something before and after chosen commands.
type meddler struct {
	before func(c *tap.Command) error
	after  func(c *tap.Command, err error) error
}

func (m *meddler) Before(_ context.Context, c *tap.Command) error {
	if m.before != nil {
		return m.before(c)
	}
	return nil
}

func (m *meddler) After(_ context.Context, c *tap.Command, err error) error {
	if m.after != nil {
		return m.after(c, err)
	}
	return err
}

// A contender waits, and says when he is in.
type waiter struct {
	in    chan lock.Lease
	err   chan error
	leave context.CancelFunc
}

// contend returns when he watches.
func (b *bench) contend(t *testing.T) *waiter {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	c := &waiter{make(chan lock.Lease, 1), make(chan error, 1), leave}
	watching := make(chan struct{}, 100)
	ctx = tap.With(ctx, &meddler{before: func(c *tap.Command) error {
		if strings.HasPrefix(c.Text, "end of") {
			watching <- struct{}{}
		}
		return nil
	}})
	go func() {
		l, err := b.Acquire(ctx, b.key, lock.Options{Wait: -1})
		if err != nil {
			c.err <- err
			return
		}
		c.in <- l
	}()
	<-watching
	return c
}

func TestOneHolderAtATime(t *testing.T) {
	each(t, func(t *testing.T, info catalog.Info) {
		benches := []*bench{newBench(t, info, long), newBench(t, info, long)}
		var inside atomic.Int32
		var count int // guarded by the lock alone: the race detector looks on
		var fence atomic.Uint64
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				b := benches[i%2]
				for range 5 {
					l, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: -1})
					if err != nil {
						t.Error(err)
						return
					}
					if n := inside.Add(1); n != 1 {
						t.Errorf("%d holders at once", n)
					}
					if before := fence.Swap(l.Fence()); l.Fence() <= before {
						t.Errorf("the fencing token %d follows %d", l.Fence(), before)
					}
					count++
					inside.Add(-1)
					release(t, l)
				}
			})
		}
		all.Wait()
		if left := benches[0].keys(t); count != 80 || len(left) != 0 {
			t.Errorf("counted to %d, want 80; left: %q", count, left)
		}
	})
}

func TestWaitHasALimit(t *testing.T) {
	each(t, func(t *testing.T, info catalog.Info) {
		b, other := newBench(t, info, long), newBench(t, info, long)
		holder := b.acquire(t, 0)
		for _, wait := range []time.Duration{0, 50 * time.Millisecond} {
			begin := time.Now()
			_, err := other.Acquire(t.Context(), b.key, lock.Options{Wait: wait})
			if took := time.Since(begin); !errors.Is(err, seckill.ErrBusy) || took < wait {
				t.Errorf("waiting %v gave %v after %v, want busy", wait, err, took)
			}
			if k := b.keys(t); len(k) != 1 {
				t.Errorf("who gave up left a key: %q", k)
			}
		}
		release(t, holder)
		if k := b.keys(t); len(k) != 0 {
			t.Errorf("left after the release: %q", k)
		}
		if err := holder.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("releasing twice gave %v", err)
		}
	})
}

func TestFirstComeFirstServed(t *testing.T) {
	benches := []*bench{newBench(t, Etcd, long), newBench(t, Etcd, long)}
	holder := benches[0].acquire(t, 0)
	var queue []*waiter
	for i := range 6 {
		queue = append(queue, benches[i%2].contend(t))
	}
	for i, c := range queue {
		release(t, holder)
		holder = <-c.in
		for j, later := range queue[i+1:] {
			if len(later.in) > 0 {
				t.Errorf("number %d is in together with %d", i+j+1, i)
			}
		}
	}
	release(t, holder)
}

// The middle one of three goes: the last is told, and must not take that for
// his turn.
func TestMiddleOneOfThreeGoes(t *testing.T) {
	b, o := newBench(t, Etcd, long), newBench(t, Etcd, long)
	holder := b.acquire(t, 0)
	middle := o.contend(t)
	last := b.contend(t)
	middle.leave()
	if err := <-middle.err; !errors.Is(err, context.Canceled) {
		t.Errorf("a buyer who left was told %v", err)
	}
	b.queued(t, 2)
	first := o.contend(t) // all before has settled
	if len(last.in) > 0 {
		t.Fatal("the last is in beside the holder")
	}
	release(t, holder)
	release(t, <-last.in)
	release(t, <-first.in)
}

// `etcdctl lock` and concurrency.Mutex queue with ours, in both directions.
func TestForeignMutexQueuesWithOurs(t *testing.T) {
	b := newBench(t, Etcd, long)
	c := labtest.Instance(t, backend.Etcd).Etcd
	s, err := concurrency.NewSession(c, concurrency.WithTTL(60))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := concurrency.NewMutex(s, b.key)
	if err := m.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, wait := range []time.Duration{0, 20 * time.Millisecond} {
		if _, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: wait}); !errors.Is(err, seckill.ErrBusy) {
			t.Errorf("a foreign client holds the lock, and we were told %v", err)
		}
	}
	one, two := b.contend(t), b.contend(t)
	if err := m.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	l := <-one.in
	if err := m.TryLock(t.Context()); !errors.Is(err, concurrency.ErrLocked) {
		t.Errorf("we hold the lock, and the foreign client was told %v", err)
	}
	got := make(chan error, 1)
	go func() { got <- m.Lock(context.Background()) }()
	b.queued(t, 3)
	release(t, l)
	l = <-two.in // two of one lease: the foreign one came last
	if len(got) > 0 {
		t.Error("the foreign client is in beside us")
	}
	release(t, l)
	if err := <-got; err != nil {
		t.Error(err)
	}
	if err := m.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCommands(t *testing.T) {
	seen := func(info catalog.Info) []string {
		b := newBench(t, info, long)
		release(t, b.acquire(t, 0)) // the lease is there
		var names []string
		ctx := tap.With(t.Context(), &meddler{before: func(c *tap.Command) error {
			names = append(names, c.Name)
			return nil
		}})
		l, err := b.Acquire(ctx, b.key, lock.Options{Wait: long})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Release(ctx); err != nil {
			t.Error(err)
		}
		return names
	}
	for _, info := range []catalog.Info{Etcd, EtcdNode} {
		if got := strings.Join(seen(info), " "); got != "txn txn" {
			t.Errorf("%s: a lock that nobody wants cost %q, want two transactions", info.Name, got)
		}
	}
}

func TestHolderDies(t *testing.T) {
	each(t, func(t *testing.T, info catalog.Info) {
		dead, alive := newBench(t, info, short), newBench(t, info, short)
		l := dead.acquire(t, 0)
		next := alive.contend(t)
		dead.in.Kill()
		if err := ended(t, l); !errors.Is(err, lock.ErrLost) {
			t.Errorf("the lease ended with %v", err)
		}
		if len(next.in) > 0 {
			t.Error("the successor was in before the holder was told")
		}
		release(t, <-next.in)
		if err := l.Release(t.Context()); !errors.Is(err, seckill.ErrUnavailable) {
			t.Errorf("the dead released and got %v", err)
		}
		if _, err := dead.Acquire(t.Context(), dead.key, lock.Options{}); !errors.Is(err, seckill.ErrUnavailable) {
			t.Errorf("the dead acquired and got %v", err)
		}
	})
}

// The wire breaks under a holder whose process lives: he is told, and when it
// is back his process gets locks again, under a new lease.
func TestConnectionIsAwayForTooLong(t *testing.T) {
	for name, fault := range map[string]func(*backendtest.Wire){
		"cut": (*backendtest.Wire).Cut, "silent": (*backendtest.Wire).Freeze,
	} {
		t.Run(name, func(t *testing.T) {
			b, wire := wired(t, Etcd, short)
			other := newBench(t, Etcd, short)
			l := b.acquire(t, 0)
			next := other.contend(t)
			fault(wire)
			if err := ended(t, l); !errors.Is(err, lock.ErrLost) {
				t.Errorf("the lease ended with %v", err)
			}
			if len(next.in) > 0 {
				t.Error("the successor was in before the holder was told")
			}
			release(t, <-next.in)
			wire.Pass()
			soon(t, "the process gets the lock again", func() bool {
				again, err := b.Acquire(t.Context(), b.key, lock.Options{})
				if err == nil {
					release(t, again)
				}
				return err == nil
			})
			b.queued(t, 0)
		})
	}
}

// Within the lease a lost connection is nothing: it is taken up again, renewed.
func TestConnectionBreaksForAMoment(t *testing.T) {
	b, wire := wired(t, Etcd, short)
	l := b.acquire(t, 0)
	wire.Cut()
	wire.Pass()
	timer := time.After(2 * short)
	select {
	case <-l.Context().Done():
		t.Errorf("the holder was told %v", context.Cause(l.Context()))
	case <-timer:
	}
	release(t, l)
}

// Somebody revokes the lease: its holder is told at his next renewal, or when
// his process is about to queue again, which it does under a new lease.
func TestLeaseIsRevoked(t *testing.T) {
	each(t, func(t *testing.T, info catalog.Info) {
		for name, notice := range map[string]struct {
			lease time.Duration
			by    func(*bench)
		}{
			"renewal": {short, func(*bench) {}},
			"another": {long, func(b *bench) { release(t, b.acquire(t, 0)) }},
		} {
			t.Run(name, func(t *testing.T) {
				b := newBench(t, info, notice.lease)
				l := b.acquire(t, 0)
				if _, err := b.in.Etcd.Revoke(t.Context(), b.sessions().last.id); err != nil {
					t.Fatal(err)
				}
				notice.by(b)
				if err := ended(t, l); !errors.Is(err, lock.ErrLost) {
					t.Errorf("the lease ended with %v", err)
				}
				if err := l.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
					t.Errorf("releasing a lock that is lost gave %v", err)
				}
				release(t, b.acquire(t, 0))
			})
		}
	})
}

// A waiter whose lease ends lines up again, and does not walk in.
func TestLeaseEndsUnderAWaiter(t *testing.T) {
	b, other := newBench(t, Etcd, short), newBench(t, Etcd, long)
	holder := other.acquire(t, 0)
	waiter := b.contend(t)
	before := b.keys(t)
	if _, err := other.in.Etcd.Revoke(t.Context(), b.sessions().last.id); err != nil {
		t.Fatal(err)
	}
	soon(t, "he lines up again", func() bool { k := b.keys(t); return len(k) == 2 && k[1] != before[1] })
	if len(waiter.in) > 0 {
		t.Error("he is in beside the holder")
	}
	release(t, holder)
	release(t, <-waiter.in)
}

// Somebody deletes the holder's key: he learns it when he releases, and frees
// nobody else's lock.
func TestKeyIsDeletedByHand(t *testing.T) {
	each(t, func(t *testing.T, info catalog.Info) {
		b, other := newBench(t, info, long), newBench(t, info, long)
		l := b.acquire(t, 0)
		if _, err := other.in.Etcd.Delete(t.Context(), b.keys(t)[0]); err != nil {
			t.Fatal(err)
		}
		next := other.acquire(t, 0)
		if err := l.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("releasing a lock that is gone gave %v", err)
		}
		if k := other.keys(t); len(k) != 1 {
			t.Errorf("after that there were %q", k)
		}
		release(t, next)
	})
}

var errLostReply = errors.New("the reply was lost")

// Whatever command's reply is lost, and whenever the buyer leaves, nothing is
// left behind.
func TestNothingIsLeft(t *testing.T) {
	each(t, func(t *testing.T, info catalog.Info) {
		b, other := newBench(t, info, long), newBench(t, info, long)
		for _, held := range []bool{false, true} {
			for n := range 7 {
				for what, after := range map[string]func(context.CancelFunc, error) error{
					"reply lost":   func(context.CancelFunc, error) error { return errLostReply },
					"buyer leaves": func(leave context.CancelFunc, err error) error { leave(); return err },
				} {
					var holder lock.Lease
					if held {
						holder = other.acquire(t, 0)
					}
					ctx, leave := context.WithCancel(t.Context())
					seen := 0
					l, err := b.Acquire(tap.With(ctx, &meddler{after: func(c *tap.Command, err error) error {
						if c.Backend == tap.Waiting {
							return err
						}
						if seen++; seen == n+1 {
							return after(leave, err)
						}
						return err
					}}), b.key, lock.Options{Wait: 20 * time.Millisecond})
					if err == nil {
						_ = l.Release(context.WithoutCancel(l.Context()))
					}
					leave()
					if held {
						release(t, holder)
					}
					soon(t, "nothing is left after: "+what, func() bool { return len(other.keys(t)) == 0 })
				}
			}
		}
	})
}

// A transaction that arrives when its sender has already left meets his grave.
func TestLatePutMakesNoKey(t *testing.T) {
	each(t, func(t *testing.T, info catalog.Info) {
		b := newBench(t, info, long)
		s, err := b.sessions().get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		me := &contender{session: s, buyer: t.Context(), waiting: t.Context(), name: fmt.Sprintf("%x-late", int64(s.id)), key: b.key}
		me.there, me.late = true, true // sent, and no answer
		if err := me.leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := me.put([]clientv3.Cmp{none(me.key)})
		if err != nil || got.Succeeded || len(b.keys(t)) != 0 {
			t.Errorf("the transaction came late and gave %+v, %v; keys: %q", got, err, b.keys(t))
		}
	})
}

// The server is away when the lock is released: that is made up for in the
// background, long before the lease could end.
func TestReleaseIsMadeUpFor(t *testing.T) {
	b, wire := wired(t, Etcd, long)
	other := newBench(t, Etcd, long)
	l := b.acquire(t, 0)
	wire.Cut()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := l.Release(ctx); !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("releasing without a server gave %v", err)
	}
	wire.Pass()
	other.queued(t, 0)
	if b.sessions().last.alive.Err() != nil {
		t.Error("the lease ended: that is not how the key should go")
	}
}

// A watch that names a revision which others have passed meanwhile waits for
// the server's next round: a waiter names none.
func TestToldAtOnceBesideOtherWrites(t *testing.T) {
	b, other := newBench(t, Etcd, long), newBench(t, Etcd, long)
	var worst time.Duration
	for range 10 {
		holder := b.acquire(t, long)
		watching, in := make(chan struct{}), make(chan lock.Lease, 1)
		ctx := tap.With(t.Context(), &meddler{before: func(c *tap.Command) error {
			switch {
			case c.Name == "watch": // somebody writes between the two
				if strings.Contains(c.Text, "--rev") {
					t.Errorf("%s begins behind", c.Text)
				}
				if _, err := b.in.Etcd.Put(t.Context(), "/test/elsewhere", "x"); err != nil {
					t.Error(err)
				}
			case strings.HasPrefix(c.Text, "end of"):
				close(watching)
			}
			return nil
		}})
		go func() {
			l, err := other.Acquire(ctx, b.key, lock.Options{Wait: -1})
			if err != nil {
				t.Error(err)
			}
			in <- l
		}()
		<-watching
		begin := time.Now()
		release(t, holder)
		next := <-in
		worst = max(worst, time.Since(begin))
		release(t, next)
	}
	t.Logf("the slowest of ten hand-overs took %v", worst)
}
