package fault

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Planned is a fault that is injected at a certain time of a sale.
type Planned struct {
	Kind    Name `json:"kind"`
	Service int  `json:"service"`          // number of the service process, from 1; 0 for a fault at a holder
	At      int  `json:"at_ms"`            // milliseconds from the first requests to the fault
	For     int  `json:"for_ms,omitempty"` // duration in milliseconds of a fault that ends by itself
	// Strategy is the strategy whose sale is hit; "" stands for the first strategy of the run. A fault at a holder
	// waits for the holder of a lock of this strategy.
	Strategy string `json:"strategy,omitempty"`
}

// AtHolder reports whether the fault waits for the holder of a lock.
func (p Planned) AtHolder() bool {
	f, _ := Find(p.Kind)
	return f.AtHolder()
}

// A Happening is a planned fault with its progress. When the fault has happened, At and Service have the real time
// and process.
type Happening struct {
	Planned
	Until  int     `json:"until_ms,omitempty"`
	State  State   `json:"state"`
	Error  string  `json:"error,omitempty"`
	Effect *Effect `json:"effect,omitempty"` // nil until the fault has happened
}

// A State is the progress of a planned fault.
type State string

const (
	IsPlanned State = "planned"
	IsWaiting State = "waiting" // the fault waits for the holder of a lock
	IsOn      State = "on"
	IsOver    State = "over"
	HasFailed State = "failed" // the fault did not happen, or could not be ended; Error says why
)

// injectTimeout limits the time to inject a fault, and the time to undo it. A server that restarts has 30 s to answer.
const injectTimeout = 40 * time.Second

// A Sale is a strategy and the SKU that is sold with it.
type Sale struct {
	Strategy string
	SKU      int64
}

// An InjectFunc injects a fault. Lab.Inject is one.
type InjectFunc func(context.Context, Name, Aim) (*Injection, error)

// An Injector injects the planned faults of sales that begin at the same time. When the sales end, it undoes the
// faults that still last.
type Injector struct {
	inject   InjectFunc
	sales    []Sale
	onChange func(i int, h Happening) // may be nil

	running context.Context // ends when the sales end
	stop    context.CancelFunc

	mu     sync.Mutex
	faults []Happening
	all    sync.WaitGroup

	begin sync.Once     // sets the field begun and closes the channel ready
	begun time.Time     // the time of the first requests
	ready chan struct{} // closed when begun is set
}

// NewInjector returns an injector that injects faults until ctx ends. After each change of a fault, it calls
// onChange with the fault's index; onChange may be nil. The calls come from several goroutines.
func NewInjector(ctx context.Context, inject InjectFunc, sales []Sale, onChange func(i int, h Happening)) *Injector {
	in := &Injector{inject: inject, sales: sales, onChange: onChange, ready: make(chan struct{})}
	in.running, in.stop = context.WithCancel(ctx)
	return in
}

// Begin starts the clock of the planned faults. It is called when the first requests are sent. Further calls do
// nothing.
func (in *Injector) Begin() {
	in.begin.Do(func() {
		in.begun = time.Now()
		close(in.ready)
	})
}

// ErrEnded is the error with which Add refuses a fault after End.
var ErrEnded = errors.New("the sales have ended")

// Add plans one more fault. If its time has passed, it happens at once. After End, Add returns ErrEnded.
func (in *Injector) Add(p Planned) (Happening, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.running.Err() != nil {
		return Happening{}, ErrEnded
	}
	select {
	case <-in.ready:
		p.At = max(p.At, in.elapsedMS())
	default:
	}
	h := Happening{Planned: p, State: IsPlanned}
	if p.For > 0 {
		h.Until = p.At + p.For
	}
	i := len(in.faults)
	in.faults = append(in.faults, h)
	if in.onChange != nil {
		in.onChange(i, h)
	}
	in.all.Go(func() { in.runFault(i, h) })
	return h, nil
}

// Faults returns all faults that were added, with their progress.
func (in *Injector) Faults() []Happening {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.faults)
}

