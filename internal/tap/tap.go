// Package tap sees every command that one purchase sends to every backend:
// each SQL statement with BEGIN, COMMIT and ROLLBACK, each Redis, ZooKeeper
// and etcd command, and each wait that is not a command (a mutex, a message, a
// back-off).
//
// A Tap travels in the context. Without one a command pays for a single
// context look-up. With one, the Tap can trace, hold (block in Before), stop (an
// error from Before: the command is never sent) and lose replies (another error from
// After: the command took effect, the caller sees a failure).
package tap

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Backends a Command goes to.
const (
	SQL       = "sql"
	Redis     = "redis"
	ZooKeeper = "zookeeper"
	Etcd      = "etcd"
	Waiting   = "wait" // not a backend: the caller waits without a command
)

// A Command is one command on its way to a backend, or one wait.
type Command struct {
	Backend string // SQL, Redis, ZooKeeper, Etcd or Waiting
	Name    string // the verb: "BEGIN", "UPDATE", "SET", "create", "txn", "back-off"
	Text    string // the whole command, arguments as the backend's own syntax has them
	Args    []any  // values that Text leaves as placeholders
	Node    string // which of several like servers; empty where there is one

	// Sets are the keys that it writes, with their values, in backends that
	// keep such (Redis' SET, etcd's put): what a holder of a lock calls their own.
	Sets []Pair

	// Reply is what came back, as a person would note it ("num = 2, run = 1").
	// It is there in After, if the command has one.
	Reply string

	// Barrier, on a wait: once it has returned, all that was to be said before,
	// by a server, too, is in the channel that is waited for, and the waiter has
	// looked there. What it found the Tap has been told.
	Barrier func(context.Context) error
	// Asks, on a wait: the news come from a server, which the barrier asks.
	Asks bool
	// Ring, on a wait with a limit, ends it. It is there for a Tap that is a Sleeper, and
	// takes one value.
	Ring chan<- time.Time

	// Own is the Tap's, from Before to After.
	Own any
}

// A Pair is a key and its value.
type Pair struct{ Key, Value string }

// A Tap sees commands. Its methods are called from the goroutine that sends
// the command and must be safe for concurrent use: one purchase may use
// several goroutines (a lock's renewer).
type Tap interface {
	// Before is called when c is about to be sent. It may block. An error
	// stops the command: it is never sent and the caller sees that error.
	Before(ctx context.Context, c *Command) error
	// After is called with what came back. The error it returns is what the
	// caller sees.
	After(ctx context.Context, c *Command, err error) error
}

// Late is an error of Before: the caller gets no answer in time and goes on
// with Err, while the command is on its way. Keep is given what delivers it,
// later, past no tap; it may be called once, and must be, or what the command
// would end (a transaction) stays as it is.
type Late struct {
	Err  error
	Keep func(deliver func(context.Context) error)
}

func (l *Late) Error() string { return l.Err.Error() }
func (l *Late) Unwrap() error { return l.Err }

type lateKey struct{}

// IsLate reports whether a command is delivered late: its caller has gone, and
// what the caller reads must not be written to.
func IsLate(ctx context.Context) bool { return ctx.Value(lateKey{}) != nil }

// A Sleeper is a Tap that owns the clock: Sleep replaces a real back-off, and
// Command.Ring the timer of a wait.
type Sleeper interface {
	Sleep(ctx context.Context, d time.Duration) error
}

// TimeStands reports whether the context's Tap owns the clock: no time passes by itself.
func TimeStands(ctx context.Context) bool {
	_, is := From(ctx).(Sleeper)
	return is
}

type key struct{}

// A watch is what a context carries: who sees its commands, and who counts them.
type watch struct {
	tap     Tap      // nil: none
	counter *Counter // nil: none
}

func watchOf(ctx context.Context) watch {
	w, _ := ctx.Value(key{}).(watch)
	return w
}

