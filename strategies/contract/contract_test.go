// Package contract tests the contract of lock.Locker. Every lock has a row in
// locks_test.go, which says what the lock can do, and a Harness of its server. Both
// decide which promises are tested. A promise that a lock is known to break is tested as
// well: the suite fails unless it sees the promise broken.
package contract

import (
	"context"
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
	"seckill/internal/tap"
)

// A Harness describes one lock to the suite.
type Harness struct {
	// Key begins the names of the keys that the suite locks.
	Key string
	// Open starts a process. Its s.LockLease is the lease of locks that are
	// renewed, or the length of the session that carries them.
	Open func(t testing.TB, s catalog.Settings) *locktest.Process

	Can    Can
	Breaks []Promise // known flaws

	// Lease is a short lease or session; 0: the lock has neither.
	Lease time.Duration
	// Waits are further limits to try, where the server counts the wait.
	Waits []time.Duration
	// Waiting reports that a contender is about to wait. Nil: a wait that
	// passes the tap.
	Waiting func(*tap.Command) bool
	// Seen lists what the backend has for a key: the holder, those who wait and
	// what they left behind. Nil: nothing can be seen from outside.
	Seen func(t testing.TB, key string) []string
	// End prepares to end the lock under its holder, as its expiry, the server
	// or an operator would.
	End func(t testing.TB, key string, l lock.Lease) (end func())
	// Forget removes what the server knows of a free lock: the next token is to
	// surpass the last all the same. Nil: it cannot be removed.
	Forget func(t testing.TB, key string)
	// Foreign clients lock the same key in their own way.
	Foreign []Foreign
	// Wire opens a process that reaches the backend through a wire.
	Wire func(t testing.TB, s catalog.Settings) (*locktest.Process, *labtest.Wire)
	// Alone names a resource that all keys of the lock share, so that they slow each other
	// down. The promises of such locks are tested one at a time.
	Alone string

	only []Promise // are asked; nil: all that apply
}

// A Foreign client takes the key and reports whether it got it.
type Foreign struct {
	Name string
	Take func(t testing.TB, key string) (free func(), ok bool)
}

// Can is a set of capabilities.
type Can uint

const (
	Expires  Can = 1 << iota // Options.Lease ends the lock under a living holder
	Bound                    // the lock ends with its holder's connection, at once
	Tells                    // the lease's context ends, with ErrLost, when the lock is lost
	Undoes                   // an attempt whose reply was lost is taken back at once
	Renews                   // Options.Lease 0 renews the lock with commands of its own
	Limits                   // Settings.MaxHold ends the renewal
	Reenters                 // the lease's context acquires the lock again
	Queues                   // first come, first served
	Fences                   // fencing tokens grow with every grant
	Clears                   // lock.Clearer removes it by force
	Decides                  // of several who try once, one gets the lock
)

func (h *Harness) can(c Can) bool { return h.Can&c == c }

func (h *Harness) breaks(p Promise) bool { return slices.Contains(h.Breaks, p) }

// Run asks the lock for every promise that applies to it.
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

// ask puts all questions, most of which are waiting, at the same time.
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

// A trial asks one promise, in a goroutine of its own. It stands in for the
// test, so that what fails is known before it is reported.
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
	flaws  []string // of the lock
	errors []string // of the test's surroundings
}

// failures returns why the test fails: flaws that were not declared, or a declared
// flaw that the test did not see.
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

// stop notes it and ends the trial.
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

// fresh is an unused key.
func (c *trial) fresh() string {
	return fmt.Sprintf("%s-%05d", c.h.Key, keys.Add(1))
}
