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
	// computeLimit is the maximum time between two commands of a buyer. A buyer that needs longer probably sends
	// commands without calling its tap.Tap.
	computeLimit = 20 * time.Second
	// commandLimit is the maximum time until a command returns or the server reports that the command waits.
	commandLimit = 30 * time.Second
	// replyTime is the time within which most commands return. Only after this time does settle ask a server which
	// commands wait, because the question slows the server down.
	replyTime = time.Millisecond
	// maxSilence limits how long a buyer stays silent before it counts as stuck.
	maxSilence = 200 * time.Millisecond
)

// settle returns when no actor will report anything before the next choice. Each thread then is about to send a
// command, waits inside a server, backs off, or has ended. To find out, settle asks the cheapest sources first: the
// actors' goroutines, then the waits inside processes (tap.Command.IsOver), then the servers. A report may change
// everything, so settle begins again after each report.
func (r *run) settle(ctx context.Context) error {
	r.steps.Store(int64(len(r.schedule.Steps)))
	r.serverWaits = nil
	startedAt := time.Now()
	for handledBefore, settled := -1, false; !settled; { // handledBefore is r.handled at the last call of anyIsOver
		var err error
		r.handleReports()
		waits, commands := r.unanswered()
		switch {
		case r.anyRunning():
			if err = r.awaitReport(ctx, computeLimit); err != nil {
				err = fmt.Errorf("a buyer neither sends a command nor ends: %w", err)
			}
		case len(waits)+len(commands) == 0:
			settled, err = true, r.awaitRollback(ctx)
		case len(commands) > 0 && r.awaitReport(ctx, replyTime) == nil:
		// If an actor has reported something since the last check, it may have sent an event that ends a wait.
		case len(waits) > 0 && handledBefore != r.handled:
			handledBefore = r.handled
			var over bool
			if over, err = anyIsOver(ctx, waits); over && err == nil {
				err = r.awaitReport(ctx, computeLimit)
			}
		case r.cutProcess != nil && !slices.ContainsFunc(commands, func(c *call) bool { return c.loseReply }):
			err = r.awaitRollback(ctx)
		default:
			if settled, err = r.allWaitInServers(ctx, commands); settled {
				markBlocked(append(waits, commands...))
				err = ctx.Err()
			} else if err == nil && time.Since(startedAt) > commandLimit {
				err = fmt.Errorf("%v has no answer, and no server says that it waits", commands)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func markBlocked(calls []*call) {
	for _, c := range calls {
		if c.state != passing {
			c.state = blocked
		}
		c.thread.outcome.Waited = c.thread.outcome.Waited || !c.thread.isBackground
	}
}

// allWaitInServers reports whether the servers list every unanswered command as waiting. It
// recognizes a command by its connection. ZooKeeper and etcd never let a command wait. So while a
// command to one of them is unanswered, the result is false and no server is asked.
func (r *run) allWaitInServers(ctx context.Context, commands []*call) (bool, error) {
	if len(commands) == 0 {
		return true, nil
	}
	if slices.ContainsFunc(commands, func(c *call) bool {
		return c.command.Backend == tap.ZooKeeper || c.command.Backend == tap.Etcd
	}) {
		return false, nil
	}
	waits, err := r.world.probes.Waits(ctx)
	if err != nil {
		return false, err
	}
	left := slices.Clone(waits)
	for _, c := range commands {
		i := c.indexIn(left)
		if i < 0 {
			return false, nil
		}
		left = slices.Delete(left, i, i+1)
	}
	r.serverWaits = waits
	return true, nil
}

// indexIn returns the index of c in waits, the commands that wait inside servers; -1 if c is not among them.
func (c *call) indexIn(waits []probe.Wait) int {
	ports := c.thread.process.In.Dialer.LocalPorts(c.command.Backend)
	return slices.IndexFunc(waits, func(w probe.Wait) bool {
		return w.Backend == c.command.Backend && slices.Contains(ports, w.Port)
	})
}

// handleReports calls the functions that have arrived as reports (see inbox). It returns false if there was none.
func (r *run) handleReports() bool {
	before := r.handled
	for {
		select {
		case note := <-r.reports:
			r.handled++
			note()
		default:
			return r.handled > before
		}
	}
}

func (r *run) anyRunning() bool {
	return slices.ContainsFunc(r.actors, func(a *actor) bool {
		return slices.ContainsFunc(a.threads, (*thread).isRunning)
	})
}

func (r *run) unanswered() (waits, commands []*call) {
	for _, a := range r.actors {
		a.eachCall(func(c *call) {
			switch {
			case !c.isUnanswered():
			case c.isWait():
				waits = append(waits, c)
			default:
				commands = append(commands, c)
			}
		})
	}
	return waits, commands
}

// anyIsOver reports whether one of the waits is over (tap.Command.IsOver). If so, the waiting actor soon reports this.
func anyIsOver(ctx context.Context, waits []*call) (bool, error) {
	anyOver := false
	for _, c := range waits {
		if c.thread.outcome.Dead || c.ctx.Err() != nil { // the wait ends because its actor has died, left or given up
			anyOver = true
			continue
		}
		over, err := c.command.IsOver(ctx)
		if err != nil {
			return false, fmt.Errorf("ask whether an event is under way to %s: %w", c, err)
		}
		anyOver = anyOver || over
	}
	return anyOver, nil
}

// awaitRollback waits until the SQL server has noticed which connections a fault has closed, and has rolled their
// transactions back. Until then, other buyers wait for rows whose holders have no connection any more.
func (r *run) awaitRollback(ctx context.Context) error {
	if r.cutProcess == nil {
		return nil
	}
	now := r.cutProcess.sqlPorts()
	closed := slices.DeleteFunc(r.portsBefore, func(port string) bool { return slices.Contains(now, port) })
	r.cutProcess = nil
	return r.world.probes.AwaitClosed(ctx, closed, true)
}

// awaitReport waits for the next report and runs it (see inbox). If none arrives within limit, it returns errNoReport.
func (r *run) awaitReport(ctx context.Context, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case note := <-r.reports:
		r.handled++
		note()
		return nil
	case <-timer.C:
		return errNoReport
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

var errNoReport = errors.New("nothing happened")
