// Package contract tests the contract of lock.Locker. Every lock has a row in locks_test.go, which says what the lock
// can do, and a Harness of its server. Both decide which promises are tested. A promise that a lock is known to break
// is tested as well: the suite fails unless it sees the promise broken.
package contract

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A Harness describes one lock to the suite.
type Harness struct {
	// Key begins the name of each key that the suite locks.
	Key string
	// Open starts a process. In its argument s, LockLease is the lease of locks that are renewed,
	// or the length of the session to which a lock belongs.
	Open func(t testing.TB, s catalog.Settings) *locktest.Process

	Can    Can
	Breaks []Promise // promises that the lock is known to break

	// Lease is a short lease or session; it is 0 if the lock has neither.
	Lease time.Duration
	// Waits lists further limits of a wait to test, for servers that count the wait themselves.
	Waits []time.Duration
	// Waiting reports whether a command shows that a contender is about to wait. Nil means the wait
	// that the tap itself reports.
	Waiting func(*tap.Command) bool
	// Seen lists what the backend has for a key: the holder, the waiters and what they left behind.
	// Nil means that nothing can be seen from outside.
	Seen func(t testing.TB, key string) []string
	// End prepares to end the lock under its holder, as its expiry, the server or an operator
	// would. The function end then does so.
	End func(t testing.TB, key string, l lock.Lease) (end func())
	// Forget removes what the server knows of a free lock. The next token must still be greater
	// than the last. Nil means that it cannot be removed.
	Forget func(t testing.TB, key string)
	// Foreign lists clients of other programs that lock the same key in their own way.
	Foreign []Foreign
	// Wire opens a process whose connection to the backend goes through a wire, which tests can cut.
	Wire func(t testing.TB, s catalog.Settings) (*locktest.Process, *labtest.Wire)
	// Alone names a resource that all keys of the lock share, so that they slow each other
	// down. The promises of such locks are tested one at a time.
	Alone string

	only []Promise // the only promises to test; nil means all that apply
}

// A Foreign client takes the key and reports whether it got it.
type Foreign struct {
	Name string
	Take func(t testing.TB, key string) (free func(), ok bool)
}

// Can is a set of capabilities.
type Can uint

const (
	Expires  Can = 1 << iota // Options.Lease ends the lock even if its holder lives
	Bound                    // the lock ends with its holder's connection, at once
	Tells                    // the lease's context ends, with ErrLost, when the lock is lost
	Undoes                   // an attempt whose reply was lost is undone at once
	Renews                   // Options.Lease 0 renews the lock with commands of its own
	Limits                   // Settings.MaxHold ends the renewal
	Reenters                 // the lease's context can acquire the lock again
	Queues                   // waiters get the lock in the order in which they came
	Fences                   // fencing tokens grow with every grant
	Clears                   // lock.Clearer removes it by force
	Decides                  // if several contenders try once, one of them gets the lock
)

func (h *Harness) can(c Can) bool { return h.Can&c == c }

func (h *Harness) breaks(p Promise) bool { return slices.Contains(h.Breaks, p) }

// Run tests every promise that applies to the lock.
func Run(t *testing.T, h Harness) {
	for _, c := range ask(t, h) {
		t.Run(string(c.promise), func(t *testing.T) {
			if c.known {
				t.Log(strings.Join(c.flaws, "\n"))
			}
			for _, f := range c.failures() {
				t.Error(f)
			}
		})
	}
}

// ask tests all promises at the same time, because most of their time is waiting.
func ask(t *testing.T, h Harness) (trials []*trial) {
	var all sync.WaitGroup
	a, b := h.Open(t, settings(locktest.Long)), h.Open(t, settings(locktest.Long))
	for _, q := range questions {
		if h.only != nil && !slices.Contains(h.only, q.promise) {
			continue
		}
		c := &trial{TB: t, question: q, h: &h, a: a, b: b, known: h.breaks(q.promise)}
		if !q.applies(&h) || h.breaks(Exclusion) && !q.unguarded {
			if c.known {
				t.Errorf("%q is declared as broken, and is not asked", q.promise)
			}
			continue
		}
		c.ctx, c.over = context.WithCancel(t.Context())
		c.key = c.fresh()
		trials = append(trials, c)
		all.Go(func() {
			defer c.over()
			q.ask(c)
		})
		if h.Alone != "" {
			all.Wait()
		}
	}
	all.Wait()
	return trials
}

