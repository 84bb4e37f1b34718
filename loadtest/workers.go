package loadtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/numbers"
)

// Workers send a run's load in place of this process, which prepares and judges it.
type Workers interface {
	// Count is how many there are.
	Count() int
	// Send has each of them send its part, and returns when all have brought back
	// what they have, or are lost. It calls progress from one goroutine at a time.
	Send(ctx context.Context, o Order, progress func(worker int, p Progress)) []Sent
}

// An Order is what all workers of a run are told.
type Order struct {
	Scenario Scenario
	Targets  []string
	Runs     []int64 // of each SKU
}

// A Sent is what became of one worker.
type Sent struct {
	Name string // for people
	// Err: the worker is lost, or could not do it. There is no haul.
	Err  error
	Haul *Haul
	// Calls are what its buyers were told, as SendPart packed them.
	Calls [][]byte
	// Its clock started between these moments, of one clock for all workers.
	Earliest, Latest time.Time
	Told             bool // to begin; else it has sent nothing
}

// A Worker's side of a run, as SendPart calls it.
type Worker struct {
	Number, Of int // from 0
	// Ready is called when connections are open, and returns when the run begins;
	// false: it does not. Begun is called when the clock has started.
	Ready func() bool
	Begun func()
	// Calls is called with what buyers were told, when all have ended.
	Calls func(packed []byte) error
}

// SendPart sends one worker's part of a run that another process prepares and
// judges. Of c it needs the authorities; the rest is in the
// order. The error is an ErrConfig, or one of w.Calls.
func SendPart(ctx context.Context, c Config, o Order, w Worker) (*Haul, error) {
	c.Scenario, c.Targets = o.Scenario, o.Targets
	c.Rest = true // of what the others leave
	if err := c.Check(); err != nil {
		return nil, err
	}
	if len(c.Targets) == 0 || len(o.Runs) != c.normal().SKUs || w.Number < 0 || w.Of < 1 || w.Number >= w.Of {
		return nil, configError("the order names no target, or not the run of each SKU")
	}
	c.Scenario = c.normal()
	r := newRun(c)
	r.plan.runs, r.plan.part = o.Runs, part{w.Number, w.Of}
	r.plan.Concurrency, r.plan.Connections = share(c.Concurrency, w), share(c.Connections, w)
	defer r.transport.CloseIdleConnections()
	client := newClient(r.Config)
	defer context.AfterFunc(ctx, func() { time.AfterFunc(interruptGrace, client.interrupt) })()
	cpu := startCPU()
	l := &load{plan: r.plan, tally: r.tally, open: func() caller { return client.newBuyer() }, start: w.Ready, going: w.Begun}
	finish := r.report()
	l.run(ctx)
	took := l.elapsed()
	r.result.GeneratorCPU, r.result.Processor.Generator = cpu.cores(), cpu.seconds()
	l.finish()
	finish()
	r.tally.summarize(r.result, took)
	h, err := r.tally.haul(took)
	if err != nil {
		return nil, err
	}
	h.Generator, h.Cores = r.result.Processor.Generator, r.result.GeneratorCPU
	h.Bottleneck, _ = r.result.bottleneck()
	return h, l.history.pack(w.Calls)
}

// share is a worker's part of a number, at least one.
func share(n int, w Worker) int { return max(1, part{w.Number, w.Of}.own(n)) }

// sendByWorkers is send by others.
func (r *run) sendByWorkers(ctx context.Context) (finish func() []Point) {
	meter := r.startMeter(ctx)
	call(r.Begin)
	seen := make([]Progress, r.Workers.Count())
	finish = r.report()
	r.result.Start = time.Now()
	servers := r.startServersTime()
	sent := r.Workers.Send(ctx, Order{Scenario: r.Scenario, Targets: r.Targets, Runs: r.plan.runs}, func(w int, p Progress) {
		seen[w] = p
		r.tally.follow(seen)
	})
	r.result.Processor.Servers = servers()
	r.tally.follow(nil)
	first := r.result.Start
	for _, s := range sent {
		if s.Told && s.Earliest.Before(first) {
			first = s.Earliest
		}
	}
	var took time.Duration
	logs := make([]*callLog, len(sent))
	for i, s := range sent {
		d, log := r.took(i, s, first)
		took, logs[i] = max(took, d), log
		if log != nil && !r.NoHistory {
			r.history = append(r.history, log)
		}
	}
	r.toldByOthers(logs)
	r.tally.summarize(r.result, took)
	call(r.End)
	meter.stop(context.WithoutCancel(ctx), r.result)
	r.neverSent(ctx)
	return finish
}

