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

// A faultKind defines one fault. It has either apply or applyToCall.
type faultKind struct {
	// options lists the ways in which the fault can happen now.
	options func(*run) []policy.Option
	// apply performs a fault that concerns the actor a. If a is nil, the fault concerns no single actor. When apply
	// has returned, the caller adds step to the schedule.
	apply func(ctx context.Context, r *run, a *actor, step *Step) error
	// applyToCall performs a fault that concerns the call c. The caller has added the step of c already. The result
	// is nil if the command is sent, or the error that the sender gets instead.
	applyToCall func(r *run, c *call) error
}

// followUps lists the faults that can only follow another fault, in the order in which they are
// offered as choices. Follow-ups do not count towards Scenario.MaxFaults.
var followUps = []Fault{GivenUp, Arrives}

var faultKinds = map[Fault]faultKind{
	// If the strategy is not a lock, an open transaction takes the place of the lease, and the fault closes the
	// transaction's connection. A choice without a buyer's name means the last buyer with an open transaction. With
	// Scenario.Latecomers, the fault hits the buyers that wait for a lock, not the lock's holder.
	LeaseEnds: {
		options: func(r *run) (list []policy.Option) {
			if r.scenario.Latecomers > 0 {
				return atActors(LeaseEnds, (*actor).isQueued)(r)
			}
			all := r.leaseholders()
			if len(all) > 0 || !r.world.hasLock() && r.world.ReadsClock() {
				list = append(list, policy.Option{Choice: Choice{Fault: LeaseEnds}})
			}
			if !r.world.hasLock() && len(all) > 1 {
				for _, a := range all[:len(all)-1] {
					list = append(list, policy.Option{Choice: Choice{Who: a.Name, Fault: LeaseEnds}})
				}
			}
			return list
		},
		apply: func(ctx context.Context, r *run, a *actor, step *Step) (err error) {
			queued := a != nil && a.isQueued()
			if queued {
				step.Command, err = r.endSession(ctx, a)
			} else {
				if a == nil {
					a = r.lastLeaseholder()
				}
				step.Command, err = r.endLease(ctx, a, false)
			}
			if !queued || r.lastThread == a.program() {
				r.lastThread = nil // the next step must not count as a preemption
			}
			r.paused = a
			return err
		},
	},
	Dies: {
		options: atActors(Dies, (*actor).isFirstOfProcess),
		apply: func(_ context.Context, r *run, a *actor, _ *Step) error {
			a.process.tainted = true
			a.process.In.Dialer.Kill()
			for _, other := range r.actors {
				if other.process == a.process && !other.isDone() {
					r.killActor(other)
				}
			}
			return nil
		},
	},
	GivenUp: {
		options: atActors(GivenUp, func(a *actor) bool {
			return a.outcome.Dead && !a.sessionsEnded && a.run.world.keepsSessions() && len(a.run.runnable()) > 0
		}),
		apply: func(ctx context.Context, r *run, a *actor, step *Step) (err error) {
			a.sessionsEnded = true
			step.Command, err = r.endSession(ctx, a)
			step.Command = cmp.Or(step.Command, "nothing of theirs is left")
			return err
		},
	},
	Leaves: {
		options: atActors(Leaves, func(a *actor) bool {
			return a.isActive() && a.ctx.Err() == nil && (!a.run.scenario.Unheard || a.mayLeaveUnheard())
		}),
		apply: func(_ context.Context, r *run, a *actor, _ *Step) error {
			if r.scenario.Unheard {
				a.program().nextCall().leavesUnheard = true
				return nil
			}
			a.cancel(context.Canceled) // if a command waits for its answer, database/sql now closes the connection
			return nil
		},
	},
	// The panic replaces a write inside a transaction. If the driver panicked at another command, database/sql would
	// never unlock the mutex of the connection.
	Panics: {
		options:     atCommands(Panics, writesRow),
		applyToCall: func(r *run, c *call) error { return r.drop(c, "panics", errPanics) },
	},
	IDTaken: {
		options: atCommands(IDTaken, func(c *call) bool { return batchedID.MatchString(c.command.Text) }),
		applyToCall: func(r *run, c *call) error {
			ids := batchedID.FindAllStringSubmatch(c.command.Text, -1)
			return r.world.admin.DB.Exec("INSERT INTO orders (id, public_id, request_id, user_id, sku_id, "+
				"quantity, remaining, strategy, run, status, reason) "+
				"VALUES (?, '', 'taken', ?, ?, 1, 0, 'another', ?, ?, 'sold_out')",
				ids[len(ids)-1][1], unusedUser, r.world.sku, firstRun, judge.Refused).Error
		},
	},
	ReplyLost: {
		options: atCommands(ReplyLost, anyCommand),
		applyToCall: func(_ *run, c *call) error {
			c.loseReply = true
			return nil
		},
	},
	CommandLost: {
		options:     atCommands(CommandLost, anyCommand),
		applyToCall: func(r *run, c *call) error { return r.drop(c, "never arrives", errCommandLost) },
	},
	Refused: {
		options: atCommands(Refused, func(c *call) bool {
			return slices.Contains([]string{c.thread.run.scenario.Denies, "EVALSHA", "EVAL"}, c.command.Name)
		}),
		applyToCall: func(r *run, c *call) error {
			c.refused = true
			return r.world.probes.SetRight(context.Background(), "-"+r.scenario.Denies)
		},
	},
	// Commands to ZooKeeper cannot be late: a session's commands arrive in order, and none arrives after the
	// connection has closed. A delayed SQL command is the last one on its connection, because its sender does not
	// use the connection again. The transaction on that connection stays open until the delayed command arrives.
	Delayed: {
		options: atCommands(Delayed, canBeDelayed),
		applyToCall: func(r *run, c *call) error {
			a := c.thread.actor
			return r.drop(c, "is delayed", &tap.Late{Err: errNoAnswer, Keep: func(deliver func(context.Context) error) {
				a.report(func() {
					c.deliver = deliver
					a.delayed = append(a.delayed, c)
				})
			}})
		},
	},
	Arrives: {
		options: atActors(Arrives, func(a *actor) bool { return len(a.delayed) > 0 }),
		apply: func(ctx context.Context, r *run, a *actor, step *Step) error {
			l := a.delayed[0]
			a.delayed = slices.Delete(a.delayed, 0, 1)
			// The delivery runs as a new thread of the actor that sent the command.
			t := &thread{actor: a, isBackground: true}
			c := &call{thread: t, command: l.command, state: sent, step: len(r.schedule.Steps)}
			c.add()
			a.threads = append(a.threads, t)
			if r.peek {
				step.Backend, step.Command = c.command.Backend, l.text(r.world.names)
			}
			step.Result = "waits"
			// The delivery must not be interrupted, because it closes its connection at the end.
			ctx = context.WithoutCancel(ctx)
			r.programs.Go(func() {
				err := l.deliver(ctx)
				a.report(func() {
					r.callReturned(c, err)
					t.ended = true
				})
			})
			return nil
		},
	},
	ClockJumps: {
		options: atActors(ClockJumps, func(a *actor) bool {
			return a.isFirstOfProcess() && a.process.clockAhead.Load() == 0
		}),
		apply: func(_ context.Context, r *run, a *actor, _ *Step) error {
			a.process.clockAhead.Store(int64(r.world.leaseEndJump()))
			a.process.tainted = true // this process's clock is wrong now, so the next schedule uses another process
			return nil
		},
	},
	// The server is lost when the first buyer is about to send its first write to the database. The other buyers
	// then continue before this buyer does, unless the policy chooses otherwise.
	NodeLost: {
		options: func(r *run) []policy.Option {
			c := r.actors[0].program().nextCall()
			if r.world.options.Node == nil || c == nil || !writesRow(c) {
				return nil
			}
			return []policy.Option{{Choice: Choice{Fault: NodeLost}}}
		},
		apply: func(ctx context.Context, r *run, _ *actor, step *Step) error {
			step.Command = r.world.options.Node.Name
			r.lastThread, r.paused = nil, r.actors[0]
			begun := time.Now()
			defer func() { r.schedule.Outage = time.Since(begun) }()
			err := r.world.options.Node.Lose(ctx)
			if err == nil {
				err = r.world.awaitServers(ctx)
			}
			return err
		},
	},
}