// A trial tests one promise in a goroutine of its own. It takes the place of the testing.TB, so
// that failures can be compared with the known flaws before they are reported.
type trial struct {
	testing.TB
	question
	h     *Harness
	a, b  *locktest.Process
	key   string
	known bool // the lock is known to break the promise
	ctx   context.Context
	over  context.CancelFunc

	mu     sync.Mutex
	flaws  []string // flaws of the lock
	errors []string // errors in the test's surroundings
}

// failures returns why the test fails: flaws that were not declared, or a declared flaw that the test did not see.
func (c *trial) failures() []string {
	switch {
	case !c.known:
		return append(c.errors, c.flaws...)
	case len(c.flaws) == 0:
		return append(c.errors, "declared as broken, and not seen to break")
	}
	return c.errors
}

// broken notes that the lock has not kept its promise.
func (c *trial) broken(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flaws = append(c.flaws, fmt.Sprintf(format, args...))
}

// stop notes a broken promise, as broken does, and ends the trial.
func (c *trial) stop(format string, args ...any) {
	c.broken(format, args...)
	runtime.Goexit()
}

func (c *trial) failed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.flaws) > 0
}

func (c *trial) Errorf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errors = append(c.errors, fmt.Sprintf(format, args...))
}

func (c *trial) Fatalf(format string, args ...any) {
	c.Errorf(format, args...)
	runtime.Goexit()
}

func (c *trial) Error(args ...any) { c.Errorf("%s", fmt.Sprintln(args...)) }
func (c *trial) Fatal(args ...any) { c.Fatalf("%s", fmt.Sprintln(args...)) }

func (c *trial) Context() context.Context { return c.ctx }

func (c *trial) open(lease time.Duration) *locktest.Process {
	return c.h.Open(c, settings(lease))
}

func settings(lease time.Duration) catalog.Settings {
	return catalog.Settings{LockTimes: catalog.LockTimes{LockWait: 3 * time.Second, LockLease: lease, LockPoll: 5 * time.Millisecond}}
}

var keys atomic.Int64

// fresh returns an unused key.
func (c *trial) fresh() string {
	return fmt.Sprintf("%s-%05d", c.h.Key, keys.Add(1))
}

// most bounds the commands of one attempt that are tested one by one.
const most = 40

func (c *trial) waiting(cmd *tap.Command) bool {
	if c.h.Waiting != nil {
		return c.h.Waiting(cmd)
	}
	return locktest.PassesTap(cmd)
}

func (c *trial) take(p *locktest.Process, key string, lease time.Duration) lock.Lease {
	c.Helper()
	l, err := p.Acquire(c.Context(), key, lock.Options{Wait: locktest.Patience, Lease: lease})
	if err != nil {
		c.stop("a lock that is free was refused: %v", err)
	}
	return l
}

func (c *trial) free(l lock.Lease) {
	if err := l.Release(c.Context()); err != nil {
		c.broken("release: %v", err)
	}
}

func (c *trial) busy(key string) {
	if _, err := c.b.Acquire(c.Context(), key, lock.Options{Lease: locktest.Long}); !errors.Is(err, seckill.ErrBusy) {
		c.broken("the lock is held, and another was told %v, want busy", err)
	}
}

// stillHeld checks that nothing has freed the lock, and frees it.
func (c *trial) stillHeld(l lock.Lease, despite string) {
	if err := l.Release(c.Context()); err != nil {
		c.broken("%s freed the next holder's lock: %v", despite, err)
	}
}

func (c *trial) releasedTooLate(l lock.Lease) {
	if err := l.Release(c.Context()); !errors.Is(err, lock.ErrNotHeld) {
		c.broken("the release of a lost lock gave %v, want %v", err, lock.ErrNotHeld)
	}
}

func (c *trial) contend(p *locktest.Process, key string) *locktest.Waiter {
	own := *p
	own.Key, own.Waiting = key, c.waiting
	return own.Contend(c)
}

