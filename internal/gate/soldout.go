package gate

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"seckill/internal/seckill"
)

// Names of the flags.
const (
	SoldOut      = "sold-out"
	SoldOutNaive = "sold-out-naive"
)

const (
	// fresh is how long a flag refuses: another process may give units back, or
	// set the sale anew, and this one does not hear of it.
	fresh = 250 * time.Millisecond
	// renew is when one buyer asks again, so that the flag never lapses while
	// buyers come and the stock stays empty.
	renew = fresh / 2
	// mostFlags bounds the memory that buyers of any SKU cost.
	mostFlags = 4096
)

// flags answer sold out from memory. A flag is a refusal that the strategy gave:
// it says that fewer than quantity units were left at some time after asked. It
// refuses purchases of as many units or more, of the same SKU by the same
// strategy, and
//
//   - no longer than fresh after asked, so it is at most that old;
//   - not after a cancellation or a reset by this process: before its caller has
//     the answer, the flag is gone, and no purchase that began before raises it
//     again.
//
// So a unit that another process gives back is hidden for 250 ms at most, and
// one that this process gives back is not.
type flags struct {
	mu    sync.RWMutex
	bySKU map[int64]map[string]*flag // by strategy: where the stock is differs
}

type flag struct {
	last   atomic.Pointer[seen]
	asking atomic.Bool // one buyer asks again
}

// seen is what a strategy said.
type seen struct {
	quantity     int64
	asked, heard time.Time
}

func newFlags() *flags { return &flags{bySKU: map[int64]map[string]*flag{}} }

func (g *flags) Enter(r Request) (func(error), *Refusal) {
	f, now := g.of(r), time.Now()
	last, asks := f.last.Load(), false
	if last != nil && last.quantity <= r.Quantity && now.Sub(last.asked) < fresh {
		asks = now.Sub(last.asked) >= renew && r.Quantity == last.quantity && f.asking.CompareAndSwap(false, true)
		if !asks {
			return nil, soldOut(SoldOut, last.heard)
		}
	}
	return func(err error) {
		if asks {
			f.asking.Store(false)
		}
		f.heed(last, r.Quantity, now, err)
	}, nil
}

// heed learns from an answer. last is the flag as the buyer met it.
func (f *flag) heed(last *seen, quantity int64, asked time.Time, err error) {
	if err == nil && last != nil && last.quantity <= quantity {
		f.last.CompareAndSwap(last, nil)
	}
	if !errors.Is(err, seckill.ErrSoldOut) {
		return
	}
	now := &seen{quantity, asked, time.Now()}
	for {
		last := f.last.Load()
		if last != nil && (last.asked.After(asked) || last.quantity < quantity && asked.Sub(last.asked) < fresh) {
			return // what is known is newer, or says more and still counts
		}
		if f.last.CompareAndSwap(last, now) {
			return
		}
	}
}

// Refilled forgets the flags themselves: purchases under way raise flags that no
// one looks at any more.
func (g *flags) Refilled(sku int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.bySKU, sku)
}

// Reset forgets them, too.
func (g *flags) Reset(sku int64) { g.Refilled(sku) }

func (g *flags) of(r Request) *flag {
	g.mu.RLock()
	f := g.bySKU[r.SKU][r.Strategy]
	g.mu.RUnlock()
	if f != nil {
		return f
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.bySKU[r.SKU] == nil {
		if len(g.bySKU) == mostFlags {
			clear(g.bySKU)
		}
		g.bySKU[r.SKU] = map[string]*flag{}
	}
	if f = g.bySKU[r.SKU][r.Strategy]; f == nil {
		f = &flag{}
		g.bySKU[r.SKU][r.Strategy] = f
	}
	return f
}

func soldOut(gate string, since time.Time) *Refusal {
	return &Refusal{Gate: gate, Err: seckill.ErrSoldOut, Since: since, Detail: "Fewer units are left than were asked for."}
}

// naive is the flag as it is often written, and wrong on purpose: the
// first buyer who is told sold out raises it for all, until the sale is set anew by this very
// process. A cancelled unit is never sold again, nor is what is left when one
// buyer asked for too many.
type naive struct {
	mu    sync.Mutex
	empty map[int64]bool
}

func newNaive() *naive { return &naive{empty: map[int64]bool{}} }

func (g *naive) Enter(r Request) (func(error), *Refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.empty[r.SKU] {
		return nil, soldOut(SoldOutNaive, time.Now())
	}
	return func(err error) {
		if errors.Is(err, seckill.ErrSoldOut) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.empty[r.SKU] = true
		}
	}, nil
}

// Refilled does nothing, and that is the mistake.
func (g *naive) Refilled(int64) {}

func (g *naive) Reset(sku int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.empty, sku)
}
