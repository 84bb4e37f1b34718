// Package locktest is for tests of locks. It opens locks on the test's servers, and waits for a
// lock that another contender holds.
package locktest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

const (
	Long     = 10 * time.Minute // a lease that outlasts every test
	Patience = labtest.Patience
)

// A Process is one service process with its own connections. Two processes share nothing but the backend.
type Process struct {
	lock.Locker
	In   *backend.Instance // nil if the lock has no backend
	Kill func()            // closes the process's connections for good
	Key  string            // the name of a lock that only this test uses
	// Waiting reports whether the command shows that a contender is about to wait. Open sets it to PassesTap.
	Waiting func(*tap.Command) bool
}

// Open returns a Process with the lock that info describes. If d.Instance is nil, Open opens new connections.
func Open(t testing.TB, info catalog.Info, d catalog.Deps) *Process {
	t.Helper()
	if d.Instance == nil {
		d.Instance = labtest.Instance(t, info.Needs...)
	}
	l := labtest.Value(catalog.NewLocker(info, d)).Must(t)
	return &Process{l, d.Instance, d.Dialer.Kill, "/test/" + strings.ReplaceAll(t.Name(), "/", "-"), PassesTap}
}

// Take acquires the lock. The test fails if the lock is not granted.
func (p *Process) Take(t testing.TB, o lock.Options) lock.Lease {
	t.Helper()
	lease, err := p.Acquire(t.Context(), p.Key, o)
	if err != nil {
		t.Fatalf("acquire %s: %v", p.Key, err)
	}
	return lease
}

// Free releases a lock. The test fails if the lock was not held any more.
func Free(t testing.TB, l lock.Lease) {
	t.Helper()
	labtest.Check(t, l.Release(context.Background()), nil, "release")
}

// A Waiter waits for a lock.
type Waiter struct {
	In    chan lock.Lease
	Err   chan error
	Leave context.CancelFunc
}

// Contend asks for the lock in the background, and returns when the wait for the lock begins.
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

// In waits until the waiter has the lock, and returns its lease.
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

// PassesTap reports whether c is a wait in the program. Some locks wait inside a command of the server instead. Their
// tests set Process.Waiting to another function.
func PassesTap(c *tap.Command) bool { return c.Backend == tap.Waiting }
