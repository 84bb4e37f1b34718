package explore

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/explore/policy"
	"seckill/internal/judge"
	"seckill/internal/lock"
	"seckill/internal/probe"
	"seckill/internal/tap"
)

// A faultKind makes one fault happen between two commands.
type faultKind struct {
	// at lists where it could happen now; can are the threads that could go.
	at func(r *run, can []*thread) []policy.Option
	// happens lets it happen to the buyer who is named, or to the command that it aims
	// at. The step of any other fault is added when it has happened.
	happens func(ctx context.Context, r *run, a *actor, step *Step) error
	strikes func(r *run, c *call, step Step)
}

// follow are the consequences of other faults, in the order in which they are offered.
// They may come whenever they can, and are not counted.
var follow = []Fault{GivenUp, Arrives}

var faultKinds = map[Fault]faultKind{
	// If the strategy is no lock, a transaction ends with its connection: that of the buyer
	// who is named or, without a name, of the last of them. With latecomers it
	// befalls those who queue for a lock, and not its holder.
	LeaseEnds: {
		at: func(r *run, _ []*thread) (list []policy.Option) {
			if r.scenario.Latecomers > 0 {
				return befalls(LeaseEnds, (*run).isQueued)(r, nil)
			}
			all := r.leaseholders()
			if len(all) > 0 || r.world.info.Locker == nil && r.world.AsksTime() {
				list = append(list, policy.Option{Choice: Choice{Fault: LeaseEnds}})
			}
			if r.world.info.Locker == nil && len(all) > 1 {
				for _, a := range all[:len(all)-1] {
					list = append(list, policy.Option{Choice: Choice{Who: a.Name, Fault: LeaseEnds}})
				}
			}
			return list
		},
		happens: func(ctx context.Context, r *run, a *actor, step *Step) (err error) {
			queued := a != nil && r.isQueued(a)
			if queued {
				step.Command, err = r.endSession(ctx, a)
			} else {
				if a == nil {
					a = r.leaseholder()
				}
				step.Command, err = r.endLease(ctx, a, true)
			}
			if !queued || r.last == a.program() { // to go next takes no turn away
				r.last = nil
			}
			r.paused = a
			return err
		},
	},
	Dies: {
		at: befalls(Dies, (*run).firstOf),
		happens: func(_ context.Context, r *run, a *actor, _ *Step) error {
			a.process.tainted = true
			a.process.In.Kill()
			for _, other := range r.actors {
				if other.process == a.process && !other.done() {
					r.die(other)
				}
			}
			return nil
		},
	},
	GivenUp: {
		at: func(r *run, can []*thread) (list []policy.Option) {
			for _, a := range r.actors {
				if len(can) > 0 && a.life == dead && r.world.keepsSessions() {
					list = append(list, policy.Option{Choice: Choice{Who: a.Name, Fault: GivenUp}})
				}
			}
			return list
		},
		happens: func(ctx context.Context, r *run, a *actor, step *Step) (err error) {
			a.life = givenUp
			step.Command, err = r.endSession(ctx, a)
			step.Command = cmp.Or(step.Command, "nothing of theirs is left")
			return err
		},
	},
	Leaves: {
		at: befalls(Leaves, func(_ *run, a *actor) bool { return a.buying() && a.ctx.Err() == nil }),
		happens: func(_ context.Context, _ *run, a *actor, _ *Step) error {
			a.cancel(context.Canceled) // database/sql closes what waits for an answer
			return nil
		},
	},
	// Only in place of a write in a transaction: elsewhere database/sql keeps the lock of a
	// connection whose driver panics.
	Panics: {
		at:      atCommands(Panics, writesRow),
		strikes: func(r *run, c *call, step Step) { r.fail(c, step, "panics", errPanics) },
	},
	IDTaken: {
		at: atCommands(IDTaken, func(c *tap.Command) bool { return batchedID.MatchString(c.Text) }),
		strikes: func(r *run, c *call, step Step) {
			ids := batchedID.FindAllStringSubmatch(c.command.Text, -1)
			r.send(c, step)
			c.answer <- r.world.admin.DB.Exec("INSERT INTO orders (id, public_id, request_id, user_id, sku_id, quantity, remaining, strategy, "+
				"run, status, reason) VALUES (?, '', 'taken', ?, ?, 1, 0, 'another', ?, ?, 'sold_out')",
				ids[len(ids)-1][1], strangeUser, r.world.sku, firstRun, judge.Refused).Error
		},
	},
	ReplyLost: {
		at: atCommands(ReplyLost, anyCommand),
		strikes: func(r *run, c *call, step Step) {
			r.send(c, step)
			c.loseReply = true
			c.answer <- nil
		},
	},
	CommandLost: {
		at:      atCommands(CommandLost, anyCommand),
		strikes: func(r *run, c *call, step Step) { r.fail(c, step, "never arrives", errCommandLost) },
	},
	Refused: {
		at: func(r *run, can []*thread) []policy.Option {
			return atCommands(Refused, func(c *tap.Command) bool {
				return c.Name == r.scenario.Denies || c.Name == "EVALSHA" || c.Name == "EVAL"
			})(r, can)
		},
		strikes: func(r *run, c *call, step Step) {
			r.send(c, step)
			c.refused = true
			c.answer <- r.world.probes.Deny(context.Background(), r.scenario.Denies)
		},
	},
	// ZooKeeper's commands are not delayed: a session's are in order, and end with its
	// connection. On a connection to the SQL server nothing follows one that is, as its
	// sender closes the connection: what was open there stays open until it arrives.
	Delayed: {
		at: atCommands(Delayed, mayBeLate),
		strikes: func(r *run, c *call, step Step) {
			a := c.actor
			r.fail(c, step, "is delayed", &tap.Late{Err: errNoAnswer, Keep: func(deliver func(context.Context) error) {
				a.tell(func() {
					c.deliver = deliver
					a.late = append(a.late, c)
				})
			}})
		},
	},
	Arrives: {
		at: befalls(Arrives, func(_ *run, a *actor) bool { return len(a.late) > 0 }),
		happens: func(ctx context.Context, r *run, a *actor, step *Step) error {
			l := a.late[0]
			a.late = slices.Delete(a.late, 0, 1)
			// It goes by itself, as another thread of its sender's.
			t := &thread{actor: a, helper: &tap.Helper{}}
			c := &call{actor: a, helper: t.helper, command: l.command, state: sent, step: len(r.schedule.Steps)}
			t.add(c)
			a.threads = append(a.threads, t)
			if r.peek {
				step.Backend, step.Command = c.command.Backend, l.text(r.world.names)
			}
			step.Result = "waits"
			ctx = context.WithoutCancel(ctx) // what it was sent on is closed behind it
			r.programs.Go(func() {
				err := l.deliver(ctx)
				a.tell(func() {
					r.left(c, err)
					t.over = true
				})
			})
			return nil
		},
	},
	ClockJumps: {
		at: befalls(ClockJumps, func(r *run, a *actor) bool { return r.firstOf(a) && a.process.ahead.Load() == 0 }),
		happens: func(_ context.Context, r *run, a *actor, _ *Step) error {
			a.process.ahead.Store(int64(r.world.leaseEnd()))
			a.process.tainted = true // the next schedule has another process
			return nil
		},
	},
	// A server is lost while the first buyer stands before their first write to the
	// database. They are paused until the others are through.
	NodeLost: {
		at: func(r *run, _ []*thread) []policy.Option {
			c := r.actors[0].program().next()
			if r.world.options.Node == nil || c == nil || !writesRow(c.command) {
				return nil
			}
			return []policy.Option{{Choice: Choice{Fault: NodeLost}}}
		},
		happens: func(ctx context.Context, r *run, _ *actor, step *Step) error {
			step.Command = r.world.options.Node.Name
			r.last, r.paused = nil, r.actors[0]
			begun := time.Now()
			defer func() { r.schedule.Outage = time.Since(begun) }()
			err := r.world.options.Node.Lose(ctx)
			if err == nil {
				err = r.world.answers(ctx)
			}
			return err
		},
	},
}

