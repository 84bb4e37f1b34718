package explore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"seckill/internal/tap"
)

// The errors that actors see in place of an answer.
var (
	errDead        = errors.New("this process has died")
	errReplyLost   = errors.New("connection lost before the reply came")
	errCommandLost = errors.New("connection lost before the command was sent")
)

// An actor is one buyer in one order. He is the tap of his own context, and
// tells the scheduler by events what he is about to do; between two events of
// his the scheduler waits for him.
type actor struct {
	Buyer
	run     *run
	process *process
	ctx     context.Context
	cancel  context.CancelCauseFunc

	// All below belongs to the scheduler's goroutine.
	stops    []*stop        // before commands, waiting for their turn
	inside   map[*stop]bool // sent, or waiting, and not back yet
	sleeping *stop          // backing off
	fan      int            // commands that are expected side by side
	arrived  int            // of them
	done     bool
	buried   bool     // dead, and his session or lease ended
	votes    []string // tokens that he set on one of several Redis nodes
	keys     []string // that he put into etcd
	dead     bool
	holds    bool     // he is between taking the lock and freeing it
	leased   bool     // the lock is his until it is freed
	commits  bool     // the lock is a transaction's, and over with it
	passed   bool     // he has the lock, or had it
	attempt  *attempt // since he came, or since his last back-off
	expired  bool     // his lease was ended by a fault
	outcome  Outcome
}

// A stop is one command or wait of an actor.
type stop struct {
	actor      *actor
	command    *tap.Command
	background bool
	fan        int
	sleep      bool
	wait       bool
	passing    bool // it is not stopped, only seen
	answer     chan error
	loseReply  bool
	blocked    bool
	timer      chan time.Time // of a wait with a limit; the scheduler rings it
	rung       bool
	step       int // index of the order's step that let it go
}

func (s *stop) String() string { return s.actor.Name + ": " + s.command.Text }

type eventKind int

const (
	evStopped eventKind = iota // before a command
	evEntered                  // in a wait, or passing without a stop
	evLeft                     // the command or wait is over
	evAsleep                   // backing off
	evAwake                    // the back-off ended by itself: its context did
	evHolds                    // has the lock
	evFrees                    // is about to free it
	evFreed                    // has freed it, or tried to
	evDone                     // the program has returned
)

type event struct {
	kind  eventKind
	actor *actor
	stop  *stop
	err   error
	tx    bool // evHolds: the lock is a transaction's
}

func (a *actor) tell(e event) {
	e.actor = a
	select {
	case a.run.events <- e:
	case <-a.run.over:
	}
}

// Before implements tap.Tap.
func (a *actor) Before(ctx context.Context, c *tap.Command) error {
	s := &stop{actor: a, command: c, background: tap.IsBackground(ctx), fan: tap.FanOf(ctx), answer: make(chan error, 1)}
	a.run.track(s)
	switch {
	case c.Name == "back-off":
		a.run.untrack(c)
		return nil // Sleep is next
	case c.Backend == tap.Waiting:
		s.wait = true
		s.timer = a.run.timerOf(c)
		a.tell(event{kind: evEntered, stop: s})
		return nil
	case c.Name == "ROLLBACK" && ctx.Err() != nil:
		// database/sql ends a transaction whose context has ended from a
		// goroutine of its own.
		s.passing = true
		a.tell(event{kind: evEntered, stop: s})
		return nil
	}
	a.tell(event{kind: evStopped, stop: s})
	select {
	case err := <-s.answer:
		if err != nil {
			a.run.untrack(c)
		}
		return err
	case <-a.run.over:
		a.run.untrack(c)
		return errDead
	}
}

// After implements tap.Tap.
func (a *actor) After(_ context.Context, c *tap.Command, err error) error {
	s := a.run.untrack(c)
	if s == nil { // a back-off
		return err
	}
	a.tell(event{kind: evLeft, stop: s, err: err})
	if s.loseReply {
		return errReplyLost
	}
	return err
}

// Sleep implements tap.Sleeper: a back-off lasts until somebody else has moved.
func (a *actor) Sleep(ctx context.Context, d time.Duration) error {
	s := &stop{actor: a, sleep: true, background: tap.IsBackground(ctx), answer: make(chan error, 1),
		command: &tap.Command{Backend: tap.Waiting, Name: "back-off", Text: d.String()}}
	a.tell(event{kind: evAsleep, stop: s})
	select {
	case err := <-s.answer:
		return err
	case <-ctx.Done():
		a.tell(event{kind: evAwake, stop: s})
		return context.Cause(ctx)
	case <-a.run.over:
		return errDead
	}
}

// Timer implements tap.Sleeper: a wait's limit is over when the scheduler says
// so.
func (a *actor) Timer(c *tap.Command, _ time.Duration) <-chan time.Time {
	ring := make(chan time.Time, 1)
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	a.run.timers[c] = ring
	return ring
}

// computing: he runs between two commands, and will be heard of soon.
func (a *actor) computing() bool {
	if a.done || a.sleeping != nil {
		return false
	}
	if a.fan > 1 && a.arrived < a.fan {
		return true
	}
	waits := false
	for s := range a.inside {
		if s.rung {
			return true
		}
		waits = waits || !s.background && !s.passing
	}
	if waits {
		return false
	}
	for _, s := range a.stops {
		if !s.background {
			return false
		}
	}
	return true
}

// next is the stop whose turn it would be. Commands that are sent side by side
// go in the order of their nodes: which of them is first makes no difference to
// him.
func (a *actor) next() *stop {
	var first *stop
	for _, s := range a.stops {
		if first == nil || first.background && !s.background ||
			first.background == s.background && s.command.Node < first.command.Node {
			first = s
		}
	}
	return first
}

func (a *actor) describe(s *stop) (backend, text string) {
	c := s.command
	text = c.Text
	for _, arg := range c.Args {
		text = strings.Replace(text, "?", literal(arg), 1)
	}
	if c.Node != "" {
		text = c.Node + ": " + text
	}
	if s.background {
		text = "(renewer) " + text
	}
	return c.Backend, a.run.world.anonymous(text)
}

func literal(arg any) string {
	switch v := arg.(type) {
	case string:
		return "'" + v + "'"
	case []byte:
		return "'" + string(v) + "'"
	}
	return fmt.Sprint(arg)
}
