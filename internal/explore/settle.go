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

const (
	// A computing buyer reports within this limit; otherwise some of their
	// commands bypass the tap.
	computeLimit = 20 * time.Second
	// A command returns, or its server reports that it waits, within this limit.
	commandLimit = 30 * time.Second
	// quiet gives goroutines that were just woken time to report. It decides
	// nothing alone: a server or a barrier is asked before any conclusion.
	quiet = time.Millisecond
	// surely is how much longer a command is waited for when the server's word may
	// be about the commands of others.
	surely = 10 * time.Millisecond
	// seenLimit bounds how long the server is asked for the connections that wait:
	// another client that keeps asking keeps MariaDB from renewing its list.
	seenLimit = time.Second
	// lateness is waited for before a buyer is called stuck.
	lateness = 200 * time.Millisecond
)

// settle waits until every thread stands before a command, waits inside a
// server, backs off, or has ended.
func (r *run) settle(ctx context.Context) error {
	begun := time.Now()
	r.steps.Store(int64(len(r.schedule.Steps)))
	r.waits = nil
	for passed := -1; ; { // the notes that had come when all barriers were passed
		r.drain()
		if r.anyRunning() {
			if err := r.await(ctx, computeLimit); err != nil {
				return fmt.Errorf("a buyer neither sends a command nor ends: %w", err)
			}
			continue
		}
		waits, away := r.inside()
		if len(waits)+len(away) == 0 {
			return r.rolledBack(ctx)
		}
		if (len(away) > 0 || passed == r.heard) && r.await(ctx, quiet) == nil {
			continue
		}
		if len(waits) > 0 && passed != r.heard { // what happened since may have made news
			passed = r.heard
			if err := passBarriers(ctx, waits); err != nil {
				return err
			}
			continue
		}
		if r.cut != nil && !slices.ContainsFunc(away, func(c *call) bool { return c.loseReply }) {
			if err := r.rolledBack(ctx); err != nil {
				return err
			}
			continue
		}
		if len(away) > 0 {
			n, err := r.waiting(ctx, away)
			if err != nil {
				return err
			}
			if n < len(away) {
				if time.Since(begun) > commandLimit {
					return fmt.Errorf("%v has no answer, and no server says that it waits", away)
				}
				continue
			}
			others := r.world.options.Shared || r.abandoned
			if others && r.await(ctx, surely) == nil {
				continue
			}
			if others && !r.seen(ctx, away) && time.Since(begun) < seenLimit {
				continue
			}
		}
		for _, c := range append(waits, away...) {
			if c.state != passing {
				c.state = blocked
			}
			c.actor.outcome.Waited = c.actor.outcome.Waited || c.helper == nil
		}
		return ctx.Err()
	}
}

// waiting counts the commands that wait inside the servers. ZooKeeper and etcd keep
// none waiting, so no server is asked while a command of theirs is away.
func (r *run) waiting(ctx context.Context, away []*call) (int, error) {
	if slices.ContainsFunc(away, func(c *call) bool { return c.command.Backend == tap.ZooKeeper || c.command.Backend == tap.Etcd }) {
		return 0, nil
	}
	return r.world.probes.Waiting(ctx)
}

// seen: the SQL server shows every command that is away as a connection that waits.
// What it says of them is kept for those who look.
func (r *run) seen(ctx context.Context, away []*call) bool {
	if !slices.ContainsFunc(away, inSQL) {
		return true
	}
	r.waits = r.world.probes.Waits(ctx)
	left := slices.Clone(r.waits)
	return !slices.ContainsFunc(away, func(c *call) bool {
		i := c.shownIn(left)
		if i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
		return inSQL(c) && i < 0
	})
}

func inSQL(c *call) bool { return c.command.Backend == tap.SQL }

// shownIn finds it among the connections that wait in the SQL server; -1: it is not there.
func (c *call) shownIn(waits []probe.Wait) int {
	ports := c.actor.process.ports()
	return slices.IndexFunc(waits, func(w probe.Wait) bool { return inSQL(c) && slices.Contains(ports, w.Port) })
}

// drain takes in the notes that are there.
func (r *run) drain() (any bool) {
	for {
		select {
		case note := <-r.notes:
			r.heard++
			note()
			any = true
		default:
			return any
		}
	}
}

func (r *run) anyRunning() bool {
	return slices.ContainsFunc(r.actors, func(a *actor) bool {
		return slices.ContainsFunc(a.threads, (*thread).running)
	})
}

// inside are the calls that are not back: waits in a process, and commands.
func (r *run) inside() (waits, away []*call) {
	for _, a := range r.actors {
		a.each(func(c *call) {
			switch {
			case !c.inside():
			case c.local():
				waits = append(waits, c)
			default:
				away = append(away, c)
			}
		})
	}
	return waits, away
}

// passBarriers returns when no notification is under way to a waiting call.
func passBarriers(ctx context.Context, waits []*call) error {
	for _, c := range waits {
		if c.command.Barrier == nil || c.actor.life != alive { // the dead ask no server; their wait is about to end
			continue
		}
		if err := c.command.Barrier(ctx); err != nil {
			return fmt.Errorf("ask whether news are under way for %s: %w", c, err)
		}
	}
	return nil
}

// cuts is called before a fault that may cut connections of p. A statement that
// waits there for a row notices nothing: the server counts it as a waiter still.
func (r *run) cuts(p *process) {
	r.cut, r.open = p, p.ports()
	_, away := r.inside()
	r.abandoned = r.abandoned || slices.ContainsFunc(away, func(c *call) bool {
		return c.actor.process == p && c.state == blocked && inSQL(c)
	})
}

// rolledBack waits until the SQL server has noticed the connections that a
// fault has cut, and has rolled back what they had begun: until then others
// wait for rows that have no holder any more.
func (r *run) rolledBack(ctx context.Context) error {
	if r.cut == nil {
		return nil
	}
	now := r.cut.ports()
	closed := slices.DeleteFunc(r.open, func(port string) bool { return slices.Contains(now, port) })
	r.cut = nil
	return r.world.probes.Gone(ctx, closed, true)
}

// await takes in one note.
func (r *run) await(ctx context.Context, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case note := <-r.notes:
		r.heard++
		note()
		return nil
	case <-timer.C:
		return errNothing
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

var errNothing = errors.New("nothing happened")
