package explore

import (
	"context"
	"errors"
	"time"

	"seckill/internal/observe"
	"seckill/internal/tap"
)

// The errors that actors see in place of an answer.
var (
	errDead        = errors.New("this process has died")
	errReplyLost   = errors.New("connection lost before the reply came")
	errCommandLost = errors.New("connection lost before the command was sent")
	errNoAnswer    = errors.New("no answer in time")
)

// A call is one command, wait or back-off of an actor.
type call struct {
	actor   *actor
	thread  *thread
	helper  *tap.Helper // whose it is; nil: the actor's own
	command *tap.Command
	ctx     context.Context
	fan     int // commands that are sent side by side, with this one
	state   callState

	answer    chan error // lets it go on
	loseReply bool
	step      int  // index of the schedule's step that let it go
	rung      bool // the limit of this wait is over
}

type callState int

const (
	ready   callState = iota // it waits for its turn
	sent                     // it is on its way, or in the server
	waiting                  // it is a wait in the process
	passing                  // it was not stopped, only seen
	blocked                  // the server says that it waits, or nothing is under way to it
	asleep                   // it backs off
)

// sleeps reports whether it backs off. A call whose context has ended is about to go on.
func (c *call) sleeps() bool { return c.state == asleep && c.ctx.Err() == nil }

// inside reports whether it has gone, and is not back yet.
func (c *call) inside() bool { return c.state != ready && c.state != asleep }

func (c *call) local() bool { return c.command.Backend == tap.Waiting }

func (c *call) String() string { return c.actor.Name + ": " + c.command.Text }

// text is the command as a step shows it.
func (c *call) text(names *observe.Names) string {
	text := c.command.Text
	if !c.local() {
		text = observe.Describe(c.command)
	}
	if c.helper != nil {
		text = renewerMark + text
	}
	return names.Plain(text)
}

const renewerMark = "(renewer) "

type eventKind int

const (
	evCalls  eventKind = iota // stands before a command
	evEnters                  // in a wait, or passing without a stop
	evLeaves                  // the command or wait is over
	evSleeps                  // backs off
	evWakes                   // the back-off ended by itself: its context did
	evHolds                   // has the lock
	evFrees                   // is about to free it
	evFreed                   // has freed it, or tried to
	evBegins                  // a helper has begun
	evOver                    // the program, or a helper, has ended
	evKept                    // a delayed command can be delivered
)

type event struct {
	kind    eventKind
	actor   *actor
	call    *call
	helper  *tap.Helper
	err     error
	tx      bool // evHolds: the lock is a transaction's
	deliver func(context.Context) error
}

// tell reports to the scheduler; between two events of an actor it waits.
func (a *actor) tell(e event) {
	e.actor = a
	select {
	case a.run.events <- e:
	case <-a.run.over:
	}
}

func (a *actor) newCall(ctx context.Context, c *tap.Command) *call {
	return &call{actor: a, ctx: ctx, helper: tap.HelperOf(ctx), command: c, fan: tap.FanOf(ctx), answer: make(chan error, 1)}
}

// Before implements tap.Tap.
func (a *actor) Before(ctx context.Context, c *tap.Command) error {
	if c.Name == "back-off" {
		return nil // Sleep is next
	}
	s := a.newCall(ctx, c)
	c.Own = s
	switch {
	case c.Backend == tap.Waiting:
		s.state = waiting
		a.tell(event{kind: evEnters, call: s})
		return nil
	case c.Name == "ROLLBACK" && ctx.Err() != nil:
		// database/sql ends a transaction whose context has ended from a
		// goroutine of its own.
		s.state = passing
		a.tell(event{kind: evEnters, call: s})
		return nil
	}
	a.tell(event{kind: evCalls, call: s})
	select {
	case err := <-s.answer:
		return err
	case <-a.run.over:
		return errDead
	}
}

// Reads implements tap.Reader.
func (a *actor) Reads() bool { return a.run.peek }

// After implements tap.Tap.
func (a *actor) After(ctx context.Context, c *tap.Command, err error) error {
	s, ok := c.Own.(*call)
	if !ok { // a back-off
		return err
	}
	a.tell(event{kind: evLeaves, call: s, err: err})
	if s.loseReply {
		return errReplyLost
	}
	if err == nil && s.local() && s.helper == nil && a.run.scenario.Wakes {
		return a.wakes(ctx)
	}
	return err
}

// wakes stands between the news that end a wait and the buyer who heeds them: they
// may leave in between, with what the news have given them.
func (a *actor) wakes(ctx context.Context) error {
	s := a.newCall(ctx, &tap.Command{Backend: tap.Waiting, Name: "wakes", Text: "wakes up"})
	a.tell(event{kind: evCalls, call: s})
	select {
	case err := <-s.answer:
		if err != nil {
			return err
		}
		a.tell(event{kind: evLeaves, call: s})
		return context.Cause(ctx)
	case <-a.run.over:
		return errDead
	}
}

// Sleep implements tap.Sleeper: a back-off lasts until another has moved.
func (a *actor) Sleep(ctx context.Context, d time.Duration) error {
	s := a.newCall(ctx, &tap.Command{Backend: tap.Waiting, Name: "back-off", Text: d.String()})
	s.state = asleep
	a.tell(event{kind: evSleeps, call: s})
	select {
	case err := <-s.answer:
		return err
	case <-ctx.Done():
		a.tell(event{kind: evWakes, call: s})
		return context.Cause(ctx)
	case <-a.run.over:
		return errDead
	}
}

// Began implements tap.Minder.
func (a *actor) Began(h *tap.Helper) { a.tell(event{kind: evBegins, helper: h}) }

// Over implements tap.Minder.
func (a *actor) Over(h *tap.Helper) { a.tell(event{kind: evOver, helper: h}) }

// Holds implements observe.Holder.
func (a *actor) Holds(tx bool) { a.tell(event{kind: evHolds, tx: tx}) }

// Frees implements observe.Holder.
func (a *actor) Frees() { a.tell(event{kind: evFrees}) }

// Freed implements observe.Holder.
func (a *actor) Freed() { a.tell(event{kind: evFreed}) }
