package explore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A run is one order on its way.
type run struct {
	world    *World
	scenario *Scenario
	order    *Order
	actors   []*actor
	events   chan event
	over     chan struct{} // closed when the scheduler has gone
	programs sync.WaitGroup

	mu      sync.Mutex
	current map[*tap.Command]*stop // commands under way
	timers  map[*tap.Command]chan time.Time

	last   *actor // whose turn it was last
	faults int
	cut    *process // whose connections a fault has cut, perhaps
	open   []string // his connections before it
	moves  []move
	peek   bool

	idleTries int
}

// When nobody can go and no lease is left to end, whoever waits looks again so
// often before he gives up.
const maxIdleTries = 3

func (r *run) track(s *stop) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current[s.command] = s
}

func (r *run) untrack(c *tap.Command) *stop {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.current[c]
	delete(r.current, c)
	return s
}

func (r *run) timerOf(c *tap.Command) chan time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	ring := r.timers[c]
	delete(r.timers, c)
	return ring
}

// ringTimers ends every wait that has a limit, here or in Redis: a lease has
// ended, and whoever waits no longer than that looks again.
func (r *run) ringTimers(ctx context.Context) (any bool, err error) {
	for _, a := range r.actors {
		for s := range a.inside {
			if s.timer != nil && !s.rung {
				s.rung = true
				s.timer <- time.Time{}
				any = true
			}
		}
	}
	blocked, err := r.world.unblock(ctx)
	return any || blocked, err
}

const (
	// A buyer who computes is heard of within this, or something of his does
	// not pass the tap.
	computeLimit = 20 * time.Second
	// A command that is sent is back, or its server says that it waits,
	// within this.
	commandLimit = 30 * time.Second
	// quiet is how long goroutines that were just woken need to be heard of.
	// It decides nothing by itself: a server's word or a barrier comes first.
	quiet = time.Millisecond
	// lateness is waited for before anybody is called stuck.
	lateness = 50 * time.Millisecond
)

// settle waits until every buyer stands before a command, waits inside a
// server, backs off, or has finished.
func (r *run) settle(ctx context.Context) error {
	begun := time.Now()
	for barriers := false; ; {
		for drained := false; !drained; {
			select {
			case e := <-r.events:
				r.heed(e)
				barriers = false
			default:
				drained = true
			}
		}
		if slices.ContainsFunc(r.actors, (*actor).computing) {
			if err := r.await(ctx, computeLimit); err != nil {
				return fmt.Errorf("a buyer neither sends a command nor ends: %w", err)
			}
			barriers = false
			continue
		}
		var waits, sent []*stop
		for _, a := range r.actors {
			for s := range a.inside {
				if s.wait {
					waits = append(waits, s)
				} else {
					sent = append(sent, s)
				}
			}
		}
		if len(waits)+len(sent) == 0 {
			return r.rolledBack(ctx)
		}
		if r.await(ctx, quiet) == nil {
			barriers = false // what happened may have made news
			continue
		}
		if !barriers && len(waits) > 0 {
			barriers = true
			for _, s := range waits {
				if s.command.Barrier == nil {
					continue
				}
				if err := s.command.Barrier(ctx); err != nil && !s.actor.dead {
					return fmt.Errorf("ask whether news are under way for %s: %w", s, err)
				}
			}
			continue
		}
		if r.cut != nil && !slices.ContainsFunc(sent, func(s *stop) bool { return s.loseReply }) {
			if err := r.rolledBack(ctx); err != nil {
				return err
			}
			continue
		}
		if len(sent) > 0 {
			n, err := r.world.waiting(ctx)
			if err != nil {
				return err
			}
			if n < len(sent) {
				if time.Since(begun) > commandLimit {
					return fmt.Errorf("%v has no answer, and no server says that it waits", sent)
				}
				continue
			}
		}
		for _, s := range append(waits, sent...) {
			s.blocked = true
			s.actor.outcome.Waited = s.actor.outcome.Waited || !s.background
		}
		return ctx.Err()
	}
}

// cuts is called before a fault that may cut connections of p.
func (r *run) cuts(p *process) { r.cut, r.open = p, p.in.Dialer.LocalAddrs() }

// rolledBack waits until the SQL server has noticed the connections that a
// fault has cut, and has rolled back what they had begun: until then others
// wait for rows that nobody holds any more.
func (r *run) rolledBack(ctx context.Context) error {
	if r.cut == nil {
		return nil
	}
	now := r.cut.in.Dialer.LocalAddrs()
	closed := slices.DeleteFunc(r.open, func(addr string) bool { return slices.Contains(now, addr) })
	r.cut = nil
	return r.world.gone(ctx, closed, true)
}

