// Package point stops one purchase between two of its commands, when a fault of the process can do harm. A service
// process that was started with --fault-points has a value of type Points. Only the lab starts processes in this way.
//
// A purchase is at a point when it has read the stock, but has not committed what it computed. A strategy that writes
// without reading (one conditional UPDATE) has no such point. Its write cannot be wrong, whatever other buyers have
// done before it.
package point

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A Name is the name of a point.
type Name string

const (
	// BeforeWrite is the point of a purchase that has read the stock and is about to send the first
	// command that writes the stock or the order.
	BeforeWrite Name = "between-read-and-write"
	// BeforeCommit is the point of a purchase that has written stock and order and is about to send the COMMIT, or the
	// INSERT of an order that commits by itself. If the lock is lost here, telling its holder does not help, because
	// the holder cannot call back a command that was sent.
	BeforeCommit Name = "before-commit"
)

// Names lists all points.
var Names = []Name{BeforeWrite, BeforeCommit}

// An Order asks to stop the next purchase that reaches a point.
type Order struct {
	Point    Name   `json:"point"`
	Strategy string `json:"strategy"`
	SKU      int64  `json:"sku_id"`
	For      int    `json:"for_ms"` // the maximum time to hold the purchase, in milliseconds
}

// A Catch says which purchase an Order has stopped.
type Catch struct {
	// Holder is the purchase that is stopped. It is nil if a purchase has written without reading the
	// stock. Then the strategy never comes to the point at which it was to be stopped.
	Holder *Holder `json:"holder"`
}

// A Holder is a purchase that is stopped at a point.
type Holder struct {
	RequestID string `json:"request_id"`
	User      int64  `json:"user_id"`
	Quantity  int64  `json:"quantity"`
	Command   string `json:"command"`            // the command that is about to be sent
	LockKey   string `json:"lock_key,omitempty"` // the name of the strategy's lock, or ""
}

// Points stops purchases of one process at points. Its zero value is ready to use.
type Points struct {
	// Done, once it is closed, lets every purchase continue.
	Done <-chan struct{}

	mu    sync.Mutex
	traps []*trap
}

// A trap waits for one purchase that matches the embedded Order.
type trap struct {
	Order
	taken atomic.Bool   // true if a purchase is at the point, or has passed it without stopping
	catch chan Catch    // has room for the trap's only Catch
	over  chan struct{} // closed when the purchase may continue
}

// Hold waits until a purchase that matches o has reached the point o.Point, and then calls tell. It holds the purchase
// until ctx ends or o.For milliseconds have passed.
func (p *Points) Hold(ctx context.Context, o Order, tell func(Catch)) {
	t := &trap{Order: o, catch: make(chan Catch, 1), over: make(chan struct{})}
	defer close(t.over)
	p.mu.Lock()
	p.traps = append(p.traps, t)
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.traps = slices.DeleteFunc(p.traps, func(other *trap) bool { return other == t })
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

// Watch returns the context under which the purchase must run. If a trap waits for a purchase of this SKU with this
// strategy, the trap sees all commands under the returned context. Otherwise Watch returns ctx.
func (p *Points) Watch(ctx context.Context, of catalog.Info, bought seckill.Purchase) context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.traps {
		if !t.taken.Load() && t.Strategy == of.Name && t.SKU == bought.SKU {
			w := &watcher{trap: t, stored: of.Stored, holder: Holder{RequestID: bought.RequestID,
				User: bought.User, Quantity: bought.Quantity}}
			if of.Key != nil {
				w.holder.LockKey = of.Key(bought.SKU)
			}
			return tap.With(ctx, w)
		}
	}
	return ctx
}

// reportPurchase sends the trap's only Catch to Hold. If h is not nil, it then holds the purchase
// until Hold returns. Like a process that hangs, the purchase does not notice that its buyer leaves.
func (t *trap) reportPurchase(h *Holder) {
	if t.taken.Swap(true) {
		return
	}
	t.catch <- Catch{h}
	if h != nil {
		<-t.over
	}
}

type watcher struct {
	trap          *trap
	stored        catalog.Stored // where the strategy stores the stock
	holder        Holder
	hasRead       atomic.Bool // true if the purchase has read the stock
	hasWritten    atomic.Bool // true if the purchase has written the stock row or the order
	inTransaction atomic.Bool // true while the purchase is in a transaction
}

// Fork returns no Tap, because background goroutines neither read nor write the stock.
func (w *watcher) Fork() (tap.Tap, func()) { return nil, func() {} }

func (w *watcher) Before(_ context.Context, c *tap.Command) error {
	kind := w.kindOf(c)
	if c.Name == "BEGIN" || kind == commits || kind == undoes {
		w.inTransaction.Store(c.Name == "BEGIN")
	}
	switch {
	case kind == writes && !w.hasRead.Load():
		w.trap.reportPurchase(nil)
	case kind == writes && !w.hasWritten.Swap(true):
		w.reachPoint(BeforeWrite, c)
		if !w.inTransaction.Load() && c.Name == "INSERT" { // without a transaction, this INSERT also commits
			w.reachPoint(BeforeCommit, c)
		}
	case kind == commits && w.hasWritten.Load():
		w.reachPoint(BeforeCommit, c)
	case kind == undoes: // after a ROLLBACK the purchase may read the stock again
		w.hasRead.Store(false)
		w.hasWritten.Store(false)
	}
	return nil
}

func (w *watcher) After(_ context.Context, c *tap.Command, err error) error {
	if err == nil && w.kindOf(c) == reads {
		w.hasRead.Store(true)
	}
	return err
}

func (w *watcher) reachPoint(at Name, c *tap.Command) {
	if w.trap.Point == at {
		h := w.holder
		h.Command = c.Text
		w.trap.reportPurchase(&h)
	}
}

type kind int

const (
	other kind = iota
	reads
	writes
	commits
	undoes
)

func (w *watcher) kindOf(c *tap.Command) kind {
	text := strings.TrimSpace(c.Text)
	switch {
	case c.Backend == tap.Redis && w.stored.RedisKeys != nil && strings.Contains(text, w.stored.RedisKeys(w.trap.SKU)[0]):
		return reads // even a command that takes units reads them, because its reply has the units left
	case c.Backend != tap.SQL:
		return other
	case c.Name == "COMMIT":
		return commits
	case c.Name == "ROLLBACK":
		return undoes
	case strings.HasPrefix(text, w.stored.Reads):
		return reads
	case c.Name == "CALL", strings.HasPrefix(text, w.stored.Writes), strings.HasPrefix(text, "INSERT INTO orders"):
		return writes
	}
	return other
}
