package observe

import (
	"context"
	"sync"

	"seckill/internal/tap"
)

// A Gate is a tap.Tap that records a buyer's own commands and stops the buyer
// before the first one that it is asked about, until it is opened. Commands of
// a renewer pass unseen.
type Gate struct {
	*Recorder
	Reached <-chan struct{} // closed when the buyer stands there

	at      func(n int, c *tap.Command) bool
	reached chan struct{}
	open    chan struct{}
	once    sync.Once
	opened  sync.Once

	mu sync.Mutex
	n  int
}

// NewGate stops a buyer before the first command for which at says so; n counts
// from 0. Nil never does.
func NewGate(at func(n int, c *tap.Command) bool) *Gate {
	if at == nil {
		at = func(int, *tap.Command) bool { return false }
	}
	g := &Gate{Recorder: NewRecorder(NewNames(), 0), at: at, reached: make(chan struct{}), open: make(chan struct{})}
	g.Reached = g.reached
	return g
}

// Open lets the buyer go on.
func (g *Gate) Open() { g.opened.Do(func() { close(g.open) }) }

// Before implements tap.Tap.
func (g *Gate) Before(ctx context.Context, c *tap.Command) error {
	if tap.IsBackground(ctx) {
		return nil
	}
	g.Sent(ctx, "", c)
	g.mu.Lock()
	n := g.n
	g.n++
	g.mu.Unlock()
	if !g.at(n, c) {
		return nil
	}
	g.once.Do(func() { close(g.reached) })
	<-g.open
	return nil
}

// After implements tap.Tap.
func (g *Gate) After(_ context.Context, c *tap.Command, err error) error {
	g.Answered(c, err)
	return err
}

// Commands are those that were sent so far.
func (g *Gate) Commands() (list []*tap.Command) {
	sent, _ := g.List()
	for _, s := range sent {
		list = append(list, s.Command)
	}
	return list
}
