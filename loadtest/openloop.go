package loadtest

import (
	"context"
	"sort"
	"sync"
	"time"
)

// An open loop sends requests when they are due, whatever became of those
// before them, so a service that stalls meets the buyers who come meanwhile. (A
// loop that waits for answers leaves them out: coordinated omission.)
//
// One worker leads. It waits until the next request is due, takes it, hands the
// lead to the worker that became free last, whose connection is warm, and
// sends. When no worker is free there is no leader until one is; requests that
// become due meanwhile wait, and the wait counts as their latency.
type openLoop struct {
	next       int           // request; the leader's
	workers    int           // there are
	most       int           // there may be
	free       []*openWorker // the last became free last
	leaderless bool
	waitedTill time.Duration // when a leader was last missing
	ended      bool
	lastIsDue  time.Duration
}

type openWorker struct {
	*worker
	lead  chan bool // true: lead now; false: the loop has ended
	timer *time.Timer
}

// fewWarm is how many connections are open before the first request.
const fewWarm = 8

func (l *load) runOpen(ctx context.Context) {
	o := &l.loop
	o.most = min(l.Connections, l.requests)
	o.lastIsDue = l.due(l.requests - 1)
	warm := min(o.most, fewWarm)
	if l.Profile == Spike {
		warm = o.most // the crowd has connected before the sale opens
	}
	var connecting sync.WaitGroup
	for turn := range warm {
		w := l.openWorker()
		o.free = append(o.free, w)
		connecting.Go(func() { w.connect(turn) })
	}
	connecting.Wait()
	for _, w := range o.free {
		l.all.Go(func() { w.work(ctx) })
	}
	l.begun = time.Now()
	l.promote(ctx)
	l.all.Wait()
}

func (l *load) openWorker() *openWorker {
	l.loop.workers++
	return &openWorker{worker: l.worker(), lead: make(chan bool, 1)}
}

// work leads and sends until the loop ends.
func (w *openWorker) work(ctx context.Context) {
	defer w.close()
	for <-w.lead {
		for leads := true; leads; {
			i, at, ok := w.take(ctx)
			if !ok {
				w.end(ctx)
				return
			}
			w.promote(ctx)
			w.request(i, at)
			if leads, ok = w.rejoin(); !ok {
				return
			}
		}
	}
}

// take waits for the next request. ok is false when no more are to be sent.
func (w *openWorker) take(ctx context.Context) (i int, at timing, ok bool) {
	o := &w.loop
	if o.next >= w.requests || ctx.Err() != nil {
		return i, at, false
	}
	i = o.next
	now := w.elapsed()
	if now > o.lastIsDue+w.Drain {
		return i, at, false
	}
	at.due = w.due(i)
	at.waited = at.due < o.waitedTill
	if wait := at.due - now; wait > 0 {
		if w.timer == nil {
			w.timer = time.NewTimer(wait)
		} else {
			w.timer.Reset(wait)
		}
		select {
		case <-w.timer.C:
		case <-ctx.Done():
			w.timer.Stop()
			return i, at, false
		}
		now = w.elapsed()
	}
	at.sent = now
	o.next++
	return i, at, true
}

// promote finds the next leader.
func (l *load) promote(ctx context.Context) {
	l.mu.Lock()
	o := &l.loop
	if last := len(o.free) - 1; last >= 0 {
		w := o.free[last]
		o.free = o.free[:last]
		l.mu.Unlock()
		w.lead <- true
		return
	}
	o.leaderless = o.workers >= o.most
	more := !o.leaderless
	l.mu.Unlock()
	if more {
		w := l.openWorker()
		w.lead <- true
		l.all.Go(func() { w.work(ctx) })
	}
}

// rejoin ends a worker's request: it leads if there is no leader. ok is false
// when the loop has ended.
func (w *openWorker) rejoin() (leads, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := &w.loop
	switch {
	case o.ended:
		return false, false
	case o.leaderless:
		o.leaderless, o.waitedTill = false, w.elapsed()
		return true, true
	}
	o.free = append(o.free, w)
	return false, true
}

// end ends the loop. Requests that are due, or that only their lateness kept
// from being sent, count as dropped.
func (w *openWorker) end(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := &w.loop
	o.ended = true
	for _, other := range o.free {
		other.lead <- false
	}
	o.free = nil
	left := w.requests - o.next
	if ctx.Err() != nil {
		now := w.elapsed()
		left = sort.Search(left, func(k int) bool { return w.due(o.next+k) > now })
	}
	w.tally.drop(left)
}