var batchedID = regexp.MustCompile(`\((\d+), 'o`)

// atActors returns a function that offers the fault f at each actor for which the function canHit returns true.
func atActors(f Fault, canHit func(*actor) bool) func(*run) []policy.Option {
	return func(r *run) (list []policy.Option) {
		for _, a := range r.actors {
			if canHit(a) {
				list = append(list, policy.Option{Choice: Choice{Who: a.Name, Fault: f}})
			}
		}
		return list
	}
}

// mayLeaveUnheard reports whether the actor can leave while its next command is on its way. This needs a client that
// stops waiting for the answer when the context ends. The clients of ZooKeeper and etcd do so, but database/sql waits
// for the answer to a COMMIT.
func (a *actor) mayLeaveUnheard() bool {
	c := a.program().nextCall()
	return c != nil && !c.leavesUnheard && (c.command.Backend == tap.ZooKeeper || c.command.Backend == tap.Etcd)
}

// isFirstOfProcess reports whether the actor is the first active buyer of its process. A fault that hits a
// whole process is listed only for this buyer.
func (a *actor) isFirstOfProcess() bool {
	i := slices.IndexFunc(a.run.actors, func(o *actor) bool { return o.process == a.process && o.isActive() })
	return i >= 0 && a.run.actors[i] == a
}

