package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/probe"
	"seckill/internal/tap"
)

// An actor is one buyer in one schedule. Only the scheduler's goroutine may use the fields, with one exception:
// Receipt, Err, Accepted and Calls in outcome belong to the actor's own goroutine until that goroutine has ended.
type actor struct {
	Buyer
	run     *run
	process *process
	ctx     context.Context
	cancel  context.CancelCauseFunc

	sessionsEnded bool // the actor has died, and the servers have ended the sessions and leases of its process
	lockUse
	threads []*thread // the first is the buyer's own code; the others are its background goroutines
	delayed []*call   // delayed commands that have not reached their servers
	attempt *attempt  // the commands since the last back-off (a pause before a retry)
	holder  probe.Holder
	outcome Outcome
}

// lockUse is the state of an actor's lock and SQL transaction.
type lockUse struct {
	lock          lockState
	endsWithTx    bool // the end of the SQL transaction frees the lock
	inTransaction bool // a SQL transaction is open
	hadLock       bool // the actor has the lock now or had it before
	expired       bool // a fault has ended the lease
}

// A lockState is an actor's relation to the lock.
type lockState int

const (
	notHeld   lockState = iota
	held                // the actor has the lock and has not begun to release it
	releasing           // the release has begun, so another actor may already have the lock
)

// A thread is a goroutine that sends commands of an actor: the buyer's own code or a background goroutine. It may
// send several commands in parallel (tap.Fan). A thread is the tap.Tap, tap.Sleeper, tap.Forker and LockObserver of
// its context, and reports each command to the scheduler before the command is sent.
type thread struct {
	*actor
	isBackground bool
	calls        []*call
	ended        bool
	fanStarted   int // parallel commands that have begun; an EVALSHA and the EVAL that repeats it count as two
	// overlap is not nil if another actor had the lock when this renewer's last command was answered.
	overlap *Problem
}

// isRunning reports whether t executes code between two commands. A running thread will soon report a command or its
// end.
func (t *thread) isRunning() bool {
	if t.ended {
		return false
	}
	stands, fan := false, 0
	for _, c := range t.calls {
		switch {
		case c.state == asleep && c.ctx.Err() == nil: // if the context has ended, c continues by itself
			return false
		case c.timerFired, c.state == asleep:
			return true
		}
		stands, fan = stands || c.state != passing, max(fan, c.fan)
	}
	return !stands || t.fanStarted < fan
}

// nextCall returns the call that t sends next, or nil. Of several parallel calls, it returns the call to the node with
// the smallest name, because no sender depends on the order of its parallel calls.
func (t *thread) nextCall() *call {
	var first *call
	for _, c := range t.calls {
		if c.state == ready && (first == nil || c.command.Node < first.command.Node) {
			first = c
		}
	}
	return first
}

func (t *thread) sleepingCall() *call {
	for _, c := range t.calls {
		if c.state == asleep {
			return c
		}
	}
	return nil
}

func (c *call) add() {
	c.thread.calls = append(c.thread.calls, c)
	if c.fan > 0 {
		c.thread.fanStarted++
	}
}

func (c *call) remove() {
	t := c.thread
	t.calls = slices.DeleteFunc(t.calls, func(other *call) bool { return other == c })
	if len(t.calls) == 0 && t.fanStarted == c.fan {
		t.fanStarted = 0
	}
}

func (a *actor) program() *thread { return a.threads[0] }

func (a *actor) isDone() bool { return a.program().ended }

func (a *actor) isActive() bool { return !a.isDone() && !a.outcome.Dead }

func (a *actor) eachCall(visit func(*call)) {
	for _, t := range a.threads {
		for _, c := range slices.Clone(t.calls) {
			visit(c)
		}
	}
}

// The errors that actors get instead of an answer.
var (
	errDead        = errors.New("this process has died")
	errReplyLost   = brokenConnection("connection lost before the reply came")
	errCommandLost = errors.New("connection lost before the command was sent")
	errNoAnswer    = errors.New("no answer in time")
	errPanics      = errors.New("the code of the request panics")
)

// A brokenConnection is the error of a command that was sent and whose reply is lost. It matches mysql.ErrInvalidConn,
// the error of MySQL's driver in this case. The error does not tell whether the command was executed.
type brokenConnection string

func (e brokenConnection) Error() string      { return string(e) }
func (brokenConnection) Is(target error) bool { return target == mysql.ErrInvalidConn }

// A call is one command, wait or back-off of an actor.
type call struct {
	thread  *thread
	command *tap.Command
	ctx     context.Context
	fan     int // the number of commands that are sent in parallel, including this one; 0 if it is sent alone
	state   callState

	answer     chan error // receives nil, which lets the call continue, or the error that the call returns instead
	step       int        // the index of the step that sent the command
	timerFired bool       // the scheduler has ended this wait as if its time limit had passed

	// These fields are the effects of faults on the call.
	loseReply bool
	// leavesUnheard is true if the buyer leaves while the command is on its way. The command takes effect.
	leavesUnheard bool
	refused       bool                        // until this call returns, Redis forbids the command Scenario.Denies
	deliver       func(context.Context) error // sends the delayed command; nil if the command was not delayed
}

type callState int

