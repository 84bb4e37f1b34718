package loadtest

import (
	"context"
	"sort"
	"sync"
	"time"
)

// In an open loop requests are sent when they are due, whatever became of
// those before them: only so does a service that stalls meet the buyers who
// would have come meanwhile (the opposite is known as coordinated omission).
//
// One worker leads. He waits until the next request is due, takes it, hands
// the lead to the one who has been free for the shortest time, whose
// connection is warm, and sends. When nobody is free there is no leader until
// somebody is: the requests that become due meanwhile wait, and their buyers'
// time runs.
type waitingLine struct {
	next      int           // request; the leader's
	workers   int           // there are
	most      int           // there may be
	free      []*openWorker // the last has been free for the shortest time
	vacant    bool          // nobody leads
	vacantTo  time.Duration // when a leader was last missing
	ended     bool
	lastIsDue time.Duration
}

type openWorker struct {
	*worker
	lead  chan bool // it is your turn; false: there is nothing more to do
	timer *time.Timer
}

// fewWarm is how many connections are open before the first request.
const fewWarm = 8

func (s *storm) blowOpen(ctx context.Context) {
	l := &s.line
	l.most, l.lastIsDue = min(s.Connections, s.requests), s.due(s.requests-1)
	warm := min(l.most, fewWarm)
	if s.Profile == Spike {
		warm = l.most // a crowd that stands before closed doors
	}
	var connecting sync.WaitGroup
	for turn := range warm {
		w := s.hire()
		l.free = append(l.free, w)
		connecting.Go(func() { w.connect(turn) })
	}
	connecting.Wait()
	for _, w := range l.free {
		s.all.Go(func() { w.work(ctx) })
	}
	s.begun = time.Now()
	s.promote(ctx)
	s.all.Wait()
}

func (s *storm) hire() *openWorker {
	s.line.workers++
	return &openWorker{worker: s.worker(), lead: make(chan bool, 1)}
}

// work leads and sends until there is nothing more to do.
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
			w.send(i, at)
			if leads, ok = w.rejoin(); !ok {
				return
			}
		}
	}
}

// take waits for the next request. ok is false when no more are to be sent.
func (w *openWorker) take(ctx context.Context) (i int, at timing, ok bool) {
	l := &w.line
	if i = l.next; i >= w.requests || ctx.Err() != nil {
		return i, at, false
	}
	now := w.elapsed()
	if now > l.lastIsDue+w.Drain {
		return i, at, false
	}
	at.due = w.due(i)
	at.waited = at.due < l.vacantTo
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
	l.next++
	return i, at, true
}

// promote finds the next leader.
func (s *storm) promote(ctx context.Context) {
	s.mu.Lock()
	l := &s.line
	if last := len(l.free) - 1; last >= 0 {
		w := l.free[last]
		l.free = l.free[:last]
		s.mu.Unlock()
		w.lead <- true
		return
	}
	l.vacant = l.workers >= l.most
	hires := !l.vacant
	s.mu.Unlock()
	if hires {
		w := s.hire()
		w.lead <- true
		s.all.Go(func() { w.work(ctx) })
	}
}

// rejoin is for a worker who has sent. He leads if nobody does; ok is false
// when all is over.
func (w *openWorker) rejoin() (leads, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := &w.line
	switch {
	case l.ended:
		return false, false
	case l.vacant:
		l.vacant, l.vacantTo = false, w.elapsed()
		return true, true
	}
	l.free = append(l.free, w)
	return false, true
}

// end sends everybody home. What was due by now, or would have been sent at
// all but for its lateness, was dropped.
func (w *openWorker) end(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := &w.line
	l.ended = true
	for _, other := range l.free {
		other.lead <- false
	}
	l.free = nil
	left := w.requests - l.next
	if ctx.Err() != nil {
		now := w.elapsed()
		left = sort.Search(left, func(k int) bool { return w.due(l.next+k) > now })
	}
	w.tally.drop(left)
}
