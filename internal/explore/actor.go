package explore

import (
	"context"
	"slices"

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
	commits       bool      // the lock is a transaction's, and over with it
	inTransaction bool      // of the SQL server, begun and not ended
	claims        bool      // a key's claim was asked for and not given up
	passed        bool      // has the lock, or had it
	expired       bool      // the lease was ended by a fault
	threads       []*thread // the first is the program; then come helpers
	late          []*call   // delayed commands that have not arrived
	attempt       *attempt  // since it came, or since its last back-off
	wrote         map[string][]string
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

// drop forgets a call that is over.
func (t *thread) drop(c *call) {
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

// holder is what the servers keep for this actor.
func (a *actor) holder() *probe.Holder {
	return &probe.Holder{Sets: a.wrote, Session: a.process.session}
}
