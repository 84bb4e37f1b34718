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
	close()
}

// A load sends the requests of a plan.
type load struct {
	*plan
	tally *tally
	open  func() caller
	begun time.Time

	connections        int           // the most of an open loop
	drain, finalWithin time.Duration // of an open loop, of what is accepted

	stopped <-chan struct{}
	all     sync.WaitGroup // requests

	mu     sync.Mutex
	free   []*worker
	copies sync.WaitGroup // in flight, and what was accepted

	promises []promise
	asking   bool // askForAll runs
}

func newLoad(p *plan, t *tally, open func() caller) *load {
	return &load{plan: p, tally: t, open: open, connections: usualConnections, drain: usualDrain, finalWithin: usualFinal}
}

// A worker is a caller that makes one call at a time.
type worker struct {
	*load
	caller
}

// take returns a free worker, or a new one.
func (l *load) take() *worker {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := len(l.free) - 1; last >= 0 {
		w := l.free[last]
		l.free = l.free[:last]
		return w
	}
	return &worker{load: l, caller: l.open()}
}

func (l *load) put(w *worker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, w)
}

// warm makes n workers that have a connection each.
func (l *load) warm(n int) {
	var connecting sync.WaitGroup
	for i := range n {
		w := l.take()
		connecting.Go(func() { w.connectTo(i) })
		defer l.put(w)
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
func (l *load) run(ctx context.Context) {
	l.stopped = ctx.Done()
	most, warm := min(l.connections, l.requests), fewWarm
	switch l.Profile {
	case Closed:
		most = min(l.Concurrency, l.requests)
		warm = most // a short run must not measure handshakes
	case Spike:
		warm = most // the crowd has connected before the sale opens
	}
	l.warm(min(most, warm))
	l.begun = time.Now()
	sent := l.send(ctx, make(chan struct{}, most))
	if ctx.Err() == nil { // only their lateness kept the others from being sent
		l.tally.count(func(r *Result) { r.Dropped = l.requests - sent })
	}
	l.all.Wait()
}

// finish waits for the copies in flight, and for what was accepted.
func (l *load) finish() {
	l.copies.Wait()
	for _, w := range l.free {
		w.close()
	}
}

func (l *load) elapsed() time.Duration { return time.Since(l.begun) }

// pause waits; false: the run has ended.
func (l *load) pause(d time.Duration) bool {
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
	usualConnections = 1000
	// fewWarm is how many connections are open before the first request.
	fewWarm = 8
	// usualDrain is how long late requests are still sent after the last was due.
	usualDrain = time.Minute
)

// send sends every request when it is due and fits into busy, and returns how many
// were sent. In a closed loop each is due when it fits.
func (l *load) send(ctx context.Context, busy chan struct{}) int {
	var end <-chan time.Time
	if l.Open() {
		end = time.After(l.due(l.requests-1) + l.drain)
	}
	waitedTill := time.Duration(0) // when every connection was last busy
	for i := range l.requests {
		at := timing{due: l.due(i)}
		if wait := at.due - l.elapsed(); ctx.Err() != nil || wait > 0 && !l.pause(wait) {
			return i
		}
		select {
		case busy <- struct{}{}:
		default:
			select {
			case busy <- struct{}{}:
				waitedTill = l.elapsed()
			case <-ctx.Done():
				return i
			case <-end:
				return i
			}
		}
		at.waited = at.due < waitedTill
		l.all.Go(func() {
			w := l.take()
			if at.sent = l.elapsed(); !l.Open() {
				at.due, at.waited = at.sent, true
			}
			w.request(i, at)
			l.put(w)
			<-busy
		})
	}
	return l.requests
}
