// Package tap lets tests, the explorer and metrics observe every command that a purchase sends to its backends: SQL
// statements (with BEGIN, COMMIT and ROLLBACK), Redis, ZooKeeper and etcd commands, and waits that send no command
// (for a mutex, a message or a back-off).
//
// A Tap travels in the context. Without a Tap, a command costs one look-up in the context. A Tap can record a
// command, delay it (block in Before), stop it (return an error from Before, and the command is never sent) or lose
// its reply (return an error from After: the command has taken effect, but the caller sees a failure).
package tap

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"
)

// The values of Command.Backend.
const (
	SQL       = "sql"
	Redis     = "redis"
	ZooKeeper = "zookeeper"
	Etcd      = "etcd"
	Waiting   = "wait" // not a backend: the caller waits without sending a command
)

// A Command is one command to a backend, or one wait.
type Command struct {
	Backend string // SQL, Redis, ZooKeeper or Etcd; Waiting for a wait
	Name    string // the verb: "BEGIN", "UPDATE", "SET", "create", "txn", "back-off"
	Text    string // the whole command in the backend's own syntax
	Args    []any  // the values for the placeholders in Text
	Node    string // the name of the server if the backend has several servers; otherwise ""

	// Sets lists the keys that a Redis SET or an etcd put writes, with their values. The values identify the holder of
	// a lock.
	Sets []Pair

	// Reply is a short text for people, such as "num = 2, run = 1". It is set before After
	// is called, and empty if the command has no reply.
	Reply string

	// IsOver reports whether a wait is over. If it is, the Tap's After is called next. An event that a server has sent
	// before the call also ends the wait: IsOver waits until it has arrived. IsOver is nil for commands.
	IsOver func(context.Context) (bool, error)
	// FromServer is true for a wait whose event comes from a server. Its IsOver queries that server.
	FromServer bool
	// FireTimer is a channel to which a Tap that is a Sleeper sends one value. The wait then ends as if its limit had
	// passed. FireTimer is nil for other Taps and for waits without a limit.
	FireTimer chan<- time.Time

	// Private belongs to the Tap, which may store a value in Before and read it in After.
	Private any
}

// A Pair is a key and its value.
type Pair struct{ Key, Value string }

// A Tap observes commands. Its methods are called from the goroutine that sends the command. They must be safe for
// concurrent use, because a purchase may use several goroutines (such as the one that renews its lock).
type Tap interface {
	// Before is called before c is sent. It may block. If it returns an error, the command is
	// not sent and the caller gets that error.
	Before(ctx context.Context, c *Command) error
	// After is called with the result of c. The caller gets the error that After returns.
	After(ctx context.Context, c *Command, err error) error
}

// Late is an error that Before returns to delay a command in the network: the caller gets Err at once, and the command
// is sent later. Keep receives the function deliver, which sends the command without a Tap. The Tap must call deliver
// exactly once. If it never does, a transaction that the command would end stays open.
type Late struct {
	Err  error
	Keep func(deliver func(context.Context) error)
}

func (l *Late) Error() string { return l.Err.Error() }
func (l *Late) Unwrap() error { return l.Err }

type lateKey struct{}

// IsLate reports whether ctx belongs to the late delivery of a command (see Late). The caller has
// already continued, so the command must not write to variables that the caller reads.
func IsLate(ctx context.Context) bool { return ctx.Value(lateKey{}) != nil }

type observersKey struct{}

// observers has the Tap and the Counter of a context. Both may be nil.
type observers struct {
	tap     Tap
	counter *Counter
}

func observersOf(ctx context.Context) observers {
	w, _ := ctx.Value(observersKey{}).(observers)
	return w
}

func (w observers) countCommand(backend string) {
	if w.counter != nil {
		w.counter.counterOf(backend).Add(1)
	}
}

// With returns a context in which every command passes the Tap t.
func With(ctx context.Context, t Tap) context.Context {
	return context.WithValue(ctx, observersKey{}, observers{t, observersOf(ctx).counter})
}

// Counting returns a context in which the Counter n counts every command that is sent, with or without a Tap.
func Counting(ctx context.Context, n *Counter) context.Context {
	return context.WithValue(ctx, observersKey{}, observers{observersOf(ctx).tap, n})
}

// From returns the context's Tap, or nil.
func From(ctx context.Context) Tap { return observersOf(ctx).tap }

// A Forker is a Tap that sees the commands of a purchase's background goroutines apart from those of the purchase.
type Forker interface {
	// Fork is called when a background goroutine starts. It returns the Tap for the commands of this goroutine, or nil,
	// and a function that is called after the last command.
	Fork() (t Tap, end func())
}

// Background returns a context for the commands of a goroutine that works for a purchase at the same time as the
// purchase itself, such as the one that renews the lock. Call end when the goroutine has sent its last command.
func Background(ctx context.Context) (_ context.Context, end func()) {
	if f, ok := From(ctx).(Forker); ok {
		t, end := f.Fork()
		return With(ctx, t), end
	}
	return ctx, func() {}
}

type fanKey struct{}

// Fan announces that the next n commands under ctx are sent in parallel, each by a goroutine of its
// own (to the nodes of a quorum, say). A Tap that stops commands then waits for all of them.
func Fan(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, fanKey{}, n)
}

// FanOf returns the number of parallel commands that Fan announced, or 0.
func FanOf(ctx context.Context) int {
	n, _ := ctx.Value(fanKey{}).(int)
	return n
}

// Do sends a command to a backend through the context's Tap and returns the result of the command. The function
// describe returns the Command, without its Backend. Do calls describe only if there is a Tap, so describe must have no
// effects. The function send sends the command. It must use the context that it is given: a late command (see Late)
// outlives the context of its caller. If reply is not nil, Do then calls reply with the result and the error of send.
// The function reply returns the text for Command.Reply, and may replace the result.
func Do[T any](
	ctx context.Context, backend string, describe func() *Command,
	send func(context.Context) (T, error), reply func(*T, error) string,
) (T, error) {
	w := observersOf(ctx)
	if w.tap == nil {
		w.countCommand(backend)
		return send(ctx)
	}
	c := describe()
	c.Backend = backend
	if err := w.tap.Before(ctx, c); err != nil {
		if late, ok := errors.AsType[*Late](err); ok {
			late.Keep(func(ctx context.Context) error {
				_, err := send(context.WithValue(ctx, lateKey{}, true))
				return err
			})
		}
		var none T
		return none, err
	}
	w.countCommand(backend)
	got, err := send(ctx)
	if reply != nil {
		c.Reply = reply(&got, err)
	}
	return got, w.tap.After(ctx, c, err)
}

// A Counter counts the commands to each backend (see Counting). Waits inside this process count as
// commands to the backend Waiting. The zero value is ready to use. It is safe for concurrent use.
type Counter struct {
	counts [6]atomic.Uint64 // counts[0] is for backends that are not in countedBackends
}

var countedBackends = []string{SQL, Redis, ZooKeeper, Etcd, Waiting}

// Count returns the number of commands that were sent to backend so far.
func (n *Counter) Count(backend string) uint64 { return n.counterOf(backend).Load() }

func (n *Counter) counterOf(backend string) *atomic.Uint64 {
	return &n.counts[1+slices.Index(countedBackends, backend)]
}
