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
	// Most commands are back by then. A server that is asked earlier whether they wait
	// has less time for them, and so is asked earlier only where they have waited before.
	usual = 5 * time.Millisecond
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
		moment := r.moment()
		if len(away) > 0 && !r.world.waited[moment] && r.await(ctx, usual-quiet) == nil {
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
			wait, err := r.waiting(ctx, away)
			if err != nil {
				return err
			}
			r.world.waited[moment] = wait
			if !wait {
				if time.Since(begun) > commandLimit {
					return fmt.Errorf("%v has no answer, and no server says that it waits", away)
				}
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

// moment says what was let go last, and where all commands are. At the same moment of
// another schedule, those that are away most likely wait again.
func (r *run) moment() string {
	text := r.went
	for _, a := range r.actors {
		a.each(func(c *call) { text += fmt.Sprintf("\n%s %d", c, c.state) })
	}
	return text
}

// waiting: each command that is away waits inside its server, which shows its connection.
// ZooKeeper and etcd keep none waiting, so no server is asked while a command of theirs is
// away.
func (r *run) waiting(ctx context.Context, away []*call) (bool, error) {
	if slices.ContainsFunc(away, func(c *call) bool { return c.command.Backend == tap.ZooKeeper || c.command.Backend == tap.Etcd }) {
		return false, nil
	}
	waits, err := r.world.probes.Waits(ctx)
	if err != nil {
		return false, err
	}
	left := slices.Clone(waits)
	for _, c := range away {
		i := c.shownIn(left)
		if i < 0 {
			return false, nil
		}
		left = slices.Delete(left, i, i+1)
	}
	r.waits = waits
	return true, nil
}

// shownIn finds it among the commands that wait in the servers; -1: it is not there.
func (c *call) shownIn(waits []probe.Wait) int {
	ports := c.actor.process.In.Dialer.LocalPorts(c.command.Backend)
	return slices.IndexFunc(waits, func(w probe.Wait) bool {
		return w.Backend == c.command.Backend && slices.Contains(ports, w.Port)
	})
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
