// Package locktest has what tests of locks share: a lock opened on the test's
// servers, one that waits, and a tap that acts between two commands.
package locktest

import (
	"context"
	"errors"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

const (
	Long     = 10 * time.Minute // a lease that no test outlasts
	Patience = time.Minute      // for what has to happen
)

// A Process is one service process with its own connections. Two processes
// share nothing but the backend.
type Process struct {
	lock.Locker
	In   *backend.Instance // nil: a lock that has no backend
	Kill func()            // closes its connections for good
}

// Open starts processes of a strategy's lock on the backends of this test.
func Open(info catalog.Info) func(testing.TB, catalog.Settings) *Process {
	return func(t testing.TB, s catalog.Settings) *Process {
		t.Helper()
		return On(t, labtest.Instance(t, info.Needs...), info, s)
	}
}

// On builds a strategy's lock on an instance.
func On(t testing.TB, in *backend.Instance, info catalog.Info, s catalog.Settings) *Process {
	t.Helper()
	l, err := catalog.NewLocker(info, catalog.Deps{Instance: in, Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	return &Process{l, in, in.Kill}
}

// Take acquires a lock that has to be granted.
func Take(t testing.TB, l lock.Locker, key string, o lock.Options) lock.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), key, o)
	if err != nil {
		t.Fatalf("acquire %s: %v", key, err)
	}
	return lease
}

// Free releases a lock that has to be held.
func Free(t testing.TB, l lock.Lease) {
	t.Helper()
	if err := l.Release(context.Background()); err != nil {
		t.Errorf("release: %v", err)
	}
}

// Busy checks that the lock is held.
func Busy(t testing.TB, l lock.Locker, key string) {
	t.Helper()
	if _, err := l.Acquire(t.Context(), key, lock.Options{Lease: Long}); !errors.Is(err, seckill.ErrBusy) {
		t.Errorf("%s is held, and another was told %v, want busy", key, err)
	}
}

// Lost waits for the end of the lease's context and returns its cause.
func Lost(t testing.TB, l lock.Lease) error {
	t.Helper()
	select {
	case <-l.Context().Done():
		return context.Cause(l.Context())
	case <-time.After(Patience):
		t.Fatal("the holder was not told")
		return nil
	}
}

// Soon polls for what a server does by itself.
func Soon(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still waiting after %v: %s", Patience, what)
		}
	}
}

// A Tap acts before and after commands. Its error is what the caller sees.
type Tap struct {
	OnBefore func(c *tap.Command) error
	OnAfter  func(c *tap.Command, err error) error
}

func (m *Tap) Before(_ context.Context, c *tap.Command) error {
	if m.OnBefore != nil {
		return m.OnBefore(c)
	}
	return nil
}

func (m *Tap) After(_ context.Context, c *tap.Command, err error) error {
	if m.OnAfter != nil {
		return m.OnAfter(c, err)
	}
	return err
}

// ErrLostReply is what a caller sees of a command whose reply is lost.
var ErrLostReply = errors.New("the reply was lost")

// A Waiter waits for a lock.
type Waiter struct {
	In    chan lock.Lease
	Err   chan error
	Leave context.CancelFunc
}

// Contend asks for a lock and returns when the wait begins, as waiting says;
// nil: with the first wait that passes the tap.
func Contend(t testing.TB, l lock.Locker, key string, waiting func(*tap.Command) bool) *Waiter {
	t.Helper()
	if waiting == nil {
		waiting = PassesTap
	}
	ctx, leave := context.WithCancel(t.Context())
	w := &Waiter{make(chan lock.Lease, 1), make(chan error, 1), leave}
	begun := make(chan struct{}, 1)
	ctx = tap.With(ctx, &Tap{OnBefore: func(c *tap.Command) error {
		if waiting(c) {
			select {
			case begun <- struct{}{}:
			default:
			}
		}
		return nil
	}})
	go func() {
		lease, err := l.Acquire(ctx, key, lock.Options{Wait: -1, Lease: Long})
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
		t.Fatalf("no contender waits for %s", key)
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