// limit returns how long a step waits for an event: long if the event must happen, and
// shorter if the lock is known not to bring it.
func (c *trial) limit() time.Duration {
	if c.known {
		return 4 * max(c.h.Lease, 100*time.Millisecond)
	}
	return locktest.Patience
}

// in waits until a waiter has the lock.
func (c *trial) in(w *locktest.Waiter) lock.Lease {
	limit := c.limit()
	select {
	case l := <-w.In:
		return l
	case err := <-w.Err:
		c.stop("a waiter was told %v", err)
	case <-time.After(limit):
		w.Leave()
		c.stop("a waiter is not admitted within %v", limit)
	}
	return nil
}

// answered waits until a waiter has the lock or an error. The answer stays to be read.
func answered(w *locktest.Waiter, limit time.Duration) {
	select {
	case l := <-w.In:
		w.In <- l
	case err := <-w.Err:
		w.Err <- err
	case <-time.After(limit):
	}
}

func (c *trial) refused(w *locktest.Waiter) error {
	select {
	case err := <-w.Err:
		return err
	case <-w.In:
		c.stop("a waiter is in beside the holder")
	case <-time.After(locktest.Patience):
		c.stop("a waiter who left is still waiting")
	}
	return nil
}

// end ends the lock under its holder.
func (c *trial) end(key string, l lock.Lease) { c.h.End(c, key, l)() }

// usurp ends a lock and takes it for another holder. If a renewal is faster, it tries again.
func (c *trial) usurp(key string, l lock.Lease) (next lock.Lease) {
	end := c.h.End(c, key, l)
	labtest.Soon(c, "the lock changes hands", func() bool {
		end()
		var err error
		next, err = c.b.Acquire(c.Context(), key, lock.Options{Wait: 50 * time.Millisecond, Lease: locktest.Long})
		return err == nil
	})
	return next
}

// told waits until the holder learns that the lock is lost.
func (c *trial) told(l lock.Lease) {
	select {
	case <-l.Context().Done():
	case <-time.After(c.limit()):
		c.stop("the holder was not told within %v", c.limit())
	}
	if cause := context.Cause(l.Context()); !errors.Is(cause, lock.ErrLost) {
		c.broken("the holder was told %v, want %v", cause, lock.ErrLost)
	}
}

// toldFirst checks, when the next holder has the lock, that the holder before has been told of the loss. A session's
// holder counts from before its last request, and the server ends the session up to half a second later, so the holder
// must know first. A lease ends for both in the same millisecond, and a busy machine decides who notices first. There
// it is enough that the holder is told while others try for the lock.
func (c *trial) toldFirst(key string, l lock.Lease) {
	told := func() bool { return l.Context().Err() != nil }
	if !told() && (!c.h.can(Expires) || c.late(key, told)) {
		c.broken("the next got in before the holder was told")
	}
	c.told(l)
}

// late reports whether an event that must come while a lock is held has not come after others have
// tried for the lock twenty times. A busy machine delays these attempts, too.
func (c *trial) late(key string, happened func() bool) bool {
	for range 20 {
		if happened() {
			return false
		}
		time.Sleep(time.Millisecond)
		c.busy(key)
	}
	return !happened()
}

// whenLost returns a channel that gets the time at which the lease's context ended.
func (c *trial) whenLost(l lock.Lease) <-chan time.Time {
	at := make(chan time.Time, 1)
	go func() {
		<-l.Context().Done()
		at <- time.Now()
	}()
	return at
}

// seen returns what the backend has for a key, once that stays the same: a server may show a
// statement for a moment after its reply.
func (c *trial) seen(key string) (now []string) {
	if c.h.Seen == nil {
		return nil
	}
	for {
		before := now
		if now = c.h.Seen(c, key); before != nil && slices.Equal(before, now) || len(now) == 0 {
			return now
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// sees waits until the backend has for the key what want says.
func (c *trial) sees(key string, want []string) {
	if c.h.Seen == nil {
		return
	}
	var now []string
	for end := time.Now().Add(locktest.Patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if now = c.h.Seen(c, key); slices.Equal(now, want) {
			return
		}
	}
	c.stop("the backend has %q, want %q", now, want)
}

func (c *trial) nothingLeft(key string) { c.sees(key, nil) }
