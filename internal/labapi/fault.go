package labapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/ledger"
	"seckill/internal/web"
)

// A Fault of a run, as it came about.
type Fault struct {
	Kind     fault.Name `json:"kind"`
	Service  int        `json:"service"`            // 0 of a fault at a holder: whichever has one
	Strategy string     `json:"strategy,omitempty"` // whose holder it befalls
	At       int        `json:"at_ms"`              // after the storm began: planned, then real
	Until    int        `json:"until_ms,omitempty"`
	State    FaultState `json:"state"`
	Error    string     `json:"error,omitempty"`
	// Effect says whether it took effect, and whether that could matter; nil
	// until that is known.
	Effect *fault.Effect `json:"effect,omitempty"`
}

// A FaultState is how far a fault has come.
type FaultState string

const (
	FaultPlanned FaultState = "planned"
	FaultWaiting FaultState = "waiting" // for a holder
	FaultOn      FaultState = "on"
	FaultOver    FaultState = "over"
	FaultFailed  FaultState = "failed" // it did not happen, or did not end; Error says why
)

// mostMishaps bounds what goes wrong in one run.
const mostMishaps = 50

// injecting bounds how long it may take to inject a fault or to undo it; a
// server that is started again is given 30 s to answer.
const injecting = 40 * time.Second

// mishaps are the faults of a run that is on. Whatever lasts of them is undone
// when they end.
type mishaps struct {
	lab  Lab
	of   Settings             // of the run
	told func(i int, f Fault) // how far a fault has come
	ctx  context.Context      // done: the run was stopped

	mu    sync.Mutex
	count int
	over  bool
	all   sync.WaitGroup

	storm time.Time     // when it began,
	began chan struct{} // and this is closed
	ended chan struct{} // closed when nobody buys any more, and the ledger has been read
	begin func()        // the storm begins now; once
}

func newMishaps(ctx context.Context, l Lab, of Settings, told func(int, Fault)) *mishaps {
	m := &mishaps{lab: l, of: of, told: told, ctx: ctx, began: make(chan struct{}), ended: make(chan struct{})}
	m.begin = sync.OnceFunc(func() {
		m.storm = time.Now()
		close(m.began)
	})
	return m
}

// add plans one more, for now if its time is over; ok is false if it is too
// late for that, or one too many.
func (m *mishaps) add(p PlannedFault) (f Fault, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over || m.ctx.Err() != nil || m.count == mostMishaps {
		return f, false
	}
	select {
	case <-m.began:
		p.At = max(p.At, m.elapsed())
	default:
	}
	f = Fault{Kind: p.Kind, Service: p.Service, Strategy: p.Strategy, At: p.At, State: FaultPlanned}
	if p.For > 0 {
		f.Until = p.At + p.For
	}
	i := m.count
	m.count++
	m.told(i, f)
	m.all.Go(func() { m.befall(i, f, p) })
	return f, true
}

// end undoes what lasts, and returns when nothing does.
func (m *mishaps) end() {
	m.mu.Lock()
	m.over = true
	m.mu.Unlock()
	close(m.ended)
	m.all.Wait()
}

func (m *mishaps) elapsed() int { return int(time.Since(m.storm).Milliseconds()) }

// befall waits for the time of a fault, injects it, and undoes what lasts: a
// pause when its time is over, or when the run was stopped; else after the run.
func (m *mishaps) befall(i int, f Fault, p PlannedFault) {
	if !m.awaitStorm() || !m.wait(time.Until(m.storm.Add(time.Duration(p.At)*time.Millisecond))) {
		f.State, f.Error, f.Until = FaultFailed, "the run ended before", 0
		m.told(i, f)
		return
	}
	f.State, f.At, f.Until = FaultOn, m.elapsed(), 0
	if p.atHolder() {
		f.State = FaultWaiting
	} else if p.For > 0 {
		f.Until = f.At + p.For
	}
	m.told(i, f)
	happened, err := m.inject(p)
	if err == nil {
		f, err = m.last(i, f, p, happened)
	}
	f.State, f.Until = FaultOver, m.elapsed()
	if err != nil {
		f.State, f.Error = FaultFailed, err.Error()
	}
	m.told(i, f)
}

// last tells of a fault that is on, and undoes it in the end.
func (m *mishaps) last(i int, f Fault, p PlannedFault, happened *fault.Injection) (Fault, error) {
	effect := happened.Effect
	f.Effect = &effect
	if p.atHolder() {
		f.At, f.Service = m.elapsed(), effect.Service
	}
	if !happened.Lasts() {
		return f, nil
	}
	if f.State = FaultOn; p.For > 0 {
		f.Until = f.At + p.For
	}
	m.told(i, f)
	if p.For > 0 {
		m.wait(time.Duration(p.For) * time.Millisecond)
	} else {
		<-m.ended
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), injecting)
	defer cancel()
	after, err := happened.Undo(ctx) // of its own: the first is being read
	f.Effect = &after
	return f, err
}