// atCommands returns a function that offers the fault f at each command that a buyer or a renewer can send now and
// for which the function canHit returns true.
func atCommands(f Fault, canHit func(*call) bool) func(*run) []policy.Option {
	return func(r *run) (list []policy.Option) {
		for _, t := range r.runnable() {
			if canHit(t.nextCall()) {
				c := t.choice()
				c.Fault = f
				list = append(list, policy.Option{Choice: c, Preempts: r.preempts(t)})
			}
		}
		return list
	}
}

func anyCommand(c *call) bool { return c.command.Backend != Work }

func writesRow(c *call) bool {
	return c.command.Backend == tap.SQL && (c.command.Name == "INSERT" || c.command.Name == "UPDATE")
}

// drop makes the sender of c get err instead of an answer. The command is not sent.
func (r *run) drop(c *call, result string, err error) error {
	r.schedule.Steps[c.step].Result = result
	c.remove()
	return err
}

// targetCall returns the call that the choice c refers to. It is the next call of the buyer or, with c.Renewer, of
// the buyer's renewer. If there is no next call, it is the call in which the renewer sleeps.
func (r *run) targetCall(c Choice) *call {
	var sleeping *call
	for _, t := range r.actor(c.Who).threads {
		if t.isBackground != c.Renewer {
			continue
		}
		if next := t.nextCall(); next != nil {
			return next
		}
		sleeping = cmp.Or(sleeping, t.sleepingCall())
	}
	return sleeping
}

// isQueued reports whether the actor may have a place in a lock's queue in ZooKeeper or etcd. The end of the session
// would remove this place. The result is false if an actor of this process has the lock.
func (a *actor) isQueued() bool {
	return a.run.world.hasLock() && a.isActive() && (a.attempt.used[tap.ZooKeeper] || a.attempt.used[tap.Etcd]) &&
		!slices.ContainsFunc(a.run.actors, func(o *actor) bool { return o.process == a.process && o.lock != notHeld })
}

// endSession makes the servers end the session or the lease of the actor's process. It returns a description of what
// ended, or "". A live ZooKeeper client learns of the end before it can send another command; an etcd client does not.
func (r *run) endSession(ctx context.Context, of *actor) (string, error) {
	did, err := r.world.probes.GiveUp(ctx, r.world.sku, &of.holder)
	// The etcd client notices the end of its lease late, so no later schedule may use this process (see endLease).
	of.process.tainted = of.process.tainted || r.world.admin.Etcd != nil
	if zk := of.process.In.ZooKeeper; zk != nil && !of.outcome.Dead {
		zk.Expire()
	}
	return r.world.names.Normalize(strings.Join(did, "; ")), err
}