// toldByOthers counts buyers who were told sold by a copy that another worker sent
// than theirs, who counted another answer.
func (r *run) toldByOthers(logs []*callLog) {
	if r.Copies == 0 || r.NoHistory {
		return
	}
	type request struct {
		own   uint8 // the answer that their worker counted
		heard bool  // … any
		sold  bool  // by a copy of another
	}
	all := map[uint32]*request{}
	rank := func(outcome uint8) int { return slices.Index(ranking, recorded[outcome]) }
	for i, log := range logs {
		if log == nil {
			continue
		}
		for _, c := range (history{log}).records {
			if !c.is(flagSeveral) || c.is(flagCancel) || c.is(flagPay) {
				continue
			}
			q := all[c.index]
			if q == nil {
				q = &request{}
				all[c.index] = q
			}
			bought := recorded[c.outcome] == ledger.OutcomeSold
			switch own := int(c.index)%len(logs) == i; {
			case own && (!q.heard || rank(c.outcome) < rank(q.own)):
				q.own, q.heard = c.outcome, true
			case !own && bought:
				q.sold = true
			}
		}
	}
	for index, q := range all {
		if q.sold && q.heard {
			r.tally.soldAfterAll(r.plan.purchase(int(index)), q.own)
		}
	}
}

// soldAfterAll corrects what a request was counted as.
func (t *tally) soldAfterAll(p purchase, counted uint8) {
	switch recorded[counted] {
	case ledger.OutcomeSold, ledger.OutcomeReserved, ledger.OutcomeAccepted:
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &t.sums[p.sku-t.firstSKU]
	s.Sold += p.quantity
	t.units += p.quantity
	if recorded[counted] == ledger.OutcomeUnknown {
		s.Unknown -= p.quantity
	}
	if t.counts[counted] > 0 {
		t.counts[counted]--
		t.counts[outcomeIndex(ledger.OutcomeSold)]++
	}
}

// took takes over what became of a worker, and says how long that took and what its
// buyers were told; nil: it sent nothing.
func (r *run) took(i int, s Sent, first time.Time) (time.Duration, *callLog) {
	p := part{i, r.Workers.Count()}
	log := &callLog{}
	err := s.Err
	if err == nil {
		for _, packed := range s.Calls {
			if err = log.unpack(packed, r.plan.requests, s.Earliest.Sub(first), s.Latest.Sub(first)); err != nil {
				break
			}
		}
	}
	if err == nil {
		err = r.tally.add(s.Haul)
	}
	if err == nil {
		if h := s.Haul; h.Generator != nil {
			all := *h.Generator
			if r.result.Processor.Generator != nil {
				all += *r.result.Processor.Generator
			}
			r.result.Processor.Generator = &all
			r.result.GeneratorCPU += h.Cores
		}
		if own := p.own(r.plan.requests); s.Haul.Requests+s.Haul.Dropped < own {
			r.problem("%s was ended: it sent %s of %s", s.Name, numbers.Thousands(s.Haul.Requests), numbers.Count(own, "request"))
		}
		if s.Haul.Bottleneck != "" {
			r.problem("%s was the bottleneck: %s", s.Name, s.Haul.Bottleneck)
		}
		return s.Haul.Took, log
	}
	n := p.own(r.plan.requests)
	if !s.Told {
		r.problem("%s sent nothing: %v: %s of %s were never sent", s.Name, err, numbers.Thousands(n), numbers.Count(r.plan.requests, "request"))
		r.tally.drop(n)
		return 0, nil
	}
	log = &callLog{} // not half of it
	for k := range n {
		asked := r.plan.purchase(p.index(k))
		r.tally.unheard(asked)
		log.unheard(asked, s.Earliest.Sub(first), r.Reserve > 0)
	}
	for i := range r.plan.requests { // it also sent copies of what others asked for
		if asked := r.plan.purchase(i); asked.copied && i%r.Workers.Count() != p.mine {
			log.unheard(asked, s.Earliest.Sub(first), false)
		}
	}
	r.problem("%s was lost: %v: what its %s were told is not known", s.Name, err, numbers.Count(n, "buyer"))
	return 0, log
}

// follow has progress say what workers say, until nil.
func (t *tally) follow(all []Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.followed = nil
	if all == nil {
		return
	}
	sum := Progress{Counts: named(make([]int, len(t.counts)))}
	for _, p := range all {
		sum.Requests, sum.Units, sum.Late = sum.Requests+p.Requests, sum.Units+p.Units, sum.Late+p.Late
		for o, n := range p.Counts {
			sum.Counts[o] += n
		}
		sum.P50, sum.P99 = max(sum.P50, p.P50), max(sum.P99, p.P99)
		if p.Buyers > 0 && (sum.Buyers == 0 || p.Left < sum.Left) {
			sum.Left, sum.Buyers = p.Left, p.Buyers
		}
	}
	t.followed = &sum
}

// PartOf is how many of a scenario's requests a worker sends.
func PartOf(s Scenario, number, of int) int { return part{number, of}.own(s.Requests()) }

// CheckWorkers finds what several workers cannot do.
func CheckWorkers(s Scenario, workers int) error {
	switch {
	case s.Service != nil:
		return fmt.Errorf("several workers buy from our own service only: run seckill load without them for another one")
	case s.Cancellations > 0 || s.Reserve > 0:
		return fmt.Errorf("several workers only buy: leave out cancellations and reservations, or the workers")
	case s.Requests() < workers:
		return fmt.Errorf("there are fewer buyers than workers: give more --buyers, or fewer --workers")
	}
	return nil
}
