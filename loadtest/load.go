package loadtest

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest/adapter"
)

// When a run is interrupted, buyers that are waiting get this much longer: an
// answer says more than an unknown outcome.
const interruptGrace = time.Second

// A caller asks the service for one buyer after the other, over connections of
// its own; *buyer is one.
type caller interface {
	buy(p purchase, key []byte) adapter.Reply
	cancel(p purchase, id string) adapter.Reply
	pay(p purchase, id string) adapter.Reply
	// became asks what an accepted purchase came to; false: it is open.
	became(p purchase, key []byte) (r adapter.Reply, final bool)
	connect(turn int) // in advance; it may fail
	close()
}

// A load sends the requests of a plan.
type load struct {
	*plan
	tally *tally
	open  func() caller
	begun time.Time

	drain, finalWithin time.Duration // of an open loop, of what is accepted

	histories []*history // by SKU
	stopped   <-chan struct{}
	all       sync.WaitGroup

	mu     sync.Mutex
	spare  []*worker      // for copies, and to ask for final answers
	copies sync.WaitGroup // in flight

	promises promises
}

func newLoad(p *plan, t *tally, open func() caller) *load {
	return &load{plan: p, tally: t, open: open, histories: newHistories(p), drain: usualDrain, finalWithin: usualFinal}
}

type worker struct {
	*load
	caller
	key       []byte
	forCopies bool
}

// run sends every request that ctx allows, and returns when every buyer has an
// answer or has given up. Copies may still be in flight: see finish.
func (l *load) run(ctx context.Context) {
	l.stopped = ctx.Done()
	if l.Async {
		l.startAsking()
	}
	if l.Open() {
		l.runOpen(ctx)
	} else {
		l.runClosed(ctx)
	}
}

func (l *load) elapsed() time.Duration { return time.Since(l.begun) }

func (l *load) worker() *worker {
	return &worker{load: l, caller: l.open()}
}

// runClosed has every worker send its next request when it has an answer.
func (l *load) runClosed(ctx context.Context) {
	var next atomic.Int64
	workers := make([]*worker, min(l.Concurrency, l.requests))
	var connecting sync.WaitGroup
	for i := range workers {
		workers[i] = l.worker()
		if l.Connected {
			connecting.Go(func() { workers[i].connect(i) })
		}
	}
	connecting.Wait()
	l.begun = time.Now()
	for _, w := range workers {
		l.all.Go(func() {
			defer w.close()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= l.requests {
					return
				}
				now := l.elapsed()
				w.request(i, timing{due: now, sent: now, waited: true}) // nothing is due in a closed loop
			}
		})
	}
	l.all.Wait()
}

// request makes request i and records what came of it.
func (w *worker) request(i int, at timing) {
	p := w.purchase(i)
	if p.copied {
		w.sendCopies(p, at)
		return
	}
	w.key = w.plan.key(w.key[:0], i, p.sku)
	final := w.ask(p, w.key, at.sent)
	at.answered = final.at
	if w.Async && final.Outcome == ledger.OutcomeAccepted {
		w.promised(p, final, at)
		return
	}
	w.tally.record(p, final, at)
	w.afterwards(p, final)
}

// afterwards is what a buyer does with what they got.
func (w *worker) afterwards(p purchase, final finalReply) {
	if w.Reserve > 0 {
		w.payOrNot(p, final)
	}
	w.cancelOrder(p, final)
}

// cancelOrder cancels the order of a buyer who cancels: cancelling twice is
// cancelling once.
func (w *worker) cancelOrder(p purchase, final finalReply) {
	if !p.cancels || final.Outcome != ledger.OutcomeSold && final.Outcome != ledger.OutcomeReserved {
		return
	}
	r, doubt, _ := w.insist(p, slices.Clone(final.OrderID), ledger.Told{Call: ledger.CallCancel}, 0, ledger.OutcomeCancelled, w.tally.cancelAgain, w.cancel)
	w.tally.cancelled(p, r, doubt)
}

// insist makes a call about an order, and makes it again as a purchase is sent
// again, until it is done or refused. doubt: a call before the last had no answer,
// and may have done it. What is reserved has certainly not expired until holds.
func (w *worker) insist(
	p purchase, id []byte, as ledger.Told, holds time.Duration, done ledger.Outcome, again func(adapter.Reply), call func(purchase, string) adapter.Reply,
) (r adapter.Reply, doubt bool, at time.Duration) {
	for try := 0; ; try++ {
		sent := w.elapsed()
		r = call(p, string(id))
		at = w.elapsed()
		logged := r
		logged.OrderID, logged.Remaining = id, 0
		as.Sent, as.Answered, as.Early = sent, at, r.Outcome == ledger.OutcomeExpired && at < holds
		w.add(p, as, logged)
		if r.Outcome == done || !r.Again() || try >= w.Retry {
			return r, doubt, at
		}
		doubt = doubt || r.Outcome == ledger.OutcomeUnknown
		r = r.Clone()
		if !w.pause(w.before(p.index, try, r)) {
			return r, doubt, at
		}
		again(r)
		p.turn++
	}
}

// A history is every call about one SKU, for the judge.
type history struct {
	mu    sync.Mutex
	told  []ledger.Told
	index []uint32 // of each call's request in the plan
}

// newHistories has room for a history of each SKU: a large slice that grows is
// copied while buyers wait. Memory that stays empty is not used.
func newHistories(p *plan) []*history {
	all := make([]*history, p.SKUs)
	each := p.requests / p.SKUs
	for k := range all {
		all[k] = &history{told: make([]ledger.Told, 0, each+each/20), index: make([]uint32, 0, each+each/20)}
	}
	return all
}

// add records what a buyer was told by one call about p.
func (l *load) add(p purchase, t ledger.Told, r adapter.Reply) {
	t.RequestID, t.User, t.Quantity = string(l.plan.key(nil, p.index, p.sku)), p.user, p.quantity
	t.Outcome, t.OrderID, t.Remaining = r.Outcome, string(r.OrderID), r.Remaining
	if r.Silent() {
		t.Answered = 0
	}
	h := l.histories[p.sku-l.SKU]
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told, h.index = append(h.told, t), append(h.index, uint32(p.index))
}
