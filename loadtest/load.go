package loadtest

import (
	"context"
	"strconv"
	"sync"
	"time"

	"seckill/internal/judge"
)

// interruptGrace is how long buyers still wait for their answers after a run was interrupted, because an
// answer tells the judge more than an unknown outcome.
const interruptGrace = time.Second

// A caller makes the calls of many buyers, one call after the other, over connections of its own.
// The type *buyer implements it.
type caller interface {
	sendPurchase(p purchase) reply
	sendCancellation(p purchase) reply
	sendPayment(p purchase) reply
	sendRestock(p purchase) reply
	// askOutcome asks for the outcome of an accepted purchase. It returns false if the service has not decided yet.
	askOutcome(p purchase) (reply, bool)
	// connectTo opens a connection to a target before the load begins. The parameter turn selects the
	// target: 0 is the first, 1 the second, and after the last target the first follows again.
	connectTo(turn int)
	closeConnections()
}

type load struct {
	plan      *plan
	tally     *tally
	newCaller func() caller
	limits    limits
	started   time.Time
	stopped   <-chan struct{}
	inFlight  sync.WaitGroup // requests to which the buyers have no answer yet
	copies    sync.WaitGroup // calls in the background, restocks, and accepted requests without a final answer

	mu sync.Mutex
	loadState
}

// A loadState has the fields of a load that mu guards.
type loadState struct {
	idleWorkers []*worker
	accepted    []acceptedRequest
	asking      bool // true while the goroutine of askAllOutcomes runs
}

// limits bound how long a run waits, and how many connections there are.
type limits struct {
	connections int           // the maximum number of connections of an open loop
	drain       time.Duration // how long late requests may still be sent after the last request was due
	final       time.Duration // how long an accepted request waits for its final answer

	// settle limits how long the audit waits for purchases in flight. If one takes longer, the run is not valid.
	settle time.Duration
	poll   time.Duration // the time between two readings of the ledger
	quiet  time.Duration // how long the ledger must stay unchanged before the audit if a final answer is missing
}

var defaultLimits = limits{connections: 1000, drain: time.Minute, final: 30 * time.Second,
	settle: 30 * time.Second, poll: 200 * time.Millisecond, quiet: 5 * time.Second}

func newLoad(p *plan, t *tally, newCaller func() caller) *load {
	return &load{plan: p, tally: t, newCaller: newCaller, limits: defaultLimits}
}

// A worker makes one call at a time for the buyers of a load. It serves many buyers, one after the other.
type worker struct {
	load   *load
	caller caller
}

func (l *load) takeWorker() *worker {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := len(l.idleWorkers) - 1; last >= 0 {
		w := l.idleWorkers[last]
		l.idleWorkers = l.idleWorkers[:last]
		return w
	}
	return &worker{load: l, caller: l.newCaller()}
}

func (l *load) returnWorker(w *worker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idleWorkers = append(l.idleWorkers, w)
}

// goWithWorker runs f with a worker in a goroutine. finishCopies waits for the end of f.
func (l *load) goWithWorker(f func(*worker)) {
	l.copies.Go(func() {
		w := l.takeWorker()
		defer l.returnWorker(w)
		f(w)
	})
}

func (l *load) connectWorkers(n int) {
	var connecting sync.WaitGroup
	for i := range n {
		w := l.takeWorker()
		connecting.Go(func() { w.caller.connectTo(i) })
		defer l.returnWorker(w)
	}
	connecting.Wait()
}

// initialConnections is how many connections an open loop opens before its first request.
const initialConnections = 8

// sendRequests sends the requests until ctx ends. It returns when every buyer has an answer or has given up.
// Calls in the background may still be in flight: see finishCopies.
//
// An open loop sends every request when it is due, without waiting for answers. So buyers keep arriving
// while a service stalls. (A loop that waits for answers sends nothing in that time, so it misses the slow
// answers: coordinated omission.) If all connections are busy and no more are allowed, a request waits for
// a connection. This wait counts as latency.
func (l *load) sendRequests(ctx context.Context) {
	l.stopped = ctx.Done()
	maxBusy, connected := min(l.limits.connections, l.plan.requests), initialConnections
	switch l.plan.scenario.Profile {
	case Closed:
		maxBusy = min(l.plan.scenario.Concurrency, l.plan.requests)
		connected = maxBusy // Without open connections, a short run would mostly measure handshakes.
	case Spike:
		connected = maxBusy // In a spike, all buyers connect before the sale opens.
	}
	l.connectWorkers(min(maxBusy, connected))
	l.started = time.Now()
	l.startRestocks()
	sent := l.sendWhenDue(ctx, make(chan struct{}, maxBusy))
	// All requests were due, so a request that was not sent found no free connection in time.
	if ctx.Err() == nil {
		l.tally.updateResult(func(r *Result) { r.Dropped = l.plan.requests - sent })
	}
	l.inFlight.Wait()
}

// finishCopies waits for the calls that run in the background after their buyers have answers, and for the final
// answers to accepted requests. Then it closes the workers' connections.
func (l *load) finishCopies() {
	l.copies.Wait()
	for _, w := range l.idleWorkers {
		w.caller.closeConnections()
	}
}

// startRestocks starts a goroutine for each SKU and each restock of the scenario. The goroutine waits until
// the restock is due. finishCopies waits for all of these goroutines.
func (l *load) startRestocks() {
	s := l.plan.scenario
	for i, text := range s.Restock {
		units, due, _ := parseRestock(text) // Config.Check has rejected malformed texts.
		for k := range s.SKUs {
			sku := s.SKU + int64(k)
			key := l.plan.keyPrefix(sku) + "restock-" + strconv.Itoa(i)
			p := purchase{sku: sku, quantity: units, user: judge.OperatorOf(key), key: key}
			l.copies.Go(func() {
				if l.pauseFor(due) {
					l.goWithWorker(func(w *worker) { w.restock(p) })
				}
			})
		}
	}
}

func (l *load) sinceStart() time.Duration { return time.Since(l.started) }

// pauseFor waits for d. It returns false if the run is interrupted before the end of d.
func (l *load) pauseFor(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.stopped:
		return false
	}
}

// sendWhenDue sends every request when it is due and the channel busy has room. It returns the number of
// requests that were sent. In a closed loop, a request is due as soon as busy has room.
func (l *load) sendWhenDue(ctx context.Context, busy chan struct{}) int {
	var end <-chan time.Time
	scenario := l.plan.scenario
	if scenario.Open() {
		end = time.After(scenario.dueAt(l.plan.requests-1) + l.limits.drain)
	}
	allBusyAt := time.Duration(0) // the last time at which all connections were busy
	for i := range l.plan.requests {
		when := timing{due: scenario.dueAt(i)}
		if wait := when.due - l.sinceStart(); ctx.Err() != nil || wait > 0 && !l.pauseFor(wait) {
			return i
		}
		allBusy := len(busy) == cap(busy)
		select {
		case busy <- struct{}{}:
		case <-ctx.Done():
			return i
		case <-end:
			return i
		}
		if allBusy {
			allBusyAt = l.sinceStart()
		}
		when.connectionsBusy = when.due < allBusyAt
		l.inFlight.Go(func() {
			w := l.takeWorker()
			when.sent = l.sinceStart()
			if !scenario.Open() {
				when.due, when.connectionsBusy = when.sent, true
			}
			w.makeRequest(i, when)
			l.returnWorker(w)
			<-busy
		})
	}
	return l.plan.requests
}