// leaseholders returns the actors that have the lock and whose lease has not ended. If the strategy
// is not a lock, it returns the actors that have an open transaction.
func (r *run) leaseholders() []*actor {
	var list []*actor
	for _, a := range r.actors {
		if (a.lock != notHeld || !r.world.hasLock() && a.inTransaction) && !a.expired {
			list = append(list, a)
		}
	}
	return list
}

func (r *run) lastLeaseholder() *actor {
	if all := r.leaseholders(); len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

// endLease ends the lease of the actor, or any lease if the actor is nil. The result describes what ended; it is "" if
// there was no lease. In every case the processes' clocks move ahead by a little more than a lease. Besides that,
// endLease ends the first of these that exists:
//
//  1. at the lock's server: the lock's key, its row, or the session or lease of the holder's process,
//  2. in the database: the connection that holds the lock or, without a lock, an open transaction,
//  3. with Scenario.Clears: the lock itself, which an operator removes.
//
// If keepAlive is true, endLease ends no session and no connection, because the holder's process keeps them alive.
func (r *run) endLease(ctx context.Context, of *actor, keepAlive bool) (what string, err error) {
	w := r.world
	var holder *probe.Holder
	if of != nil {
		holder = &of.holder
	}
	var did []string
	if !keepAlive || !w.keepsSessions() {
		if did, err = w.probes.Expire(ctx, w.sku, holder); err != nil {
			return "", err
		}
	}
	if did != nil && w.admin.Etcd != nil {
		// The process's etcd client notices the end of the lease late, which would disturb a later schedule. So no
		// later schedule uses the process.
		for _, p := range w.processes {
			p.tainted = p.tainted || of == nil || p == of.process
		}
	}
	inDatabase := !w.hasLock() || slices.Contains(w.info.Needs, backend.RowLocks)
	if did == nil && of != nil && inDatabase && !keepAlive {
		n, err := w.probes.Kill(ctx, of.process.sqlPorts())
		if err != nil {
			return "", err
		}
		if n > 0 {
			of.process.tainted = true
			did = append(did, "the server closes the holder's connections")
		}
	}
	w.clockOffset.Add(int64(w.leaseEndJump()))
	if of != nil {
		of.expired, of.outcome.Expired = true, true
	}
	if did == nil && of != nil && r.scenario.Clears {
		if c, ok := of.process.Locker.(lock.Clearer); ok && c.Clear(ctx, w.probes.Key(w.sku)) == nil {
			did = append(did, "an operator removes the lock")
		}
	}
	if did == nil && !w.hasLock() && w.ReadsClock() {
		did = append(did, "the processes' clocks move on by the time of a lease")
	}
	r.recordFault()
	if did != nil {
		_, err = r.fireTimers(ctx)
	}
	return w.names.Normalize(strings.Join(did, "; ")), err
}

// leaseEndJump returns how far the processes' clocks move when a lease ends.
func (w *World) leaseEndJump() time.Duration { return w.settings.LockLease + time.Second }

// killActor marks the actor as dead. The connections of its process are already closed.
func (r *run) killActor(a *actor) {
	a.outcome.Dead, a.lock = true, notHeld
	a.delayed = nil // the delayed commands are lost together with the process
	a.cancel(errDead)
	a.eachCall(func(c *call) {
		if c.state == ready || c.state == asleep {
			c.remove()
			c.answer <- errDead
		}
	})
}

// giveUp makes the servers end the sessions and leases of a dead buyer's process. This is a step that
// the policy did not choose.
func (r *run) giveUp(ctx context.Context, a *actor) error {
	return r.apply(ctx, policy.Option{Choice: Choice{Who: a.Name, Fault: GivenUp}}, false)
}

func canBeDelayed(c *call) bool {
	// A late BEGIN or ROLLBACK changes nothing, so it is never delayed.
	return slices.Contains([]string{tap.SQL, tap.Redis, tap.Etcd}, c.command.Backend) &&
		!slices.Contains([]string{"BEGIN", "ROLLBACK", "SUBSCRIBE", "watch"}, c.command.Name)
}
