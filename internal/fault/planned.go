package fault

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Planned is a fault that is injected at a time of a sale.
type Planned struct {
	Kind    Name `json:"kind"`
	Service int  `json:"service"`          // the service process that it hits, from 1; 0 of a fault at a holder
	At      int  `json:"at_ms"`            // after the buyers came
	For     int  `json:"for_ms,omitempty"` // how long it lasts, if it has an end of its own
	// Strategy of which a holder is waited for; "": the first that is sold with.
	Strategy string `json:"strategy,omitempty"`
	Busy     bool   `json:"-"` // as an Aim's
}

// AtHolder reports whether the fault waits for the holder of a lock.
func (p Planned) AtHolder() bool {
	known, _ := Find(p.Kind)
	return known.Holder
}

// A Happening is a planned fault, as it happened: when that was, and to which process.
type Happening struct {
	Planned
	Until int    `json:"until_ms,omitempty"`
	State State  `json:"state"`
	Error string `json:"error,omitempty"`
	// Effect says whether it took effect, and whether that could matter; nil
	// until that is known.
	Effect *Effect `json:"effect,omitempty"`
}

// A State is how far a fault has come.
type State string

const (
	IsPlanned State = "planned"
	IsWaiting State = "waiting" // for a holder
	IsOn      State = "on"
	IsOver    State = "over"
	HasFailed State = "failed" // it did not happen, or did not end; Error says why
)

// injecting bounds the injection of a fault, and its undoing; a restarted
// server has 30 s to answer.
const injecting = 40 * time.Second

// A Place is where an Injector injects; a Lab is one.
type Place interface {
	Inject(context.Context, Name, Aim) (*Injection, error)
}

// A Sale is a strategy and what is sold with it.
type Sale struct {
	Strategy string
	SKU      int64
}

// An Injector injects the faults of sales that begin together, each at its
// time. It undoes those that last when the sales end.
type Injector struct {
	place Place
	of    []Sale
	told  func(i int, h Happening) // how far a fault has come; nil: not called
	// sales are over when all buyers have their answers, and the ledger has been read,
	// or when they were stopped.
	sales context.Context
	end   context.CancelFunc

	mu     sync.Mutex
	faults []Happening
	all    sync.WaitGroup

	sale  time.Time     // when the buyers came,
	began chan struct{} // and this was closed
	begin func()        // the buyers come now; once
}

// NewInjector injects until ctx ends. told, unless nil, hears of every change of the
// i-th fault, counted from 0, from several goroutines.
func NewInjector(ctx context.Context, at Place, of []Sale, told func(i int, h Happening)) *Injector {
	in := &Injector{place: at, of: of, told: told, began: make(chan struct{})}
	in.sales, in.end = context.WithCancel(ctx)
	in.begin = sync.OnceFunc(func() {
		in.sale = time.Now()
		close(in.began)
	})
	return in
}

// Begin says that the buyers come now. Further calls do nothing.
func (in *Injector) Begin() { in.begin() }

// ErrEnded is why an Injector takes no more.
var ErrEnded = errors.New("the sales have ended")

// Add plans one more, for now if its time is over. The error is ErrEnded.
func (in *Injector) Add(p Planned) (Happening, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.sales.Err() != nil {
		return Happening{}, ErrEnded
	}
	select {
	case <-in.began:
		p.At = max(p.At, in.elapsed())
	default:
	}
	h := Happening{Planned: p, State: IsPlanned}
	if p.For > 0 {
		h.Until = p.At + p.For
	}
	i := len(in.faults)
	in.faults = append(in.faults, h)
	if in.told != nil {
		in.told(i, h)
	}
	in.all.Go(func() { in.perform(i, h) })
	return h, nil
}

// Faults are all that were added, as far as they have come.
func (in *Injector) Faults() []Happening {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.faults)
}

// tell notes how far a fault has come.
func (in *Injector) tell(i int, h Happening) {
	in.mu.Lock()
	in.faults[i] = h
	in.mu.Unlock()
	if in.told != nil {
		in.told(i, h)
	}
}

// End undoes what lasts, and returns when nothing does. It is called once.
func (in *Injector) End() {
	in.mu.Lock()
	in.end()
	in.mu.Unlock()
	in.all.Wait()
}

func (in *Injector) elapsed() int { return int(time.Since(in.sale).Milliseconds()) }

// perform waits for the time of a fault, injects it, and undoes what lasts: a
// pause when its time is over, all else when the sales are.
func (in *Injector) perform(i int, h Happening) {
	select {
	case <-in.began:
		in.wait(time.Until(in.sale.Add(time.Duration(h.At) * time.Millisecond)))
	case <-in.sales.Done():
	}
	if in.sales.Err() != nil {
		h.State, h.Error, h.Until = HasFailed, "the run ended before", 0
		in.tell(i, h)
		return
	}
	h.State, h.At, h.Until = IsOn, in.elapsed(), 0
	if h.AtHolder() {
		h.State = IsWaiting
	} else if h.For > 0 {
		h.Until = h.At + h.For
	}
	in.tell(i, h)
	happened, err := in.inject(h.Planned)
	if err == nil {
		h, err = in.last(i, h, happened)
	}
	h.State, h.Until = IsOver, in.elapsed()
	if err != nil {
		h.State, h.Error = HasFailed, err.Error()
	}
	in.tell(i, h)
}

// last reports a fault that is on, and undoes it in the end.
func (in *Injector) last(i int, h Happening, happened *Injection) (Happening, error) {
	effect := happened.Effect
	h.Effect = &effect
	if h.AtHolder() {
		h.At, h.Service = in.elapsed(), effect.Service
	}
	if happened.Undo == nil {
		return h, nil
	}
	if h.State = IsOn; h.For > 0 {
		h.Until = h.At + h.For
	}
	in.tell(i, h)
	if h.For > 0 {
		in.wait(time.Duration(h.For) * time.Millisecond)
	} else {
		<-in.sales.Done()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.sales), injecting)
	defer cancel()
	after := effect // of its own: the first is being read
	h.Effect = &after
	return h, happened.Undo(ctx, &after)
}

// inject outlives the sales: half a fault could not be undone. Waiting for a
// holder ends with them.
func (in *Injector) inject(p Planned) (*Injection, error) {
	ctx := in.sales
	if !p.AtHolder() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(in.sales), injecting)
		defer cancel()
	}
	at := max(0, slices.IndexFunc(in.of, func(s Sale) bool { return s.Strategy == p.Strategy }))
	return in.place.Inject(ctx, p.Kind, Aim{Service: p.Service, Strategy: in.of[at].Strategy, SKU: in.of[at].SKU,
		For: time.Duration(p.For) * time.Millisecond, Busy: p.Busy})
}

// wait returns when d is over, or the sales are.
func (in *Injector) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-in.sales.Done():
	}
}

// Outage is how long faults lasted that end by themselves: meanwhile a sale that
// stands still is not blocked. One that stands still because of a kill is.
func (in *Injector) Outage() time.Duration {
	type span struct{ from, to int }
	var spans []span
	for _, f := range in.Faults() {
		known, _ := Find(f.Kind)
		switch {
		case !known.Lasts && !known.Everywhere:
		case f.State == IsOn:
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
