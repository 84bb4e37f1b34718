package trace

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"seckill/internal/lock"
	"seckill/internal/observe"
	"seckill/internal/tap"
)

// A recorder keeps what several buyers do and who has the lock, on one clock.
type recorder struct {
	*observe.Recorder
	mu   sync.Mutex
	held []Hold
}

func newRecorder() *recorder {
	return &recorder{Recorder: observe.NewRecorder(observe.NewNames(sku), maxSteps)}
}

func (r *recorder) now() int64 { return r.Now().Microseconds() }

func (r *recorder) result() (steps []Step, held []Hold, cut bool) {
	list, cut := r.List()
	for _, s := range list {
		step := Step{Who: s.Who, Backend: s.Command.Backend, Command: s.Text, Background: s.Renewer,
			Start: s.At.Microseconds(), Took: s.Took.Microseconds(), Reply: s.Reply}
		if s.Err != nil {
			step.Result = r.Plain(s.Err.Error())
		}
		steps = append(steps, step)
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.Start, b.Start) })
	r.mu.Lock()
	defer r.mu.Unlock()
	held = slices.Clone(r.held)
	for i := range held {
		if held[i].To == 0 { // never released
			held[i].To = r.now()
		}
	}
	return steps, held, cut
}

// A buyer is the tap of one purchase.
type buyer struct {
	*recorder
	name  string
	enter func() // through the gate, once
	holds int    // index in held
}

// Before implements tap.Tap.
func (b *buyer) Before(ctx context.Context, c *tap.Command) error {
	b.enter()
	b.Sent(ctx, b.name, c)
	return nil
}

// Reads implements tap.Reader.
func (b *buyer) Reads() bool { return true }

// After implements tap.Tap.
func (b *buyer) After(_ context.Context, c *tap.Command, err error) error {
	b.Answered(c, err)
	return err
}

// Holds implements observe.Holder.
func (b *buyer) Holds(lock.Lease, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.holds = len(b.held)
	b.held = append(b.held, Hold{Who: b.name, From: b.now()})
}

// Frees implements observe.Holder.
func (b *buyer) Frees() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := &b.held[b.holds]; h.To == 0 {
		h.To = b.now()
	}
}

// Freed implements observe.Holder.
func (b *buyer) Freed() {}

// A gate lets all buyers send their first command at once: a race that one of
// them wins by being started first shows nothing.
type gate struct {
	mu      sync.Mutex
	waiting int
	open    chan struct{}
}

func newGate(buyers int) *gate { return &gate{waiting: buyers, open: make(chan struct{})} }

// pass waits for the others. Every buyer passes once.
func (g *gate) pass() {
	g.mu.Lock()
	if g.waiting--; g.waiting == 0 {
		close(g.open)
	}
	g.mu.Unlock()
	<-g.open
}
