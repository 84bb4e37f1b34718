package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/probe"
	"seckill/internal/tap"
)

// An actor is one buyer in one schedule. It is the tap.Tap (also its Sleeper and HelperObserver) and
// the LockObserver of its own context, and reports each command to the scheduler before the command
// is sent. The fields belong to the scheduler's goroutine. Only the results in outcome (Receipt, Err,
// Accepted, Calls) are the program's until it has ended.
type actor struct {
	Buyer
	run     *run
	process *process
	ctx     context.Context
	cancel  context.CancelCauseFunc

	life life
	lockUse
	threads []*thread // the first is the program; the others are helpers
	delayed []*call   // delayed commands that have not reached their servers
	attempt *attempt  // the current attempt (see attempt)
	holder  probe.Holder
	outcome Outcome
}

// lockUse is the state of an actor's lock and SQL transaction.
type lockUse struct {
	lock          lockState
	endsWithTx    bool // the lock belongs to a transaction, and the end of the transaction frees it
	inTransaction bool // a SQL transaction is open
	hadLock       bool // the actor has the lock now or had it before
	expired       bool // a fault has ended the lease
}

// A life is the state of an actor's process.
type life int

const (
	alive life = iota
	dead
	givenUp // the process is dead, and the servers have ended its sessions and leases
)

// A lockState is an actor's relation to the lock.
type lockState int

const (
	notHeld   lockState = iota
	held                // the actor has got the lock and has not called its release
	releasing           // the release is under way: another actor may already have the lock
)

// A thread is one sequence of commands of an actor. It may send several commands in parallel
// (tap.Fan).
type thread struct {
	actor      *actor
	helper     *tap.Helper // the strategy's goroutine in the background; nil if the thread is the call itself
	calls      []*call
	ended      bool
	fanSize    int // how many commands are sent in parallel; 0 or 1 if they are not
	fanStarted int // how many of the parallel commands have begun, as the tap has reported
	// overlap is set if the thread's last command was answered while another actor had the lock.
	overlap *Problem
}

// isRunning reports whether t is between two commands. It will soon report a command or its end.
func (t *thread) isRunning() bool {
	if t.ended {
		return false
	}
	stands := false
	for _, c := range t.calls {
		switch {
		case c.isSleeping():
			return false
		case c.timerFired, c.state == asleep:
			return true
		}
		stands = stands || c.state != passing
	}
	return !stands || t.fanSize > 1 && t.fanStarted < t.fanSize
}

// nextCall returns the call that a turn of t sends. The order of commands that are sent in parallel
// makes no difference to their sender, so they are sent in the order of their nodes.
func (t *thread) nextCall() *call {
	var first *call
	for _, c := range t.calls {
		if c.state == ready && (first == nil || c.command.Node < first.command.Node) {
			first = c
		}
	}
	return first
}

// sleepingCall returns the call of t that backs off, or nil.
func (t *thread) sleepingCall() *call {
	for _, c := range t.calls {
		if c.state == asleep {
			return c
		}
	}
	return nil
}

// addCall adds c to the calls of t.
func (t *thread) addCall(c *call) {
	c.thread = t
	if c.fan > 1 && c.state == ready {
		if t.fanSize != c.fan {
			t.fanSize, t.fanStarted = c.fan, 0
		}
		t.fanStarted++
	}
	t.calls = append(t.calls, c)
}

// remove removes a finished call from its thread.
func (c *call) remove() {
	t := c.thread
	if t == nil { // the buyer had died before the call, which was never added
		return
	}
	t.calls = slices.DeleteFunc(t.calls, func(other *call) bool { return other == c })
	if t.fanSize > 1 && t.fanStarted == t.fanSize && len(t.calls) == 0 {
		t.fanSize, t.fanStarted = 0, 0
	}
}

func (a *actor) program() *thread { return a.threads[0] }

func (a *actor) isDone() bool { return a.program().ended }

func (a *actor) isActive() bool { return !a.isDone() && a.life == alive }

// threadOf returns the thread of a helper. Commands of a helper that was never announced belong to
// the program.
func (a *actor) threadOf(h *tap.Helper) *thread {
	for _, t := range a.threads {
		if t.helper == h {
			return t
		}
	}
	return a.program()
}

// eachCall calls visit for every call of the actor.
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

// A brokenConnection is the error of a command that was sent and whose reply is lost. As MySQL's driver
// does then, it says that the connection is invalid, which proves nothing about the command.
type brokenConnection string

func (e brokenConnection) Error() string      { return string(e) }
func (brokenConnection) Is(target error) bool { return target == mysql.ErrInvalidConn }

// A call is one command, wait or back-off of an actor.
type call struct {
	actor   *actor
	thread  *thread
	helper  *tap.Helper // the helper that sends the command; nil if the program sends it
	command *tap.Command
	ctx     context.Context
	fan     int // the number of commands that are sent in parallel, including this one
	state   callState

	answer     chan error // receives nil to let the call continue, or the error that it returns instead
	step       int        // the index of the step that sent the command
	timerFired bool       // the scheduler has declared that the time limit of this wait is over
	callFault
}

// A callFault is what a fault does to a call.
type callFault struct {
	loseReply bool
	// leavesUnheard is true if the buyer leaves while the command is on its way. The command takes
	// effect.
	leavesUnheard bool
	refused       bool                        // during this call, Redis forbids the command Scenario.Denies
	deliver       func(context.Context) error // sends this command if it was delayed
}

type callState int

