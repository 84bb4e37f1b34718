// Package locktest has what tests of locks share: a lock opened on the test's
// servers, and one that waits.
package locktest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

const (
	Long     = 10 * time.Minute // a lease that no test outlasts
	Patience = labtest.Patience
)

// A Process is one service process with its own connections. Two processes
// share nothing but the backend.
type Process struct {
	lock.Locker
	In      *backend.Instance       // nil: a lock that has no backend
	Kill    func()                  // closes its connections for good
	Key     string                  // a lock of this test's
	Waiting func(*tap.Command) bool // a contender is about to wait; PassesTap unless it is set
}

// Open starts a process of a strategy's lock: on an instance of its own if d has none.
func Open(t testing.TB, info catalog.Info, d catalog.Deps) *Process {
	t.Helper()
	if d.Instance == nil {
		d.Instance = labtest.Instance(t, info.Needs...)
	}
	l, err := catalog.NewLocker(info, d)
	labtest.Must(t, err)
	return &Process{l, d.Instance, d.Kill, "/test/" + strings.ReplaceAll(t.Name(), "/", "-"), PassesTap}
}

// Take acquires the lock, which has to be granted.
func (p *Process) Take(t testing.TB, o lock.Options) lock.Lease {
	t.Helper()
	lease, err := p.Acquire(t.Context(), p.Key, o)
	if err != nil {
		t.Fatalf("acquire %s: %v", p.Key, err)
	}
	return lease
}

// Busy checks that the lock is held.
func (p *Process) Busy(t testing.TB) {
	t.Helper()
	if _, err := p.Acquire(t.Context(), p.Key, lock.Options{Lease: Long}); !errors.Is(err, seckill.ErrBusy) {
		t.Errorf("%s is held, and another was told %v, want busy", p.Key, err)
	}
}

// Free releases a lock that has to be held.
func Free(t testing.TB, l lock.Lease) {
	t.Helper()
	if err := l.Release(context.Background()); err != nil {
		t.Errorf("release: %v", err)
	}
}

// A Waiter waits for a lock.
type Waiter struct {
	In    chan lock.Lease
	Err   chan error
	Leave context.CancelFunc
}

// Contend asks for the lock and returns when the wait begins.
func (p *Process) Contend(t testing.TB) *Waiter {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	w := &Waiter{make(chan lock.Lease, 1), make(chan error, 1), leave}
	var once sync.Once
	begun := make(chan struct{})
	ctx = tap.With(ctx, &taptest.Tap{OnBefore: func(c *tap.Command) error {
		if p.Waiting(c) {
			once.Do(func() { close(begun) })
		}
		return nil
	}})
	go func() {
		lease, err := p.Acquire(ctx, p.Key, lock.Options{Wait: -1, Lease: Long})
		if err != nil {
			w.Err <- err
			return
		}
		w.In <- lease
	}()
	select {
	case <-begun:
	case err := <-w.Err:
		w.Err <- err
	case lease := <-w.In:
		w.In <- lease
	case <-time.After(Patience):
		t.Fatalf("no contender waits for %s", p.Key)
	}
	return w
}

// In waits until a waiter has the lock.
func In(t testing.TB, w *Waiter) lock.Lease {
	t.Helper()
	select {
	case l := <-w.In:
		return l
	case err := <-w.Err:
		t.Fatalf("a waiter was told %v", err)
	case <-time.After(Patience):
		t.Fatalf("a waiter is not admitted within %v", Patience)
	}
	return nil
}

// PassesTap reports a wait that passes the tap, and not a command that waits.
func PassesTap(c *tap.Command) bool { return c.Backend == tap.Waiting }
