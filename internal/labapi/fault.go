package labapi

import (
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

// A Fault of a run, as it happened.
type Fault struct {
	Kind     fault.Name `json:"kind"`
	Service  int        `json:"service"`            // 0 of a fault at a holder: the one that has it
	Strategy string     `json:"strategy,omitempty"` // whose holder it hits
	At       int        `json:"at_ms"`              // after the buyers came: planned, then real
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

// mostFaults bounds the faults of one run.
const mostFaults = 50

// injecting bounds the injection of a fault, and its undoing; a restarted
// server has 30 s to answer.
const injecting = 40 * time.Second

// An injector injects the faults of a run that is on. It undoes those that last
// when the run ends.
type injector struct {
	lab  Lab
	of   []Lane               // of the run: a copy, because the run's change
	told func(i int, f Fault) // how far a fault has come
	ctx  context.Context      // done: the run was stopped

	mu    sync.Mutex
	count int
	over  bool
	all   sync.WaitGroup

	sale  time.Time     // when the buyers came,
	began chan struct{} // and this was closed
	ended chan struct{} // closed when all buyers have their answers, and the ledger has been read
	begin func()        // the buyers come now; once
}

func newInjector(ctx context.Context, l Lab, of []Lane, told func(int, Fault)) *injector {
	in := &injector{lab: l, of: of, told: told, ctx: ctx, began: make(chan struct{}), ended: make(chan struct{})}
	in.begin = sync.OnceFunc(func() {
		in.sale = time.Now()
		close(in.began)
	})
	return in
}

// add plans one more, for now if its time is over; ok is false if the run has
// ended, or has mostFaults already.
func (in *injector) add(p PlannedFault) (f Fault, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.over || in.ctx.Err() != nil || in.count == mostFaults {
		return f, false
	}
	select {
	case <-in.began:
		p.At = max(p.At, in.elapsed())
	default:
	}
	f = Fault{Kind: p.Kind, Service: p.Service, Strategy: p.Strategy, At: p.At, State: FaultPlanned}
	if p.For > 0 {
		f.Until = p.At + p.For
	}
	i := in.count
	in.count++
	in.told(i, f)
	in.all.Go(func() { in.perform(i, f, p) })
	return f, true
}

// end undoes what lasts, and returns when nothing does.
func (in *injector) end() {
	in.mu.Lock()
	in.over = true
	in.mu.Unlock()
	close(in.ended)
	in.all.Wait()
}

func (in *injector) elapsed() int { return int(time.Since(in.sale).Milliseconds()) }

// perform waits for the time of a fault, injects it, and undoes what lasts: a
// pause when its time is over, or when the run was stopped; else after the run.
func (in *injector) perform(i int, f Fault, p PlannedFault) {
	if !in.awaitSale() || !in.wait(time.Until(in.sale.Add(time.Duration(p.At)*time.Millisecond))) {
		f.State, f.Error, f.Until = FaultFailed, "the run ended before", 0
		in.told(i, f)
		return
	}
	f.State, f.At, f.Until = FaultOn, in.elapsed(), 0
	if p.atHolder() {
		f.State = FaultWaiting
	} else if p.For > 0 {
		f.Until = f.At + p.For
	}
	in.told(i, f)
	happened, err := in.inject(p)
	if err == nil {
		f, err = in.last(i, f, p, happened)
	}
	f.State, f.Until = FaultOver, in.elapsed()
	if err != nil {
		f.State, f.Error = FaultFailed, err.Error()
	}
	in.told(i, f)
}

// last reports a fault that is on, and undoes it in the end.
func (in *injector) last(i int, f Fault, p PlannedFault, happened *fault.Injection) (Fault, error) {
	effect := happened.Effect
	f.Effect = &effect
	if p.atHolder() {
		f.At, f.Service = in.elapsed(), effect.Service
	}
	if !happened.Lasts() {
		return f, nil
	}
	if f.State = FaultOn; p.For > 0 {
		f.Until = f.At + p.For
	}
	in.told(i, f)
	if p.For > 0 {
		in.wait(time.Duration(p.For) * time.Millisecond)
	} else {
		<-in.ended
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.ctx), injecting)
	defer cancel()
	after, err := happened.Undo(ctx) // of its own: the first is being read
	f.Effect = &after
	return f, err
}

// inject outlives the run: half a fault could not be undone. Waiting for a
// holder ends with it.
func (in *injector) inject(p PlannedFault) (*fault.Injection, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.ctx), injecting)
	if p.atHolder() {
		ctx, cancel = context.WithCancel(context.WithoutCancel(in.ctx))
		defer context.AfterFunc(in.ctx, cancel)()
		go func() {
			select {
			case <-in.ended:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	defer cancel()
	at := max(0, slices.IndexFunc(in.of, func(l Lane) bool { return l.Strategy == p.Strategy }))
	return in.lab.Inject(ctx, p.Kind, fault.Aim{Service: p.Service, Strategy: in.of[at].Strategy, SKU: in.of[at].SKU,
		For: time.Duration(p.For) * time.Millisecond})
}

func (in *injector) awaitSale() bool {
	select {
	case <-in.began:
		return true
	case <-in.ended:
	case <-in.ctx.Done():
	}
	return false
}

// wait is false if the run ended, or was stopped, before d was over.
func (in *injector) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-in.ended:
	case <-in.ctx.Done():
	case <-timer.C:
		return in.ctx.Err() == nil
	}
	return false
}

// outage is how long faults lasted that end by themselves: meanwhile a sale that
// stands still is not blocked. One that stands still because of a kill is.
func (in *injector) outage(faults []Fault) time.Duration {
	type span struct{ from, to int }
	var spans []span
	for _, f := range faults {
		known, _ := fault.Find(f.Kind)
		switch {
		case !known.Lasts && !known.Everywhere:
		case f.State == FaultOn:
			spans = append(spans, span{f.At, in.elapsed()})
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
// goes before the names of its fields.
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
		p.Blame(at+"service", "unused", map[string]any{"kind": f.Kind}, "the fault hits the process that has a holder: leave it out")
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

// anyService means that the request names none.
const anyService = -1

// atHolder reports whether the fault waits for the holder of a lock.
func (f PlannedFault) atHolder() bool {
	known, _ := fault.Find(f.Kind)
	return known.Holder
}

// readKnown reads the counterexamples of the guarantee matrix, if there is one.
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

// known are the schedules that break the strategy of a lane that held.
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