// batchedID finds the ids of the orders that a command writes as one of several.
var batchedID = regexp.MustCompile(`\((\d+), 'o`)

// befalls is every actor whom a fault could befall.
func befalls(f Fault, may func(*run, *actor) bool) func(*run, []*thread) []policy.Option {
	return func(r *run, _ []*thread) (list []policy.Option) {
		for _, a := range r.actors {
			if may(r, a) {
				list = append(list, policy.Option{Choice: Choice{Who: a.Name, Fault: f}})
			}
		}
		return list
	}
}

// firstOf: of the buyers in their process who are not done, they are the first. What
// befalls a process befalls all of them.
func (r *run) firstOf(a *actor) bool {
	i := slices.IndexFunc(r.actors, func(o *actor) bool { return o.process == a.process && o.buying() })
	return i >= 0 && r.actors[i] == a
}

// atCommands is every command that could be sent now, of a buyer or a renewer, and that
// the fault could befall.
func atCommands(f Fault, may func(*tap.Command) bool) func(*run, []*thread) []policy.Option {
	return func(r *run, can []*thread) (list []policy.Option) {
		for _, t := range can {
			if may(t.next().command) {
				c := t.choice()
				c.Fault = f
				list = append(list, policy.Option{Choice: c, Preempts: r.preempts(t, can)})
			}
		}
		return list
	}
}

func anyCommand(c *tap.Command) bool { return c.Backend != Work }

func writesRow(c *tap.Command) bool {
	return c.Backend == tap.SQL && (c.Name == "INSERT" || c.Name == "UPDATE")
}

// fail answers a call with an error; it is not sent. result is what the step
// says of it.
func (r *run) fail(c *call, step Step, result string, err error) {
	r.send(c, step)
	r.schedule.Steps[c.step].Result = result
	c.drop()
	c.answer <- err
}