const (
	ready   callState = iota // waits until the scheduler lets it continue
	sent                     // the command is on its way to the server or inside the server, or the wait has begun
	passing                  // the command was sent without waiting for the scheduler
	blocked                  // cannot continue: its server lists it as waiting, or no event is about to end the wait
	asleep                   // backs off
)

// isUnanswered reports whether c has been sent or has begun to wait, and has not returned. A back-off does not count.
func (c *call) isUnanswered() bool { return c.state != ready && c.state != asleep }

func (c *call) isWait() bool { return c.command.Backend == tap.Waiting }

func (c *call) String() string { return c.thread.Name + ": " + c.command.Text }

func (c *call) text(names *Normalizer) string {
	text := c.command.Text
	if !c.isWait() {
		text = DescribeCommand(c.command)
	}
	if c.thread.isBackground {
		text = renewerMark + text
	}
	return names.Normalize(text)
}

const (
	renewerMark = "(renewer) "
	timeHasCome = renewerMark + "its time has come"
)

// report makes the scheduler's goroutine call note. So note may use the actor's fields.
func (a *actor) report(note func()) {
	select {
	case a.run.reports <- note:
	case <-a.run.stopped:
	}
}

func (t *thread) newCall(ctx context.Context, command *tap.Command) *call {
	return &call{thread: t, ctx: ctx, command: command, fan: tap.FanOf(ctx), answer: make(chan error, 1)}
}

// addUnlessDead adds c to the calls of its thread. If the actor is dead, c fails at once with errDead.
func (c *call) addUnlessDead() {
	if c.thread.outcome.Dead {
		c.answer <- errDead
		return
	}
	c.add()
}

// awaitTurn waits until the scheduler lets the call continue, and returns nil then. If the scheduler answers the
// call with an error, awaitTurn returns that error.
func (c *call) awaitTurn() error {
	select {
	case err := <-c.answer:
		if errors.Is(err, errPanics) {
			panic(err)
		}
		return err
	case <-c.thread.run.stopped:
		return errDead
	}
}

func (t *thread) Before(ctx context.Context, command *tap.Command) error {
	c := t.newCall(ctx, command)
	command.Private = c
	switch {
	case command.Backend == tap.Waiting:
		c.state = sent
	case command.Name == "ROLLBACK" && ctx.Err() != nil:
		// When the context of a transaction ends, database/sql sends the ROLLBACK at once from a goroutine of its
		// own. So the scheduler cannot choose when this ROLLBACK is sent.
		c.state = passing
	default:
		t.report(c.addUnlessDead)
		return c.awaitTurn()
	}
	t.report(c.add)
	return nil
}

func (t *thread) After(ctx context.Context, command *tap.Command, err error) error {
	c := command.Private.(*call)
	if c.refused {
		err = errors.Join(err, t.run.world.probes.SetRight(context.Background(), "+"+t.run.scenario.Denies))
	}
	t.report(func() { t.run.callReturned(c, err) })
	switch {
	case c.leavesUnheard:
		t.cancel(context.Canceled)
		return context.Canceled
	case c.loseReply:
		return errReplyLost
	}
	if err == nil && c.isWait() && !t.isBackground && t.run.scenario.Wakes {
		// This step lets the fault Leaves happen at this moment, for instance when the buyer has just been granted the
		// lock.
		return cmp.Or(takeStep(ctx, "wakes up"), context.Cause(ctx))
	}
	return err
}

// Sleep ignores the duration d. The scheduler ends the back-off when another actor may have changed something.
func (t *thread) Sleep(ctx context.Context, d time.Duration) error {
	c := t.newCall(ctx, &tap.Command{Backend: tap.Waiting, Name: "back-off", Text: d.String()})
	c.state = asleep
	t.report(func() {
		c.addUnlessDead()
		switch {
		case t.outcome.Dead:
		case !t.isBackground:
			t.attempt.failed, t.outcome.Waited = true, true
		case t.overlap != nil:
			t.run.schedule.locks = append(t.run.schedule.locks, *t.overlap)
		}
	})
	select {
	case err := <-c.answer:
		return err
	case <-ctx.Done(): // the context has ended, so the buyer continues without the scheduler
		t.report(c.remove)
		return context.Cause(ctx)
	case <-t.run.stopped:
		return errDead
	}
}

// Fork implements tap.Forker.
func (a *actor) Fork() (_ tap.Tap, end func()) {
	t := &thread{actor: a, isBackground: true}
	a.report(func() { a.threads = append(a.threads, t) })
	return t, func() { a.report(func() { t.ended = true }) }
}

func (a *actor) LockGranted(tx bool) {
	a.report(func() {
		s := a.run.schedule
		for _, other := range a.run.othersHolding(a) {
			s.locks = append(s.locks, Problem{RuleOverlap,
				fmt.Sprintf("after step %d both %s and %s hold the lock", len(s.Steps), other.Name, a.Name)})
		}
		a.lock, a.expired, a.hadLock, a.endsWithTx = held, false, true, tx
		s.Held = append(s.Held, Belief{Who: a.Name, From: len(s.Steps) - 1})
	})
}

func (a *actor) LockReleasing() (released func()) {
	a.report(func() {
		a.lock = releasing
		a.run.schedule.endHold(a.Name, len(a.run.schedule.Steps))
	})
	return func() { a.report(func() { a.lock = notHeld }) }
}
