package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"seckill/internal/probe"
	"seckill/internal/tap"
)

// An actor is one buyer in one schedule. It is the tap of its own context, and
// tells the scheduler what it is about to do. All below belongs to
// the scheduler's goroutine.
type actor struct {
	Buyer
	run     *run
	process *process
	ctx     context.Context
	cancel  context.CancelCauseFunc

	life          life
	lock          lockState
	commits       bool         // the lock is a transaction's, and over with it
	inTransaction bool         // of the SQL server, begun and not ended
	passed        bool         // has the lock, or had it
	expired       bool         // the lease was ended by a fault
	threads       []*thread    // the first is the program; then come helpers
	late          []*call      // delayed commands that have not arrived
	attempt       *attempt     // since it came, or since its last back-off
	keeps         probe.Holder // what the servers do for it
	outcome       Outcome
}

// life of an actor's process.
type life int

const (
	alive life = iota
	dead
	givenUp // dead, and the servers have ended its sessions and leases
)

// lockState is what the actor has of the lock.
type lockState int

const (
	notHeld   lockState = iota
	held                // from the grant to the call that releases it
	releasing           // on its way to be free: another may have it already
)

// A thread sends one command after the other, or several side by side.
type thread struct {
	actor  *actor
	helper *tap.Helper // nil: the program
	calls  []*call
	over   bool
	fan    int // commands that are expected side by side
	began  int // of them
	// foreign: the last command was answered while another had the lock; nil: not so.
	foreign *Problem
}

// running: it is between two commands, and is heard of soon.
func (t *thread) running() bool {
	if t.over {
		return false
	}
	stands := false
	for _, c := range t.calls {
		switch {
		case c.sleeps():
			return false
		case c.rung, c.state == asleep:
			return true
		}
		stands = stands || c.state != passing
	}
	return !stands || t.fan > 1 && t.began < t.fan
}

// next is the call whose turn it would be. Commands that are sent side by side
// go in the order of their nodes: which is first makes no difference to their
// sender.
func (t *thread) next() *call {
	var first *call
	for _, c := range t.calls {
		if c.state == ready && (first == nil || c.command.Node < first.command.Node) {
			first = c
		}
	}
	return first
}

// sleeper is the call that backs off.
func (t *thread) sleeper() *call {
	for _, c := range t.calls {
		if c.state == asleep {
			return c
		}
	}
	return nil
}

// add takes a call in.
func (t *thread) add(c *call) {
	c.thread = t
	if c.fan > 1 && c.state == ready {
		if t.fan != c.fan {
			t.fan, t.began = c.fan, 0
		}
		t.began++
	}
	t.calls = append(t.calls, c)
}

// drop forgets the call, which is over.
func (c *call) drop() {
	t := c.thread
	if t == nil { // its buyer had died
		return
	}
	t.calls = slices.DeleteFunc(t.calls, func(other *call) bool { return other == c })
	if t.fan > 1 && t.began == t.fan && len(t.calls) == 0 {
		t.fan, t.began = 0, 0
	}
}

func (a *actor) program() *thread { return a.threads[0] }

func (a *actor) done() bool { return a.program().over }

func (a *actor) buying() bool { return !a.done() && a.life == alive }

// threadOf finds the thread that a call belongs to. A helper that was
// never announced works for the program.
func (a *actor) threadOf(h *tap.Helper) *thread {
	for _, t := range a.threads {
		if t.helper == h {
			return t
		}
	}
	return a.program()
}

// each visits all calls.
func (a *actor) each(visit func(*call)) {
	for _, t := range a.threads {
		for _, c := range slices.Clone(t.calls) {
			visit(c)
		}
	}
}