// aimed is the call that a choice is about: the next one or, if there is none, that of a
// renewer whose time may come.
func (r *run) aimed(c Choice) (sleeps *call) {
	for _, t := range r.actor(c.Who).threads {
		if (t.helper != nil) != c.Renewer {
			continue
		}
		if next := t.next(); next != nil {
			return next
		}
		sleeps = cmp.Or(sleeps, t.sleeper())
	}
	return sleeps
}

// isQueued reports whether a contender may have a place in a lock's queue, in a server
// that keeps sessions, while no actor of its process has the lock.
func (r *run) isQueued(a *actor) bool {
	return r.world.info.Locker != nil && a.buying() && (a.attempt.used[tap.ZooKeeper] || a.attempt.used[tap.Etcd]) &&
		!slices.ContainsFunc(r.actors, func(o *actor) bool { return o.process == a.process && o.lock != notHeld })
}

// endSession has the servers end what they keep for an actor's process, and says what
// that did; "" if they kept nothing. A client of ZooKeeper that lives cannot send another
// command before it hears of it; one of etcd can.
func (r *run) endSession(ctx context.Context, of *actor) (what string, err error) {
	did, err := r.world.probes.GiveUp(ctx, r.world.sku, &of.keeps)
	of.process.tainted = of.process.tainted || r.world.admin.Etcd != nil // as in endLease
	if zk := of.process.In.ZooKeeper; zk != nil && of.life == alive {
		zk.Expire()
	}
	return r.world.names.Normalize(strings.Join(did, "; ")), err
}

// leaseholders are the actors whose lease has not ended or, if the strategy is no
// lock, whose transaction has not: that ends with its connection.
func (r *run) leaseholders() (list []*actor) {
	for _, a := range r.actors {
		if (a.lock != notHeld || r.world.info.Locker == nil && a.inTransaction) && !a.expired {
			list = append(list, a)
		}
	}
	return list
}

// leaseholder is the last of them; nil: none.
func (r *run) leaseholder() *actor {
	if all := r.leaseholders(); len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

// endLease ends the lease of an actor, or whichever there is if that is nil, and says
// what that did; "" if there was no lease. Sessions and connections end only if they
// are to: those of a process that lives do not end by themselves. With Scenario.Clears
// a lock that never ends is removed, too.
func (r *run) endLease(ctx context.Context, of *actor, sessions bool) (what string, err error) {
	w := r.world
	var holder *probe.Holder
	if of != nil {
		of.expired, of.outcome.Expired = true, true
		holder = &of.keeps
	}
	var did []string
	if sessions || !w.keepsSessions() {
		if did, err = w.probes.Expire(ctx, w.sku, holder); err != nil {
			return "", err
		}
	}
	w.clock.Add(int64(w.leaseEnd()))
	if did != nil && w.admin.Etcd != nil {
		// A lease is its process's, which finds out by and by: that would be
		// another step of some later schedule.
		for _, p := range w.numbers {
			p.tainted = p.tainted || of == nil || p == of.process
		}
	}
	if did == nil && sessions && of != nil && (w.info.Locker == nil || slices.Contains(w.info.Needs, backend.RowLocks)) {
		n, err := w.probes.Kill(ctx, of.process.ports())
		if err != nil {
			return "", err
		}
		if n > 0 {
			of.process.tainted = true
			did = append(did, "the server closes the holder's connections")
		}
	}
	if did == nil && of != nil && r.scenario.Clears {
		if c, ok := of.process.Locker.(lock.Clearer); ok && c.Clear(ctx, w.probes.Key(w.sku)) == nil {
			did = append(did, "an operator removes the lock")
		}
	}
	if did == nil && w.info.Locker == nil && w.AsksTime() {
		did = append(did, "the processes' clocks move on by the time of a lease")
	}
	r.everythingMoved()
	if did != nil {
		_, err = r.ringTimers(ctx)
	}
	return w.names.Normalize(strings.Join(did, "; ")), err
}

// leaseEnd is how far the processes' clocks move when a lease ends.
func (w *World) leaseEnd() time.Duration { return w.settings.LockLease + time.Second }

// die is one buyer's part of the death of their process, whose sockets are closed:
// whatever they do from now on fails without reaching a server.
func (r *run) die(a *actor) {
	a.life, a.lock = dead, notHeld
	a.outcome.Dead = true
	a.late = nil // what had not left the machine
	a.cancel(errDead)
	a.each(func(c *call) {
		if c.state == ready || c.state == asleep {
			c.drop()
			c.answer <- errDead
		}
	})
}

// giveUp has the servers end what a dead buyer's process still has there. It was not chosen.
func (r *run) giveUp(ctx context.Context, a *actor) error {
	return r.take(ctx, policy.Option{Choice: Choice{Who: a.Name, Fault: GivenUp}}, false)
}

func mayBeLate(c *tap.Command) bool {
	switch c.Backend {
	case tap.SQL:
		// A BEGIN or ROLLBACK changes nothing when it comes late.
		return c.Name != "BEGIN" && c.Name != "ROLLBACK"
	case tap.Redis:
		return c.Name != "SUBSCRIBE"
	case tap.Etcd:
		return c.Name != "watch"
	}
	return false
}
