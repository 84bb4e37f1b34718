// Package point stops one purchase between the commands that it sends: at the
// moment in which a fault at the holder can do harm. A service process that
// was started with --fault-points has one Points; only the lab arms it.
//
// A purchase is at a point when it has read the stock, and is about to write
// what it computed. A strategy that writes without reading (one conditional
// UPDATE) has no such point: nothing that others do meanwhile makes its write
// wrong.
package point

import (
	"context"
	"fmt"
	"strconv"
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
	// is not sent yet, or the INSERT of an order that commits by itself. It is the last moment in which a lost lock does harm,
	// and no warning to the holder can stop what is on its way.
	BeforeCommit Name = "before-commit"
)

// Names are all points.
var Names = []Name{BeforeWrite, BeforeCommit}

// An Order arms a trap for the next purchase that reaches a point.
type Order struct {
	Point    Name   `json:"point"`
	Strategy string `json:"strategy"`
	SKU      int64  `json:"sku_id"`
	For      int    `json:"for_ms"` // a purchase is held no longer than this
}

// A State of a trap.
type State string

const (
	Armed    State = "armed"
	Caught   State = "caught"   // a purchase stands at the point
	LetGo    State = "let_go"   // and has gone on
	NoPoint  State = "no_point" // purchases write without passing it
	Disarmed State = "disarmed" // none came
)

// A Holder is the purchase that a trap has caught.
type Holder struct {
	RequestID string `json:"request_id"`
	User      int64  `json:"user_id"`
	Quantity  int64  `json:"quantity"`
	Command   string `json:"command"`            // that was about to be sent
	LockKey   string `json:"lock_key,omitempty"` // of a strategy that is a lock
}

// A Trap as it stands.
type Trap struct {
	ID string `json:"id"`
	Order
	State  State   `json:"state"`
	Holder *Holder `json:"holder,omitempty"`
}

// mostTraps bounds what is armed at once.
const mostTraps = 16

// Points are the traps of one process. The zero value is ready.
type Points struct {
	armed atomic.Int32 // traps that wait: purchases look no further at 0
	clock clock

	mu    sync.Mutex
	count int
	traps map[string]*trap
}

type trap struct {
	points  *Points
	status  Trap            // under points.mu
	changed chan struct{}   // closed when it is not armed any more
	held    context.Context // until the purchase may go on
	goOn    context.CancelFunc
}

// Arm sets a trap. It is an error to have too many.
func (p *Points) Arm(o Order) (Trap, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.traps) == mostTraps {
		return Trap{}, fmt.Errorf("there are %d traps already: remove one", mostTraps)
	}
	if p.traps == nil {
		p.traps = map[string]*trap{}
	}
	p.count++
	t := &trap{points: p, status: Trap{ID: strconv.Itoa(p.count), Order: o, State: Armed}, changed: make(chan struct{})}
	t.held, t.goOn = context.WithCancel(context.Background())
	p.traps[t.status.ID] = t
	p.armed.Add(1)
	return t.status, nil
}

// Await waits until a trap is not armed any more, or ctx ends, and says how it
// stands then; false if there is no such trap.
func (p *Points) Await(ctx context.Context, id string) (Trap, bool) {
	t := p.find(id)
	if t == nil {
		return Trap{}, false
	}
	select {
	case <-t.changed:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return t.status, true
}

// Remove lets the purchase of a trap go on, or disarms it, and forgets it.
func (p *Points) Remove(id string) (Trap, bool) {
	t := p.find(id)
	if t == nil {
		return Trap{}, false
	}
	t.become(Disarmed, nil)
	t.letGo()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.traps, id)
	return t.status, true
}

// Close lets every purchase go on.
func (p *Points) Close() {
	p.mu.Lock()
	var ids []string
	for id := range p.traps {
		ids = append(ids, id)
	}
	p.mu.Unlock()
	for _, id := range ids {
		p.Remove(id)
	}
}

func (p *Points) find(id string) *trap {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.traps[id]
}

// Watch puts a trap's eyes between a purchase and next, where one is armed for
// it; else it returns next. lockKey, unless nil, says what its strategy locks.
// A nil Points watches nothing.
func (p *Points) Watch(next tap.Tap, strategy string, lockKey func(sku int64) string, bought seckill.Purchase) tap.Tap {
	if p == nil || p.armed.Load() == 0 {
		return next
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.traps {
		if t.status.State == Armed && t.status.Strategy == strategy && t.status.SKU == bought.SKU {
			w := &watcher{next: next, trap: t, holder: Holder{RequestID: bought.RequestID, User: bought.User,
				Quantity: bought.Quantity}}
			if lockKey != nil {
				w.holder.LockKey = lockKey(bought.SKU)
			}
			return w
		}
	}
	return next
}

// become ends the waiting of an armed trap, once; false if it had ended.
func (t *trap) become(s State, h *Holder) bool {
	t.points.mu.Lock()
	defer t.points.mu.Unlock()
	if t.status.State != Armed {
		return false
	}
	t.status.State, t.status.Holder = s, h
	t.points.armed.Add(-1)
	close(t.changed)
	return true
}

func (t *trap) letGo() {
	t.points.mu.Lock()
	defer t.points.mu.Unlock()
	if t.status.State == Caught {
		t.status.State = LetGo
	}
	t.goOn()
}

// hold ignores the buyer's context, as a hung process does.
func (t *trap) hold() {
	select {
	case <-t.held.Done():
	case <-time.After(time.Duration(t.status.For) * time.Millisecond):
		t.letGo()
	}
}

// A clock is that of the process, as strategies ask it. Go reads the time without
// the system's library, so no other program can set it for one process.
type clock struct{ ahead, looks atomic.Int64 }

// Now is the time by the process's clock.
func (p *Points) Now() time.Time {
	ahead := p.clock.ahead.Load()
	if ahead != 0 {
		p.clock.looks.Add(1)
	}
	return time.Now().Add(time.Duration(ahead))
}

// Jump sets the clock ahead of the right time; 0 sets it right. It returns how
// often the clock was looked at since the jump before.
func (p *Points) Jump(ahead time.Duration) Clock {
	p.clock.ahead.Store(int64(ahead))
	return Clock{Looks: p.clock.looks.Swap(0), Now: time.Now().Add(ahead).UTC()}
}

// A Clock is what a process says of its own.
type Clock struct {
	Looks int64     `json:"looks"`
	Now   time.Time `json:"now"`
}