// The errors that actors see in place of an answer.
var (
	errDead        = errors.New("this process has died")
	errReplyLost   = errors.New("connection lost before the reply came")
	errCommandLost = errors.New("connection lost before the command was sent")
	errNoAnswer    = errors.New("no answer in time")
	errPanics      = errors.New("the code of the request panics")
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
	refused   bool                        // Redis denies Scenario.Denies until it is over
	step      int                         // index of the schedule's step that let it go
	rung      bool                        // the limit of this wait is over
	deliver   func(context.Context) error // has a delayed command arrive
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
func (c *call) text(names *Normalizer) string {
	text := c.command.Text
	if !c.local() {
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

// tell has the scheduler take note of something; between two notes of an actor it waits.
func (a *actor) tell(note func()) {
	select {
	case a.run.notes <- note:
	case <-a.run.over:
	}
}

func (a *actor) newCall(ctx context.Context, c *tap.Command) *call {
	return &call{actor: a, ctx: ctx, helper: tap.HelperOf(ctx), command: c, fan: tap.FanOf(ctx), answer: make(chan error, 1)}
}

// stands: the actor stands before a call. The dead make none.
func (a *actor) stands(c *call) {
	if a.life != alive {
		c.answer <- errDead
		return
	}
	a.threadOf(c.helper).add(c)
}

// answered returns when the scheduler lets the call go, or puts an error in its place.
func (c *call) answered() error {
	select {
	case err := <-c.answer:
		if errors.Is(err, errPanics) {
			panic(err)
		}
		return err
	case <-c.actor.run.over:
		return errDead
	}
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
	case c.Name == "ROLLBACK" && ctx.Err() != nil:
		// database/sql ends a transaction whose context has ended from a
		// goroutine of its own.
		s.state = passing
	default:
		a.tell(func() { a.stands(s) })
		return s.answered()
	}
	a.tell(func() { a.threadOf(s.helper).add(s) })
	return nil
}

// After implements tap.Tap.
func (a *actor) After(ctx context.Context, c *tap.Command, err error) error {
	s, ok := c.Own.(*call)
	if !ok { // a back-off
		return err
	}
	if s.refused {
		err = errors.Join(err, a.run.world.probes.Allow(context.Background(), a.run.scenario.Denies))
	}
	a.tell(func() { a.run.left(s, err) })
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
	a.tell(func() { a.stands(s) })
	if err := s.answered(); err != nil {
		return err
	}
	a.tell(func() { a.run.left(s, nil) })
	return context.Cause(ctx)
}

// Sleep implements tap.Sleeper: a back-off lasts until another has moved.
func (a *actor) Sleep(ctx context.Context, d time.Duration) error {
	s := a.newCall(ctx, &tap.Command{Backend: tap.Waiting, Name: "back-off", Text: d.String()})
	s.state = asleep
	a.tell(func() {
		a.stands(s)
		switch {
		case a.life != alive:
		case s.helper == nil:
			a.attempt.failed, a.outcome.Waited = true, true
		case s.thread.foreign != nil:
			a.run.schedule.locks = append(a.run.schedule.locks, *s.thread.foreign)
		}
	})
	select {
	case err := <-s.answer:
		return err
	case <-ctx.Done(): // it ends by itself
		a.tell(s.drop)
		return context.Cause(ctx)
	case <-a.run.over:
		return errDead
	}
}

// Began implements tap.Minder.
func (a *actor) Began(h *tap.Helper) {
	a.tell(func() { a.threads = append(a.threads, &thread{actor: a, helper: h}) })
}

// Over implements tap.Minder.
func (a *actor) Over(h *tap.Helper) { a.tell(func() { a.threadOf(h).over = true }) }

// LockGranted implements LockObserver.
func (a *actor) LockGranted(tx bool) {
	a.tell(func() {
		s := a.run.schedule
		for _, other := range a.run.othersHolding(a) {
			s.locks = append(s.locks, Problem{RuleOverlap,
				fmt.Sprintf("after step %d both %s and %s hold the lock", len(s.Steps), other.Name, a.Name)})
		}
		a.lock, a.expired, a.passed, a.commits = held, false, true, tx
		s.Held = append(s.Held, Belief{Who: a.Name, From: len(s.Steps) - 1})
	})
}

// LockReleasing implements LockObserver.
func (a *actor) LockReleasing() {
	a.tell(func() {
		a.lock = releasing
		a.run.schedule.givesBack(a.Name, len(a.run.schedule.Steps))
	})
}

// LockReleased implements LockObserver.
func (a *actor) LockReleased() { a.tell(func() { a.lock = notHeld }) }