// inject does not end with the run: half a fault could not be undone. What only
// waits for a holder does.
func (m *mishaps) inject(p PlannedFault) (*fault.Injection, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), injecting)
	if p.atHolder() {
		ctx, cancel = context.WithCancel(context.WithoutCancel(m.ctx))
		defer context.AfterFunc(m.ctx, cancel)()
		go func() {
			select {
			case <-m.ended:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	defer cancel()
	strategy := cmp.Or(p.Strategy, m.of.Strategies[0])
	return m.lab.Inject(ctx, p.Kind, fault.Aim{Service: p.Service, Strategy: strategy,
		SKU: laneSKUs[slices.Index(m.of.Strategies, strategy)], For: time.Duration(p.For) * time.Millisecond})
}

func (m *mishaps) awaitStorm() bool {
	select {
	case <-m.began:
		return true
	case <-m.ended:
	case <-m.ctx.Done():
	}
	return false
}

// wait is false if the run ended, or was stopped, before d was over.
func (m *mishaps) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-m.ended:
	case <-m.ctx.Done():
	case <-timer.C:
		return m.ctx.Err() == nil
	}
	return false
}

// outage is for how long in all faults lasted that end by themselves: while one
// does, a sale that stands still is not blocked. What is killed stays dead, and
// what that brings to a stand is.
func (m *mishaps) outage(faults []Fault) time.Duration {
	type span struct{ from, to int }
	var spans []span
	for _, f := range faults {
		known, _ := fault.Find(f.Kind)
		switch {
		case !known.Lasts && !known.Everywhere:
		case f.State == FaultOn:
			spans = append(spans, span{f.At, m.elapsed()})
		case f.Effect != nil && (f.Effect.Took || known.Everywhere):
			spans = append(spans, span{f.At, f.Until})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	all, end := 0, 0
	for _, s := range spans {
		all += max(0, s.to-max(s.from, end))
		end = max(end, s.to)
	}
	return time.Duration(all) * time.Millisecond
}

// checkFault finds what is wrong with a fault, and sets how long it lasts; at
// is what stands before the names of its fields.
func (s *Server) checkFault(at string, f *PlannedFault, of Settings, p *web.Problem) {
	all := s.Lab.Faults()
	i := slices.IndexFunc(all, func(here lab.FaultStatus) bool { return here.Kind == f.Kind })
	switch {
	case i < 0:
		var kinds []string
		for _, here := range all {
			kinds = append(kinds, string(here.Kind))
		}
		p.Blame(at+"kind", "one_of", map[string]any{"values": kinds}, "give one of "+strings.Join(kinds, ", "))
	case !all[i].Available:
		p.Blame(at+"kind", "fault_unavailable", map[string]any{"kind": f.Kind, "why": all[i].Missing, "lack": all[i].Lack},
			"cannot be had here: "+all[i].Missing)
	}
	known, _ := fault.Find(f.Kind)
	switch {
	case known.Holder && (f.Service == anyService || f.Service == 0):
		f.Service = 0
	case known.Holder:
		p.Blame(at+"service", "unused", map[string]any{"kind": f.Kind}, "it befalls the process that has a holder: leave it out")
	case f.Service == anyService:
		f.Service = 1
	default:
		within(p, at+"service", int64(f.Service), 1, int64(max(1, of.Services)))
	}
	if known.Holder && f.Strategy == "" && len(of.Strategies) > 1 {
		f.Strategy = of.Strategies[0]
	}
	if f.Strategy != "" && !slices.Contains(of.Strategies, f.Strategy) {
		p.Blame(at+"strategy", "one_of", map[string]any{"values": of.Strategies}, "give one of the run's: "+strings.Join(of.Strategies, ", "))
	}
	within(p, at+"at_ms", int64(f.At), 0, int64(limits.At))
	switch {
	case known.Lasts && f.For == 0:
		f.For = min(of.Lease+beyond, limits.For)
	case known.Lasts:
		within(p, at+"for_ms", int64(f.For), 1, int64(limits.For))
	case f.For != 0:
		p.Blame(at+"for_ms", "unused", map[string]any{"kind": f.Kind}, "it has no end of its own: leave it out")
	}
}

// anyService: the request names none.
const anyService = -1

// atHolder: it waits for the holder of a lock.
func (f PlannedFault) atHolder() bool {
	known, _ := fault.Find(f.Kind)
	return known.Holder
}

// readKnown reads the counterexamples of the guarantee matrix. Without one, no
// order is known.
func (s *Server) readKnown() (fault.Counterexamples, error) {
	if s.Guarantees == nil {
		return nil, nil
	}
	f, err := s.Guarantees.Open("matrix.json")
	if err != nil {
		return nil, fmt.Errorf("the guarantee matrix cannot be read: %w", err)
	}
	defer f.Close()
	return fault.ReadCounterexamples(f)
}

// known are the orders that break the strategy of a lane, if it held all the
// same.
func (s *Server) known(r Run, lane int) []fault.Known {
	l := r.Lanes[lane]
	if l.Result == nil || l.Result.Verdict != ledger.Held {
		return nil
	}
	var met []fault.Name
	for _, f := range r.Faults {
		elsewhere := PlannedFault{Kind: f.Kind}.atHolder() && f.Strategy != "" && f.Strategy != l.Strategy
		if f.Effect != nil && f.Effect.Matters && !elsewhere {
			met = append(met, f.Kind)
		}
	}
	return s.counterexamples.Breaking(l.Strategy, r.Settings.Services, met...)
}
