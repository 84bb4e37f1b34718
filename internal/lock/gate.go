package lock

import (
	"context"
	"sync"
	"time"

	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A Gate admits one goroutine of this process at a time to each key. It admits them in the order of their calls,
// because a Go channel serves its receivers in that order. The zero value is ready to use.
//
// The goroutines at one key share a value of type R. Only the goroutine that holds the permit may use the value.
type Gate[R any] struct {
	// Close, if not nil, is called with the shared value when nobody holds a key's permit or waits for it any more.
	Close func(R)

	mu      sync.Mutex
	permits map[string]*Permit[R]
}

// A Permit is the right to work at one key.
type Permit[R any] struct {
	Shared R

	gate  *Gate[R]
	key   string
	users int       // how many goroutines hold the permit or wait for it
	free  chan bool // contains one token while nobody holds the permit
}

// Acquire waits for the permit of key. If the permit is not free within wait (see Options.Wait), Acquire returns
// seckill.ErrBusy. If ctx ends first, it returns ctx's error.
func (g *Gate[R]) Acquire(ctx context.Context, key string, wait time.Duration) (*Permit[R], error) {
	p := g.usePermit(key)
	select {
	case <-p.free:
		return p, nil
	default:
	}
	taken, err := false, seckill.ErrBusy
	if wait != 0 {
		if wait > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, wait, seckill.ErrBusy)
			defer cancel()
		}
		taken, err = tap.Wait(ctx, "this process's turn at "+key, p.free)
	}
	switch {
	case err != nil && taken: // Wait took the permit and then failed, so release it
		p.Release()
		return nil, err
	case err != nil:
		p.removeUser()
		return nil, err
	}
	return p, nil
}

// Release gives the permit to the next goroutine that waits.
func (p *Permit[R]) Release() {
	p.free <- true
	p.removeUser()
}

func (g *Gate[R]) usePermit(key string) *Permit[R] {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.permits[key]
	if p == nil {
		if g.permits == nil {
			g.permits = map[string]*Permit[R]{}
		}
		p = &Permit[R]{gate: g, key: key, free: make(chan bool, 1)}
		p.free <- true
		g.permits[key] = p
	}
	p.users++
	return p
}

func (p *Permit[R]) removeUser() {
	p.gate.mu.Lock()
	p.users--
	last := p.users == 0
	if last {
		delete(p.gate.permits, p.key)
	}
	p.gate.mu.Unlock()
	if last && p.gate.Close != nil {
		p.gate.Close(p.Shared)
	}
}
