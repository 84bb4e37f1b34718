package loadtest

import (
	"context"
	"sort"
	"sync"
	"time"
)

// fewWarm is how many connections are open before the first request.
const fewWarm = 8

// usualDrain is how long late requests are still sent after the last was due.
const usualDrain = time.Minute

// An open loop sends requests when they are due, whatever became of those
// before them, so a service that stalls meets the buyers who come meanwhile. (A
// loop that waits for answers leaves them out: coordinated omission.) When every
// worker is busy and there may be no more, requests wait for one, and that wait
// counts as their latency.
type openLoop struct {
	*load
	due  chan timedRequest
	free chan struct{} // a value for each free worker
	most int           // workers there may be
	are  int           // and there are
}

type timedRequest struct {
	index int
	at    timing
}

func (l *load) runOpen(ctx context.Context) {
	most := min(l.Connections, l.requests)
	o := &openLoop{load: l, due: make(chan timedRequest), free: make(chan struct{}, most), most: most}
	warm := min(most, fewWarm)
	if l.Profile == Spike {
		warm = most // the crowd has connected before the sale opens
	}
	var connecting sync.WaitGroup
	for turn := range warm {
		w := o.hire()
		o.free <- struct{}{}
		connecting.Go(func() { w.connect(turn) })
	}
	connecting.Wait()
	l.begun = time.Now()
	if sent := o.send(ctx); sent < l.requests {
		l.tally.drop(o.left(ctx, sent))
	}
	close(o.due)
	l.all.Wait()
}

// hire starts a worker.
func (o *openLoop) hire() *worker {
	w := o.worker()
	o.are++
	o.all.Go(func() {
		defer w.close()
		for r := range o.due {
			r.at.sent = o.elapsed()
			w.request(r.index, r.at)
			o.free <- struct{}{}
		}
	})
	return w
}

// send hands every request to a worker when it is due, and returns how many.
func (o *openLoop) send(ctx context.Context) int {
	end := time.NewTimer(o.load.due(o.requests-1) + o.drain)
	defer end.Stop()
	waitedTill := time.Duration(0) // when every worker was last busy
	for i := range o.requests {
		at := timing{due: o.load.due(i)}
		if wait := at.due - o.elapsed(); ctx.Err() != nil || wait > 0 && !o.pause(wait) {
			return i
		}
		select {
		case <-o.free:
		default:
			if o.are < o.most {
				o.hire()
				break
			}
			select {
			case <-o.free:
				waitedTill = o.elapsed()
			case <-ctx.Done():
				return i
			case <-end.C:
				return i
			}
		}
		at.waited = at.due < waitedTill
		o.due <- timedRequest{i, at}
	}
	return o.requests
}

// left is how many requests were due and not sent. Without an interruption only
// their lateness kept them from being sent.
func (o *openLoop) left(ctx context.Context, sent int) int {
	left := o.requests - sent
	if ctx.Err() != nil {
		now := o.elapsed()
		left = sort.Search(left, func(k int) bool { return o.load.due(sent+k) > now })
	}
	return left
}