func (in *Injector) update(i int, h Happening) {
	in.mu.Lock()
	in.faults[i] = h
	in.mu.Unlock()
	if in.onChange != nil {
		in.onChange(i, h)
	}
}

// End undoes the faults that last, and returns when all have ended. It is called once.
func (in *Injector) End() {
	in.mu.Lock()
	in.stop()
	in.mu.Unlock()
	in.all.Wait()
}

func (in *Injector) elapsedMS() int { return int(time.Since(in.begun).Milliseconds()) }

func (in *Injector) runFault(i int, h Happening) {
	select {
	case <-in.ready:
		in.waitFor(time.Until(in.begun.Add(time.Duration(h.At) * time.Millisecond)))
	case <-in.running.Done():
	}
	if in.running.Err() != nil {
		h.State, h.Error, h.Until = HasFailed, "the run ended before", 0
		in.update(i, h)
		return
	}
	h.State, h.At, h.Until = IsOn, in.elapsedMS(), 0
	if h.AtHolder() {
		h.State = IsWaiting
	} else if h.For > 0 {
		h.Until = h.At + h.For
	}
	in.update(i, h)
	injection, err := in.injectNow(h.Planned)
	if err == nil {
		h, err = in.undoAtEnd(i, h, injection)
	}
	h.State, h.Until = IsOver, in.elapsedMS()
	if err != nil {
		h.State, h.Error = HasFailed, err.Error()
	}
	in.update(i, h)
}

// undoAtEnd records that a fault has happened. If the fault lasts, undoAtEnd waits for the fault's duration or for
// the end of the sales, and then undoes the fault.
func (in *Injector) undoAtEnd(i int, h Happening, injection *Injection) (Happening, error) {
	effect := injection.Effect
	h.Effect = &effect
	if h.AtHolder() {
		h.At, h.Service = in.elapsedMS(), effect.Service
	}
	if injection.Undo == nil {
		return h, nil
	}
	if h.State = IsOn; h.For > 0 {
		h.Until = h.At + h.For
	}
	in.update(i, h)
	if h.For > 0 {
		in.waitFor(time.Duration(h.For) * time.Millisecond)
	} else {
		<-in.running.Done()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.running), injectTimeout)
	defer cancel()
	final := effect // callers of Faults read the variable effect, so Undo changes a copy
	h.Effect = &final
	return h, injection.Undo(ctx, &final)
}

// injectNow injects a fault. It finishes the injection even if the sales end meanwhile, because half a fault could
// not be undone. Only a fault that still waits for a holder stops waiting when the sales end.
func (in *Injector) injectNow(p Planned) (*Injection, error) {
	ctx := in.running
	if !p.AtHolder() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(in.running), injectTimeout)
		defer cancel()
	}
	sale := in.sales[max(0, slices.IndexFunc(in.sales, func(s Sale) bool { return s.Strategy == p.Strategy }))]
	return in.inject(ctx, p.Kind, Aim{Service: p.Service, Strategy: sale.Strategy, SKU: sale.SKU,
		For: time.Duration(p.For) * time.Millisecond})
}

// waitFor returns after d, or when the sales end.
func (in *Injector) waitFor(d time.Duration) {
	select {
	case <-time.After(d):
	case <-in.running.Done():
	}
}

// Outage returns how long a sale may have stood still because of faults. It counts the faults that end by themselves
// and the faults that hit a server. Times at which several faults overlap count once. The kill of a service process
// does not count, because the other processes go on selling.
func (in *Injector) Outage() time.Duration {
	type span struct{ from, to int }
	var spans []span
	for _, h := range in.Faults() {
		f, _ := Find(h.Kind)
		switch {
		case !f.Lasts && !f.hitsAllServices():
		case h.State == IsOn:
			spans = append(spans, span{h.At, in.elapsedMS()})
		case h.Effect != nil && (h.Effect.TookEffect || f.hitsAllServices()):
			spans = append(spans, span{h.At, h.Until})
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