func (w watch) countCommand(backend string) {
	if w.counter != nil {
		w.counter.counterOf(backend).Add(1)
	}
}

// With returns a context in which every command passes t.
func With(ctx context.Context, t Tap) context.Context {
	return context.WithValue(ctx, key{}, watch{t, watchOf(ctx).counter})
}

// Counting returns a context in which n counts every command that is sent, whatever
// Tap sees it.
func Counting(ctx context.Context, n *Counter) context.Context {
	return context.WithValue(ctx, key{}, watch{watchOf(ctx).tap, n})
}

// From returns the context's Tap, or nil.
func From(ctx context.Context) Tap { return watchOf(ctx).tap }

type helperKey struct{}

// A Helper is a goroutine, such as a lock's renewer, that works beside the
// purchase it belongs to. Its identity tells helpers of one purchase apart.
type Helper struct {
	over func(*Helper)
}

// A Minder is a Tap that must know when helpers come and go.
type Minder interface {
	Began(*Helper)
	Over(*Helper)
}

// Background marks the commands of a helper. Call Over when it has ended.
func Background(ctx context.Context) (context.Context, *Helper) {
	h := &Helper{}
	if m, ok := From(ctx).(Minder); ok {
		h.over = m.Over
		m.Began(h)
	}
	return context.WithValue(ctx, helperKey{}, h), h
}

// Over is called when the helper sends nothing more.
func (h *Helper) Over() {
	if h.over != nil {
		h.over(h)
	}
}

// HelperOf is the helper that Background marked ctx with; nil for what a
// purchase sends itself.
func HelperOf(ctx context.Context) *Helper {
	h, _ := ctx.Value(helperKey{}).(*Helper)
	return h
}

// IsBackground reports whether ctx was marked by Background.
func IsBackground(ctx context.Context) bool {
	return HelperOf(ctx) != nil
}

type fanKey struct{}

// Fan announces that the next n commands under ctx are sent side by side, one
// goroutine each (a quorum's nodes), so that a Tap knows for how many to wait.
func Fan(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, fanKey{}, n)
}

// FanOf is the n of Fan; 1 without.
func FanOf(ctx context.Context) int {
	if n, ok := ctx.Value(fanKey{}).(int); ok {
		return n
	}
	return 1
}

// Do sends a command to backend past the context's Tap. The command is described
// only for a Tap that looks at it, so describe must not change anything; Backend
// is filled in. send is given the context to send under: a command that is
// delivered late (Late) outlives its caller's.
func Do(ctx context.Context, backend string, describe func() *Command, send func(context.Context) error) error {
	return Ask(ctx, backend, describe, send, nil)
}

// Ask is Do for a command that answers: reply is called after send.
func Ask(
	ctx context.Context, backend string, describe func() *Command, send func(context.Context) error, reply func(error) string,
) error {
	w := watchOf(ctx)
	if w.tap == nil {
		w.countCommand(backend)
		return send(ctx)
	}
	c := describe()
	c.Backend = backend
	if err := w.tap.Before(ctx, c); err != nil {
		if late, ok := errors.AsType[*Late](err); ok {
			late.Keep(func(ctx context.Context) error { return send(context.WithValue(ctx, lateKey{}, true)) })
		}
		return err
	}
	w.countCommand(backend)
	err := send(ctx)
	if reply != nil {
		c.Reply = reply(err)
	}
	return w.tap.After(ctx, c, err)
}

// Wait waits until done yields or is closed, or until ctx ends (its error is
// returned then). what names what is waited for: "mutex stock 1".
func Wait[T any](ctx context.Context, what string, done <-chan T) (T, error) {
	return WaitAtMost(ctx, what, Forever, done, nil)
}

// Forever is a wait without a limit of its own.
const Forever time.Duration = -1

// ErrTimeUp ends a wait whose limit is over.
var ErrTimeUp = errors.New("the limit of this wait is over")

