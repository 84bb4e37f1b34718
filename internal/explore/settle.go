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
	// commandLimit is the maximum time until a command returns or its server says that it waits.
	commandLimit = 30 * time.Second
	// quiet is how long settle first waits for a report of an actor. If none arrives in this time, a report may
	// still arrive later. So settle then calls passBarriers and asks the servers.
	quiet = time.Millisecond
	// replyTime is the time within which most commands return. Only then does settle ask a server which commands wait,
	// because the question slows the server down. It asks earlier at a state where commands have waited before.
	replyTime = 5 * time.Millisecond
	// maxSilence limits how long a buyer stays silent before it counts as stuck.
	maxSilence = 200 * time.Millisecond
)

// settle returns when no actor will report anything before the next choice. Each thread then is about to send a
// command, waits inside a server, backs off, or has ended.
func (r *run) settle(ctx context.Context) error {
	r.steps.Store(int64(len(r.schedule.Steps)))
	r.serverWaits = nil
	s := settling{run: r, startedAt: time.Now(), handledBefore: -1}
	for {
		if settled, err := s.check(ctx); settled || err != nil {
			return err
		}
	}
}

// settling is the state of one call of settle.
type settling struct {
	*run
	startedAt time.Time
	// handledBefore is the number of reports that the run had handled (inbox.handled) when check last called
	// passBarriers (to learn whether the waits will end); -1 before the first call.
	handledBefore int
}

// check calls the functions that the actors have sent as reports. It returns true if no more will arrive. To find out,
// it asks the cheapest sources first: the actors' goroutines, then the waits (passBarriers), then the servers. A report
// may change everything. So after a report check returns false, and settle calls check again.
func (s *settling) check(ctx context.Context) (settled bool, err error) {
	s.handleReports()
	if s.anyRunning() {
		if err := s.awaitReport(ctx, computeLimit); err != nil {
			return false, fmt.Errorf("a buyer neither sends a command nor ends: %w", err)
		}
		return false, nil
	}
	waits, commands := s.unanswered()
	switch {
	case len(waits)+len(commands) == 0:
		return true, s.awaitRollback(ctx)
	case s.reportComes(ctx, commands):
		return false, nil
	// Actors have reported something since passBarriers was last called. These actors may have sent events that end
	// the waits.
	case len(waits) > 0 && s.handledBefore != s.handled:
		s.handledBefore = s.handled
		over, err := passBarriers(ctx, waits)
		if over && err == nil {
			err = s.awaitReport(ctx, computeLimit)
		}
		return false, err
	case s.cutProcess != nil && !slices.ContainsFunc(commands, func(c *call) bool { return c.loseReply }):
		return false, s.awaitRollback(ctx)
	}
	if blocked, err := s.allBlocked(ctx, commands); !blocked || err != nil {
		return false, err
	}
	for _, c := range append(waits, commands...) {
		if c.state != passing {
			c.state = blocked
		}
		c.thread.outcome.Waited = c.thread.outcome.Waited || !c.thread.isBackground
	}
	return true, ctx.Err()
}

// reportComes waits a short time for a report, and returns whether one has arrived. It waits replyTime, or only the
// time quiet if the commands waited inside their servers at this state before. If there are waits but no commands,
// it returns false at once, because only passBarriers can tell whether a wait will end.
func (s *settling) reportComes(ctx context.Context, commands []*call) bool {
	return len(commands) > 0 && (s.awaitReport(ctx, quiet) == nil ||
		!s.world.blockedBefore[s.stateKey()] && s.awaitReport(ctx, replyTime-quiet) == nil)
}

// allBlocked reports whether the servers say that each command waits. After commandLimit, a command
// that neither has an answer nor waits is an error.
func (s *settling) allBlocked(ctx context.Context, commands []*call) (bool, error) {
	if len(commands) == 0 {
		return true, nil
	}
	blocked, err := s.allWaitInServers(ctx, commands)
	if err != nil {
		return false, err
	}
	s.world.blockedBefore[s.stateKey()] = blocked
	if !blocked && time.Since(s.startedAt) > commandLimit {
		return false, fmt.Errorf("%v has no answer, and no server says that it waits", commands)
	}
	return blocked, nil
}

// stateKey describes the last choice and the state of each call. If all commands waited in their servers at a state
// with this key, they will probably wait again when another schedule reaches a state with the same key.
func (r *run) stateKey() string {
	text := r.lastSent
	for _, a := range r.actors {
		a.eachCall(func(c *call) { text += fmt.Sprintf("\n%s %d", c, c.state) })
	}
	return text
}

// allWaitInServers reports whether the servers list every unanswered command as waiting. It
// recognizes a command by its connection. ZooKeeper and etcd never let a command wait. So while a
// command to one of them is unanswered, the result is false and no server is asked.
func (r *run) allWaitInServers(ctx context.Context, commands []*call) (bool, error) {
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

// indexIn returns the index of c among commands that wait in the servers, or -1.
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

// unanswered returns the calls that have not returned: waits inside a process, and commands.
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

// passBarriers asks each waiting call whether its wait is over. The function tap.Command.Barrier answers this when all
// events that were sent so far have arrived. If a call is about to return, passBarriers returns true, and the call's
// actor will report the return.
func passBarriers(ctx context.Context, waits []*call) (bool, error) {
	anyOver := false
	for _, c := range waits {
		// A wait without a Barrier ends by itself. A wait also ends if its actor has died, left or given up.
		if c.command.Barrier == nil || c.thread.outcome.Dead || c.ctx.Err() != nil {
			anyOver = true
			continue
		}
		over, err := c.command.Barrier(ctx)
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

// awaitReport waits for the next report, a function, and calls it. It returns errNoReport if none arrives within limit.
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
