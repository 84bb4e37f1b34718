// Package point stops one purchase between the commands that it sends: at the
// moment in which a fault at the holder can do harm. A service process that
// was started with --fault-points has one Points; only the lab uses it.
//
// A purchase is at a point when it has read the stock, and what it computed is
// not committed yet. A strategy that writes without reading (one conditional
// UPDATE) has no such point: nothing that others do meanwhile makes its write
// wrong.
package point

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A Name of a point.
type Name string

const (
	// BeforeWrite: the stock is read, the first command that writes it, or the
	// order, is not sent yet.
	BeforeWrite Name = "between-read-and-write"
	// BeforeCommit: the stock is read, stock and order are written, the COMMIT
	// is not sent yet, or the INSERT of an order that commits by itself. It is the last
	// moment in which a lost lock does harm, and no warning to the holder can stop what
	// is on its way.
	BeforeCommit Name = "before-commit"
)

// Names are all points.
var Names = []Name{BeforeWrite, BeforeCommit}

// An Order is for the next purchase that reaches a point.
type Order struct {
	Point    Name   `json:"point"`
	Strategy string `json:"strategy"`
	SKU      int64  `json:"sku_id"`
	For      int    `json:"for_ms"` // it is held no longer than this
}

// A Catch is what came of an order.
type Catch struct {
	Holder *Holder `json:"holder"` // nil: purchases write without passing the point
}

// A Holder is a purchase that stands at a point.
type Holder struct {
	RequestID string `json:"request_id"`
	User      int64  `json:"user_id"`
	Quantity  int64  `json:"quantity"`
	Command   string `json:"command"`            // that was about to be sent
	LockKey   string `json:"lock_key,omitempty"` // of a strategy that is a lock
}

// Points are those of one process. The zero value is ready.
type Points struct {
	// Done lets every purchase go on once it is closed.
	Done <-chan struct{}

	armed atomic.Int32 // traps: purchases look no further at 0
	mu    sync.Mutex
	traps []*trap
}

// A trap is for one purchase.
type trap struct {
	Order
	taken atomic.Bool
	catch chan Catch    // with room for the only one
	over  chan struct{} // closed when the purchase may go on
}

// Hold waits for the purchase of an order, tells of it, and holds it until ctx ends or
// its time is over.
func (p *Points) Hold(ctx context.Context, o Order, tell func(Catch)) {
	t := &trap{Order: o, catch: make(chan Catch, 1), over: make(chan struct{})}
	defer close(t.over)
	p.mu.Lock()
	p.traps = append(p.traps, t)
	p.armed.Add(1)
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.traps = slices.DeleteFunc(p.traps, func(other *trap) bool { return other == t })
		p.armed.Add(-1)
	}()
	select {
	case c := <-t.catch:
		tell(c)
		if c.Holder == nil {
			return
		}
		select {
		case <-time.After(time.Duration(o.For) * time.Millisecond):
		case <-ctx.Done():
		case <-p.Done:
		}
	case <-ctx.Done():
	case <-p.Done:
	}
}

// Watch returns a context in which a trap sees the commands of a purchase that it waits
// for; else ctx. lockKey, unless nil, says what its strategy locks.
func (p *Points) Watch(ctx context.Context, strategy string, lockKey func(sku int64) string, bought seckill.Purchase) context.Context {
	if p.armed.Load() == 0 {
		return ctx
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.traps {
		if !t.taken.Load() && t.Strategy == strategy && t.SKU == bought.SKU {
			w := &watcher{trap: t, holder: Holder{RequestID: bought.RequestID, User: bought.User,
				Quantity: bought.Quantity}}
			if lockKey != nil {
				w.holder.LockKey = lockKey(bought.SKU)
			}
			return tap.With(ctx, w)
		}
	}
	return ctx
}

// take ends the wait for a purchase, once. One that is caught stays, and ignores its
// buyer's context, as a hung process does.
func (t *trap) take(h *Holder) {
	if t.taken.Swap(true) {
		return
	}
	t.catch <- Catch{h}
	if h != nil {
		<-t.over
	}
}