// await heeds one event.
func (r *run) await(ctx context.Context, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case e := <-r.events:
		r.heed(e)
		return nil
	case <-timer.C:
		return errNothing
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

var errNothing = errors.New("nothing happened")

func (r *run) heed(e event) {
	a, s := e.actor, e.stop
	switch e.kind {
	case evStopped:
		if a.dead {
			s.answer <- errDead
			return
		}
		if s.fan > 1 && a.fan != s.fan {
			a.fan, a.arrived = s.fan, 0
		}
		if s.fan > 1 {
			a.arrived++
		}
		a.stops = append(a.stops, s)
	case evEntered:
		a.inside[s] = true
	case evLeft:
		delete(a.inside, s)
		if a.fan > 1 && a.arrived == a.fan && len(a.stops) == 0 && len(a.inside) == 0 {
			a.fan, a.arrived = 0, 0
		}
		if s.wait || s.passing {
			if s.blocked {
				r.woke(a)
			}
			return
		}
		step := &r.order.Steps[s.step]
		if e.err != nil {
			step.Result = "error"
			if r.peek {
				step.Result = r.world.anonymous(e.err.Error())
			}
		} else if !s.blocked {
			step.Result = ""
		}
		if s.blocked {
			r.woke(a)
		}
	case evAsleep:
		if a.dead {
			s.answer <- errDead
			return
		}
		if !s.background { // a renewer's time never comes: no time passes
			a.sleeping, a.attempt.failed = s, true
			a.outcome.Waited = true
		}
	case evAwake:
		if a.sleeping == s {
			a.sleeping = nil
		}
	case evHolds:
		for _, other := range r.actors {
			if other != a && other.holds {
				r.order.Overlaps = append(r.order.Overlaps, Overlap{Step: len(r.order.Steps) - 1,
					First: other.Name, Second: a.Name, Excused: other.expired})
			}
		}
		a.holds, a.leased, a.expired, a.passed, a.commits = true, true, false, true, e.tx
	case evFrees:
		a.holds = false
	case evFreed:
		a.leased = false
	case evDone:
		a.done, a.holds, a.leased = true, false, false
	}
}

func (r *run) woke(a *actor) {
	if n := len(r.order.Steps); n > 0 && r.last != a {
		step := &r.order.Steps[n-1]
		if !slices.Contains(step.Woke, a.Name) {
			step.Woke = append(step.Woke, a.Name)
		}
	}
}

// A move is a turn that may have changed something for those who back off.
type move struct {
	who     *actor // nil: a fault
	by      *attempt
	backend string
	holding bool // he had the lock already
}

// counts: it may have changed something for others who try. What somebody did
// to get the lock has not, unless he left without it: they would wake each
// other for ever.
func (m move) counts() bool {
	return m.who == nil || !m.by.failed && (m.who.run.world.info.Locker == nil || m.holding || m.who.done && !m.who.passed)
}

// An attempt is what a buyer does between two back-offs.
type attempt struct {
	began  int // index in moves
	used   map[string]bool
	failed bool // it ended in a back-off, so it changed nothing for anybody
}

func (r *run) begin(a *actor) { a.attempt = &attempt{began: len(r.moves), used: map[string]bool{}} }

func (r *run) moved(a *actor, backend string) {
	a.attempt.used[backend] = true
	r.moves = append(r.moves, move{a, a.attempt, backend, a.passed})
}

// everythingMoved: a fault may have changed anything.
func (r *run) everythingMoved() {
	for _, b := range []string{tap.SQL, tap.Redis, tap.ZooKeeper, tap.Etcd} {
		r.moves = append(r.moves, move{backend: b})
	}
}

// wake lets those try again who back off and for whom somebody may have
// changed something since their attempt began: a poll that nobody moved before
// fails as the last one did.
func (r *run) wake() (any bool) {
	for _, a := range r.actors {
		if a.sleeping == nil {
			continue
		}
		if slices.ContainsFunc(r.moves[a.attempt.began:], func(m move) bool {
			return m.counts() && m.who != a && (m.who == nil || a.attempt.used[m.backend])
		}) {
			r.begin(a)
			a.sleeping.answer <- nil
			a.sleeping = nil
			any = true
		}
	}
	return any
}

// wakeAll lets everybody try again who backs off.
func (r *run) wakeAll() (any bool) {
	for _, a := range r.actors {
		if a.sleeping != nil {
			r.begin(a)
			a.sleeping.answer <- nil
			a.sleeping = nil
			any = true
		}
	}
	return any
}

// An option is a choice that could be made, and whether it takes the turn from
// a buyer who could go on.
type option struct {
	Choice
	preempts bool
}

func (r *run) options() []option {
	var can []*actor
	for _, a := range r.actors {
		if !a.done && !a.dead && len(a.stops) > 0 {
			can = append(can, a)
		}
	}
	if len(can) == 0 {
		return nil
	}
	// Whoever went last goes on, unless he cannot.
	if i := slices.Index(can, r.last); i > 0 {
		can = append([]*actor{r.last}, slices.Delete(can, i, i+1)...)
	}
	var list []option
	for _, a := range can {
		list = append(list, option{Choice{Who: a.Name}, a != r.last && can[0] == r.last})
	}
	for _, a := range r.actors {
		if a.dead && !a.buried && (r.world.admin.ZooKeeper != nil || r.world.admin.Etcd != nil) {
			list = append(list, option{Choice{a.Name, GivenUp}, false})
		}
	}
	if r.faults >= r.scenario.MaxFaults {
		return list
	}
	for _, f := range r.scenario.Faults {
		switch f {
		case LeaseEnds:
			if slices.ContainsFunc(r.actors, func(a *actor) bool { return a.leased && !a.expired }) || r.world.info.Locker == nil {
				list = append(list, option{Choice{Fault: f}, false})
			}
		case Dies:
			for _, a := range r.actors {
				if !a.done && !a.dead {
					list = append(list, option{Choice{a.Name, f}, false})
				}
			}
		default:
			for _, a := range can {
				list = append(list, option{Choice{a.Name, f}, a != r.last && can[0] == r.last})
			}
		}
	}
	return list
}

func (r *run) actor(name string) *actor {
	for _, a := range r.actors {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// take makes one choice. The servers have settled before.
func (r *run) take(ctx context.Context, c option) error {
	if c.preempts {
		r.order.Preemptions++
	}
	step := Step{Choice: c.Choice, chosen: true}
	if c.Fault != "" && c.Fault != GivenUp {
		r.faults++
	}
	a := r.actor(c.Who)
	if a != nil && c.Fault != "" {
		r.cuts(a.process)
	}
	switch c.Fault {
	case LeaseEnds:
		what, err := r.endLease(ctx)
		if err != nil {
			return err
		}
		step.Command = what
		r.order.Steps = append(r.order.Steps, step)
		return nil
	case Dies:
		r.order.Steps = append(r.order.Steps, step)
		r.die(a)
		return nil
	}
	if c.Fault == GivenUp {
		return r.bury(ctx, a, true)
	}
	s := a.next()
	a.stops = slices.DeleteFunc(a.stops, func(other *stop) bool { return other == s })
	s.step = len(r.order.Steps)
	if r.peek {
		step.Backend, step.Command = a.describe(s)
	}
	if put := etcdPut.FindStringSubmatch(s.command.Text); put != nil && s.command.Backend == tap.Etcd {
		a.keys = append(a.keys, put[1])
	}
	if set := redisVote.FindStringSubmatch(s.command.Text); set != nil && s.command.Node != "" {
		a.votes = append(a.votes, set[1])
	}
	step.Result = "waits"
	r.order.Steps = append(r.order.Steps, step)
	r.last = a
	r.moved(a, s.command.Backend)
	if a.commits && (s.command.Name == "COMMIT" || s.command.Name == "ROLLBACK") {
		a.holds = false
	}
	if c.Fault == CommandLost {
		s.answer <- errCommandLost
		r.order.Steps[s.step].Result = "never arrives"
		return nil
	}
	s.loseReply = c.Fault == ReplyLost
	a.inside[s] = true
	s.answer <- nil
	return nil
}

// die closes the sockets of a's process; whatever he does from now on fails
// without reaching a server.
func (r *run) die(a *actor) {
	a.process.tainted = true
	a.dead, a.holds, a.leased = true, false, false
	a.outcome.Dead = true
	a.process.in.Kill()
	a.cancel(errDead)
	for _, s := range a.stops {
		s.answer <- errDead
	}
	a.stops = nil
	if a.sleeping != nil {
		a.sleeping.answer <- errDead
		a.sleeping = nil
	}
	r.everythingMoved()
}

// redisVote finds the token that is set on one of several nodes.
var redisVote = regexp.MustCompile(`^set \S+ (\S+) .*nx$`)

// etcdPut finds a key and its value.
var etcdPut = regexp.MustCompile(`\bput (\S+ "(?:[^"\\]|\\.)*")`)

// bury has the servers end what a dead buyer's process still has there.
func (r *run) bury(ctx context.Context, a *actor, chosen bool) error {
	a.buried = true
	what, err := r.world.giveUp(ctx, a.process, a.keys)
	r.order.Steps = append(r.order.Steps, Step{Choice: Choice{a.Name, GivenUp}, Command: what, chosen: chosen, ByItself: !chosen})
	r.everythingMoved()
	return err
}

// endLease ends the lease of whoever holds the lock.
func (r *run) endLease(ctx context.Context) (what string, err error) {
	var holder *actor
	for _, a := range r.actors {
		if a.leased && !a.expired {
			holder = a
		}
	}
	var of *process
	var votes []string
	if holder != nil {
		holder.expired, holder.outcome.Expired = true, true
		of, votes = holder.process, holder.votes
	}
	what, err = r.world.endLease(ctx, of, votes, r.scenario.Clears)
	r.everythingMoved()
	if err == nil && what != "" {
		_, err = r.ringTimers(ctx)
	}
	return what, err
}

// What the world comes to by itself, as steps of an order show it.
const (
	timePasses Fault  = "time passes"
	gaveUp     string = "gives up: nobody will ever wake him"
)

// wakesLate: somebody who seemed to wait was on his way. A thread of the SQL
// server that was given its row counts as waiting until it runs, and a busy
// machine lets it wait for that.
func (r *run) wakesLate(ctx context.Context) bool {
	for _, a := range r.actors {
		for s := range a.inside {
			if !s.background && (!s.wait || s.command.Barrier == nil) {
				return r.await(ctx, lateness) == nil
			}
		}
	}
	return false
}

// stuck is called when nobody can go and somebody has not finished: time
// passes. First a lease that is still there ends; when none is left, those who
// wait give up.
func (r *run) stuck(ctx context.Context) error {
	if r.wakesLate(ctx) {
		return nil
	}
	var waiting []*actor
	for _, a := range r.actors {
		if !a.done {
			waiting = append(waiting, a)
		}
	}
	for _, a := range r.actors {
		if a.dead && !a.buried && (r.world.admin.ZooKeeper != nil || r.world.admin.Etcd != nil) {
			for _, w := range waiting {
				w.outcome.WaitedFor++
			}
			return r.bury(ctx, a, false)
		}
	}
	what, err := r.endLease(ctx)
	if err != nil {
		return err
	}
	if what == "" && r.idleTries < maxIdleTries {
		r.idleTries++
		rang, err := r.ringTimers(ctx)
		if err != nil {
			return err
		}
		if r.wakeAll() || rang {
			what = "clocks move on by a lease, and those who wait look again"
		}
	}
	if what != "" {
		r.order.Steps = append(r.order.Steps, Step{Choice: Choice{Fault: timePasses}, Command: what})
		for _, a := range waiting {
			a.outcome.WaitedFor++
		}
		if r.settleAndWake(ctx) {
			return nil
		}
	}
	for _, a := range waiting {
		if a.dead || a.outcome.GaveUp {
			continue
		}
		a.outcome.GaveUp = true
		a.process.tainted = true
		r.order.Steps = append(r.order.Steps, Step{Choice: Choice{Who: a.Name}, Result: gaveUp})
		a.cancel(fmt.Errorf("%w: the buyer's time is up", context.DeadlineExceeded))
	}
	return r.settle(ctx)
}

func (r *run) settleAndWake(ctx context.Context) (goes bool) {
	if r.settle(ctx) != nil {
		return false
	}
	if r.wake() {
		return true
	}
	return slices.ContainsFunc(r.actors, func(a *actor) bool { return len(a.stops) > 0 }) || r.finished()
}

func (r *run) finished() bool {
	return !slices.ContainsFunc(r.actors, func(a *actor) bool { return !a.done })
}

// chooser picks one of the options; an error ends the order.
type chooser func(options []option, preemptions int) (int, error)

// play runs one order to its end.
func (w *World) play(ctx context.Context, s *Scenario, peek bool, choose chooser) (_ *Order, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("one order took a minute"))
	defer cancel()
	r := &run{world: w, scenario: s, order: &Order{Scenario: s}, peek: peek,
		events: make(chan event, 64), over: make(chan struct{}), current: map[*tap.Command]*stop{},
		timers: map[*tap.Command]chan time.Time{}}
	defer func() {
		close(r.over)
		for _, a := range r.actors {
			a.cancel(errDead)
		}
		r.programs.Wait()
		w.recycle()
	}()
	if err := w.fresh(ctx, s); err != nil {
		return nil, err
	}
	for i, b := range s.Buyers {
		if err := r.enter(ctx, b); err != nil {
			return nil, err
		}
		if s.InLine {
			if err := r.intoLine(ctx, r.actors[i], choose); err != nil {
				return r.order, err
			}
		}
		if i == 0 && s.DiesFirst {
			if err := r.untilDeath(ctx, choose); err != nil {
				return r.order, err
			}
		}
		// One after the other: what he does without a command, he does now.
		if err := r.settle(ctx); err != nil {
			return nil, err
		}
	}
	if err := r.through(ctx, choose); err != nil {
		return r.order, err
	}
	if slices.ContainsFunc(r.actors, func(a *actor) bool { return a.dead }) {
		r.order.Left = w.peek(ctx)
	}
	if s.Next {
		next := Buyer{Name: NextBuyer, Process: nextProcess, Quantity: 1, Does: s.Buyers[0].Does}
		if next.Does == Cancels {
			next.Does = Buys
		}
		if err := r.enter(ctx, next); err != nil {
			return r.order, err
		}
		if err := r.through(ctx, undisturbed); err != nil {
			return r.order, err
		}
	}
	for _, a := range r.actors {
		r.order.Buyers = append(r.order.Buyers, a.outcome)
	}
	return r.order, r.judge(ctx)
}

// intoLine lets a buyer go on until he has the lock, or waits for it.
func (r *run) intoLine(ctx context.Context, a *actor, choose chooser) error {
	for {
		if err := r.settle(ctx); err != nil {
			return err
		}
		if a.holds || len(a.stops) == 0 {
			r.last = nil // whoever goes next takes nobody's turn
			return nil
		}
		only := []option{{Choice: Choice{Who: a.Name}}}
		if _, err := choose(only, r.order.Preemptions); err != nil {
			return err
		}
		if err := r.take(ctx, only[0]); err != nil {
			return err
		}
	}
}

// untilDeath lets the only buyer go on until he dies, or is done. Then his
// connections, sessions and leases end.
func (r *run) untilDeath(ctx context.Context, choose chooser) error {
	a := r.actors[0]
	for {
		if err := r.settle(ctx); err != nil {
			return err
		}
		if a.dead || len(a.stops) == 0 {
			break
		}
		options := []option{{Choice: Choice{Who: a.Name}}, {Choice: Choice{a.Name, Dies}}}
		i, err := choose(options, r.order.Preemptions)
		if err != nil {
			return err
		}
		if err := r.take(ctx, options[i]); err != nil {
			return err
		}
	}
	if !a.dead {
		return nil
	}
	if r.world.admin.ZooKeeper != nil || r.world.admin.Etcd != nil {
		if err := r.bury(ctx, a, false); err != nil {
			return err
		}
	}
	what, err := r.endLease(ctx)
	if what == "" {
		what = "clocks move on by a lease"
	}
	r.order.Steps = append(r.order.Steps, Step{Choice: Choice{Fault: timePasses}, Command: what})
	return err
}

// NextBuyer is the name of the one who comes when all others are done.
const (
	NextBuyer   = "next"
	nextProcess = 1000
)

// through goes on until every actor has finished.
func (r *run) through(ctx context.Context, choose chooser) error {
	for {
		if err := r.settle(ctx); err != nil {
			return err
		}
		if r.peek && len(r.order.Steps) > 0 {
			last := &r.order.Steps[len(r.order.Steps)-1]
			last.Values = r.world.peek(ctx)
		}
		if r.wake() {
			continue
		}
		options := r.options()
		switch {
		case len(options) > 0:
			i, err := choose(options, r.order.Preemptions)
			if err != nil {
				return err
			}
			if err := r.take(ctx, options[i]); err != nil {
				return err
			}
		case r.finished():
			return nil
		default:
			if err := r.stuck(ctx); err != nil {
				return err
			}
		}
	}
}

// enter starts a buyer; he stops before his first command.
func (r *run) enter(ctx context.Context, b Buyer) error {
	p, err := r.world.process(ctx, b.Process)
	if err != nil {
		return err
	}
	p.ahead.Store(int64(b.Ahead))
	a := &actor{Buyer: b, run: r, process: p, inside: map[*stop]bool{}, outcome: Outcome{Buyer: b}}
	a.ctx, a.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	r.actors = append(r.actors, a)
	r.begin(a)
	r.programs.Go(func() {
		a.outcome.Receipt, a.outcome.Err = r.world.perform(tap.With(a.ctx, a), p, b)
		a.tell(event{kind: evDone})
	})
	return nil
}

// NothingTaken reports whether the buyer was told for sure that he got nothing.
func (o Outcome) NothingTaken() bool { return o.Err != nil && !o.Dead && seckill.NothingTaken(o.Err) }
