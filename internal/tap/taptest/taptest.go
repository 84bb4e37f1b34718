// Package taptest provides Taps with which tests act between two commands.
package taptest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"seckill/internal/tap"
)

// A Tap calls OnBefore and OnAfter, if they are set. The caller of the command gets their errors.
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

// ErrLostReply is the error with which tests replace the reply of a command.
var ErrLostReply = errors.New("the reply was lost")

// Before returns a context that calls the function do once, before the first command that begins with verb.
func Before(ctx context.Context, verb string, do func()) context.Context {
	var once sync.Once
	return tap.With(ctx, &Tap{OnBefore: func(c *tap.Command) error {
		if strings.HasPrefix(c.Text, verb) {
			once.Do(do)
		}
		return nil
	}})
}

// EachBefore returns a context that calls the function do before each command is sent.
func EachBefore(ctx context.Context, do func(c *tap.Command)) context.Context {
	return tap.With(ctx, &Tap{OnBefore: func(c *tap.Command) error {
		do(c)
		return nil
	}})
}

// EachAfter returns a context that calls the function do after each command, with its error.
func EachAfter(ctx context.Context, do func(c *tap.Command, err error)) context.Context {
	return tap.With(ctx, &Tap{OnAfter: func(c *tap.Command, err error) error {
		do(c, err)
		return err
	}})
}

// LoseReplies returns a context in which a command c loses its reply if the function lost returns true for c.
func LoseReplies(ctx context.Context, lost func(c *tap.Command) bool) context.Context {
	return tap.With(ctx, &Tap{OnAfter: func(c *tap.Command, err error) error {
		if lost(c) {
			return ErrLostReply
		}
		return err
	}})
}

// Nth acts on the command number N, counted from 1. Waits are not counted.
type Nth struct {
	N        int
	OnBefore func()
	OnAfter  func(err error) error

	mu   sync.Mutex
	seen []string
	hit  *tap.Command
}

func (n *Nth) Before(_ context.Context, c *tap.Command) error {
	if c.Backend == tap.Waiting {
		return nil
	}
	n.mu.Lock()
	n.seen = append(n.seen, c.Name)
	hit := len(n.seen) == n.N
	if hit {
		n.hit = c
	}
	n.mu.Unlock()
	if hit && n.OnBefore != nil {
		n.OnBefore()
	}
	return nil
}

func (n *Nth) After(_ context.Context, c *tap.Command, err error) error {
	n.mu.Lock()
	hit := n.hit == c
	n.mu.Unlock()
	if hit && n.OnAfter != nil {
		return n.OnAfter(err)
	}
	return err
}

// Reached reports whether command number N was sent.
func (n *Nth) Reached() bool { return len(n.Seen()) >= n.N }

// Seen returns the names of the commands so far. It may be called while commands are still being sent.
func (n *Nth) Seen() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.seen)
}

// A Recorder records the backend and the text of each command.
type Recorder struct {
	OnBefore func(*tap.Command) error // called before each command; if nil, every command is sent

	mu   sync.Mutex
	seen []string
}

func (r *Recorder) Before(_ context.Context, c *tap.Command) error {
	r.mu.Lock()
	r.seen = append(r.seen, c.Backend+" "+c.Text)
	r.mu.Unlock()
	if r.OnBefore != nil {
		return r.OnBefore(c)
	}
	return nil
}

func (r *Recorder) After(_ context.Context, _ *tap.Command, err error) error { return err }

// Seen returns the commands so far, such as "sql BEGIN".
func (r *Recorder) Seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}