const (
	ready   callState = iota // waits for its turn
	sent                     // the command is on its way to the server, or inside the server
	waiting                  // a wait inside the process, without a command
	passing                  // the command was sent at once, without a turn
	blocked                  // cannot continue: the server lists it as waiting, or no event is on the way to it
	asleep                   // backs off
)

// isSleeping reports whether c backs off. A call whose context has ended is about to continue.
func (c *call) isSleeping() bool { return c.state == asleep && c.ctx.Err() == nil }

// isUnanswered reports whether c was sent, or waits, and has not returned.
func (c *call) isUnanswered() bool { return c.state != ready && c.state != asleep }

func (c *call) isWait() bool { return c.command.Backend == tap.Waiting }

func (c *call) String() string { return c.actor.Name + ": " + c.command.Text }

// text returns the command as a step shows it.
func (c *call) text(names *Normalizer) string {
	text := c.command.Text
	if !c.isWait() {
		text = DescribeCommand(c.command)
	}
	if c.helper != nil {
		text = renewerMark + text
	}
	return names.Normalize(text)
}

const (
	renewerMark = "(renewer) "
	timeHasCome = renewerMark + "its time has come"
)

// report makes the scheduler's goroutine call note. The actor's goroutines call report.
func (a *actor) report(note func()) {
	select {
	case a.run.reports <- note:
	case <-a.run.stopped:
	}
}

func (a *actor) newCall(ctx context.Context, command *tap.Command) *call {
	return &call{actor: a, ctx: ctx, helper: tap.HelperOf(ctx), command: command, fan: tap.FanOf(ctx),
		answer: make(chan error, 1)}
}

// addCall adds a call that waits for its turn. A call of a dead actor fails at once.
func (a *actor) addCall(c *call) {
	if a.life != alive {
		c.answer <- errDead
		return
	}
	a.threadOf(c.helper).addCall(c)
}

// awaitTurn waits until the scheduler lets the call continue (nil) or answers it with an error.
func (c *call) awaitTurn() error {
	select {
	case err := <-c.answer:
		if errors.Is(err, errPanics) {
			panic(err)
		}
		return err
	case <-c.actor.run.stopped:
		return errDead
	}
}

func (a *actor) Before(ctx context.Context, command *tap.Command) error {
	if command.Name == "back-off" {
		return nil // nothing to report: the method Sleep has reported this back-off
	}
	c := a.newCall(ctx, command)
	command.Private = c
	switch {
	case command.Backend == tap.Waiting:
		c.state = waiting
	case command.Name == "ROLLBACK" && ctx.Err() != nil:
		// When the context of a transaction ends, database/sql sends the ROLLBACK from a goroutine of
		// its own. The ROLLBACK does not wait for a turn of the buyer.
		c.state = passing
	default:
		a.report(func() { a.addCall(c) })
		return c.awaitTurn()
	}
	a.report(func() { a.threadOf(c.helper).addCall(c) })
	return nil
}

func (a *actor) After(ctx context.Context, command *tap.Command, err error) error {
	c, ok := command.Private.(*call)
	if !ok { // a back-off: the method Before has not made a call for it
		return err
	}
	if c.refused {
		err = errors.Join(err, a.run.world.probes.SetRight(context.Background(), "+"+a.run.scenario.Denies))
	}
	a.report(func() { a.run.callReturned(c, err) })
	switch {
	case c.leavesUnheard:
		a.cancel(context.Canceled)
		return context.Canceled
	case c.loseReply:
		return errReplyLost
	}
	if err == nil && c.isWait() && c.helper == nil && a.run.scenario.Wakes {
		return a.stopAtWakeUp(ctx)
	}
	return err
}

// stopAtWakeUp adds a step between the event that ends a wait and the buyer's reaction to the
// event. At this step the buyer may leave, for instance although it has just been given the lock.
func (a *actor) stopAtWakeUp(ctx context.Context) error {
	c := a.newCall(ctx, &tap.Command{Backend: tap.Waiting, Name: "wakes", Text: "wakes up"})
	a.report(func() { a.addCall(c) })
	if err := c.awaitTurn(); err != nil {
		return err
	}
	a.report(func() { a.run.callReturned(c, nil) })
	return context.Cause(ctx)
}

// Sleep ignores d: the back-off ends when a move of another actor may
// have changed something.
func (a *actor) Sleep(ctx context.Context, d time.Duration) error {
	c := a.newCall(ctx, &tap.Command{Backend: tap.Waiting, Name: "back-off", Text: d.String()})
	c.state = asleep
	a.report(func() {
		a.addCall(c)
		switch {
		case a.life != alive:
		case c.helper == nil:
			a.attempt.failed, a.outcome.Waited = true, true
		case c.thread.overlap != nil:
			a.run.schedule.locks = append(a.run.schedule.locks, *c.thread.overlap)
		}
	})
	select {
	case err := <-c.answer:
		return err
	case <-ctx.Done(): // the buyer goes on without a choice of the scheduler
		a.report(c.remove)
		return context.Cause(ctx)
	case <-a.run.stopped:
		return errDead
	}
}

func (a *actor) HelperStarted(h *tap.Helper) {
	a.report(func() { a.threads = append(a.threads, &thread{actor: a, helper: h}) })
}

func (a *actor) HelperEnded(h *tap.Helper) { a.report(func() { a.threadOf(h).ended = true }) }

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

func (a *actor) LockReleasing() {
	a.report(func() {
		a.lock = releasing
		a.run.schedule.endHold(a.Name, len(a.run.schedule.Steps))
	})
}

func (a *actor) LockReleased() { a.report(func() { a.lock = notHeld }) }