// WaitAtMost is Wait with a limit, such as what a lock has left to live:
// ErrTimeUp when it is over. (A context with a deadline would do the same, on
// a clock that no Tap can own.) barrier, for news from a server, returns when
// all that the server has said is in done.
func WaitAtMost[T any](
	ctx context.Context, what string, limit time.Duration,
	done <-chan T, barrier func(context.Context) error,
) (T, error) {
	if w := watchOf(ctx); w.tap == nil { // there is no one to describe the wait to
		w.countCommand(Waiting)
		return awaitNews(ctx, realTimer(limit), done, nil)
	}
	asks, over := make(chan chan<- struct{}), make(chan struct{})
	ends := sync.OnceFunc(func() { close(over) })
	defer ends()
	c := &Command{Name: "wait", Text: what, Asks: barrier != nil, Barrier: func(ctx context.Context) error {
		if barrier != nil {
			if err := barrier(ctx); err != nil {
				return err
			}
		}
		return stillWaits(ctx, asks, over)
	}}
	timer := realTimer(limit)
	if TimeStands(ctx) && limit >= 0 {
		ring := make(chan time.Time, 1)
		timer, c.Ring = ring, ring
	}
	var got T
	err := Do(ctx, Waiting, func() *Command { return c }, func(ctx context.Context) (err error) {
		defer ends() // before the Tap hears of it, which may ask for news
		got, err = awaitNews(ctx, timer, done, asks)
		return err
	})
	return got, err
}

// stillWaits returns when a waiter has looked for news and found none, or when the
// Tap has been told that the wait is over. A goroutine that was woken may take any
// time to run.
func stillWaits(ctx context.Context, asks chan<- chan<- struct{}, over <-chan struct{}) error {
	none := make(chan struct{}, 1)
	select {
	case asks <- none:
	case <-over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-none:
	case <-over:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

func awaitNews[T any](
	ctx context.Context, timer <-chan time.Time, done <-chan T, asks <-chan chan<- struct{},
) (got T, err error) {
	var none chan<- struct{} // who asks whether there are news
	for {
		if none != nil {
			select {
			case got = <-done:
				return got, nil
			case <-timer:
				return got, ErrTimeUp
			case <-ctx.Done():
				return got, context.Cause(ctx)
			default:
				none <- struct{}{}
			}
		}
		select {
		case got = <-done:
			return got, nil
		case <-timer:
			return got, ErrTimeUp
		case <-ctx.Done():
			return got, context.Cause(ctx)
		case none = <-asks:
		}
	}
}

// realTimer never rings without a limit.
func realTimer(limit time.Duration) <-chan time.Time {
	if limit < 0 {
		return nil
	}
	return time.After(limit)
}

// Sleep backs off for d, or until ctx ends (its error is returned then).
func Sleep(ctx context.Context, d time.Duration) error {
	return Do(ctx, Waiting, func() *Command {
		return &Command{Name: "back-off", Text: d.String()}
	}, func(ctx context.Context) error {
		if s, ok := From(ctx).(Sleeper); ok {
			return s.Sleep(ctx, d)
		}
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// WithTimeout is context.WithTimeout where time passes. Under a Sleeper only cancel
// ends the context: what a person thinks about must not run out of time.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if TimeStands(ctx) {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}

// A Counter counts commands by backend (see Counting); waits are counted too, under
// Waiting. The zero value is ready, one Counter may serve any number of purchases at
// once.
type Counter struct {
	counts [6]atomic.Uint64 // the first is of backends that are not counted
}

var counted = []string{SQL, Redis, ZooKeeper, Etcd, Waiting}

// Count is the number of commands sent to backend so far.
func (n *Counter) Count(backend string) uint64 { return n.counterOf(backend).Load() }

func (n *Counter) counterOf(backend string) *atomic.Uint64 {
	return &n.counts[1+slices.Index(counted, backend)]
}
