package loadtest

import (
	"context"
	"sync"
	"time"
)

// When a run is interrupted, buyers that are waiting get this much longer: an
// answer says more than an unknown outcome.
const interruptGrace = time.Second

// A caller asks the service for one buyer after the other, over connections of
// its own; *buyer is one.
type caller interface {
	sendPurchase(p purchase) reply
	sendCancellation(p purchase, id string) reply
	sendPayment(p purchase, id string) reply
	askOutcome(p purchase) (reply, bool)
	connectTo(turn int)
	closeConnections()
}

// A load sends the requests of a plan.
type load struct {
	*plan
	tally     *tally
	newCaller func() caller
	started   time.Time

	maxConnections     int           // the most of an open loop
	drain, finalWithin time.Duration // of an open loop, of what is accepted

	stopped  <-chan struct{}
	inFlight sync.WaitGroup // requests

	mu          sync.Mutex
	idleWorkers []*worker
	copies      sync.WaitGroup // in flight, and what was accepted

	accepted []acceptedRequest
	asking   bool // askForAll runs
}

func newLoad(p *plan, t *tally, open func() caller) *load {
	return &load{plan: p, tally: t, newCaller: open, maxConnections: defaultConnections, drain: defaultDrain, finalWithin: defaultFinalWithin}
}

// A worker is a caller that makes one call at a time.
type worker struct {
	*load
	caller
}

// take returns a free worker, or a new one.
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

// warm makes n workers that have a connection each.
func (l *load) connectWorkers(n int) {
	var connecting sync.WaitGroup
	for i := range n {
		w := l.takeWorker()
		connecting.Go(func() { w.connectTo(i) })
		defer l.returnWorker(w)
	}
	connecting.Wait()
}

// run sends every request that ctx allows, and returns when every buyer has an
// answer or has given up. Copies may still be in flight: see finish.
//
// An open loop sends requests when they are due, whatever became of those before them,
// so a service that stalls meets the buyers who come meanwhile. (A loop that waits
// for answers leaves them out: coordinated omission.) When every connection is busy
// and there may be no more, requests wait for one, and that wait counts as their
// latency.
func (l *load) sendRequests(ctx context.Context) {
	l.stopped = ctx.Done()
	most, warm := min(l.maxConnections, l.requests), initialConnections
	switch l.Profile {
	case Closed:
		most = min(l.Concurrency, l.requests)
		warm = most // a short run must not measure handshakes
	case Spike:
		warm = most // the crowd has connected before the sale opens
	}
	l.connectWorkers(min(most, warm))
	l.started = time.Now()
	sent := l.sendWhenDue(ctx, make(chan struct{}, most))
	if ctx.Err() == nil { // only their lateness kept the others from being sent
		l.tally.updateResult(func(r *Result) { r.Dropped = l.requests - sent })
	}
	l.inFlight.Wait()
}

// finish waits for the copies in flight, and for what was accepted.
func (l *load) finishCopies() {
	l.copies.Wait()
	for _, w := range l.idleWorkers {
		w.closeConnections()
	}
}

func (l *load) sinceStart() time.Duration { return time.Since(l.started) }

// pause waits; false: the run has ended.
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

const (
	defaultConnections = 1000
	// fewWarm is how many connections are open before the first request.
	initialConnections = 8
	// usualDrain is how long late requests are still sent after the last was due.
	defaultDrain = time.Minute
)

// send sends every request when it is due and fits into busy, and returns how many
// were sent. In a closed loop each is due when it fits.
func (l *load) sendWhenDue(ctx context.Context, busy chan struct{}) int {
	var end <-chan time.Time
	if l.Open() {
		end = time.After(l.dueAt(l.requests-1) + l.drain)
	}
	waitedTill := time.Duration(0) // when every connection was last busy
	for i := range l.requests {
		at := timing{due: l.dueAt(i)}
		if wait := at.due - l.sinceStart(); ctx.Err() != nil || wait > 0 && !l.pauseFor(wait) {
			return i
		}
		select {
		case busy <- struct{}{}:
		default:
			select {
			case busy <- struct{}{}:
				waitedTill = l.sinceStart()
			case <-ctx.Done():
				return i
			case <-end:
				return i
			}
		}
		at.connectionsBusy = at.due < waitedTill
		l.inFlight.Go(func() {
			w := l.takeWorker()
			if at.sent = l.sinceStart(); !l.Open() {
				at.due, at.connectionsBusy = at.sent, true
			}
			w.makeRequest(i, at)
			l.returnWorker(w)
			<-busy
		})
	}
	return l.requests
}
