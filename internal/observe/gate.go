package observe

import (
	"context"
	"sync"
	"sync/atomic"

	"seckill/internal/tap"
)

// A Gate is the tap.Tap and Holder of one buyer: it records what they send and when
// they have the lock, and stops them before the first command of their own that it
// is asked about, until it is opened.
type Gate struct {
	*Recorder
	Reached chan struct{} // closed when the buyer stands there
	Open    func()        // lets the buyer go on

	who    string
	at     func(n int, c *tap.Command) bool
	stands func()
	opened chan struct{}
	n      atomic.Int64 // commands of the buyer's own so far
}

// NewGate stops a buyer before the first command for which at says so; n counts
// from 0. Nil never does.
func NewGate(r *Recorder, who string, at func(n int, c *tap.Command) bool) *Gate {
	if at == nil {
		at = func(int, *tap.Command) bool { return false }
	}
	g := &Gate{Recorder: r, who: who, at: at, Reached: make(chan struct{}), opened: make(chan struct{})}
	g.Open = sync.OnceFunc(func() { close(g.opened) })
	g.stands = sync.OnceFunc(func() { close(g.Reached) })
	return g
}

// Before implements tap.Tap.
func (g *Gate) Before(ctx context.Context, c *tap.Command) error {
	if tap.IsBackground(ctx) {
		g.Sent(ctx, g.who, c)
		return nil
	}
	if g.at(int(g.n.Add(1)-1), c) {
		g.stands()
		<-g.opened
	}
	g.Sent(ctx, g.who, c)
	return nil
}

// After implements tap.Tap.
func (g *Gate) After(_ context.Context, c *tap.Command, err error) error {
	g.Answered(c, err)
	return err
}

// Holds implements Holder.
func (g *Gate) Holds(bool) { g.granted(g.who) }

// Frees implements Holder.
func (g *Gate) Frees() { g.releases(g.who) }

// Freed implements Holder.
func (g *Gate) Freed() {}

// Commands are those of the buyer's own that were sent so far.
func (g *Gate) Commands() (list []*tap.Command) {
	sent, _ := g.List()
	for _, s := range sent {
		if s.Who == g.who && !s.Background {
			list = append(list, s.Command)
		}
	}
	return list
}
