package lock

import (
	"context"
	"sync"
	"time"

	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A Gate admits one goroutine of this process at a time to each key, in the
// order in which they came (Go's channels serve waiters first come, first
// served). The zero value is ready.
//
// R is what the goroutines at one key share; it belongs to the one inside.
type Gate[R any] struct {
	// Close ends what was shared at a key, when its last goroutine has left.
	Close func(R)

	mu      sync.Mutex
	permits map[string]*Permit[R]
}

// A Room is one key's.
type Permit[R any] struct {
	Shared R

	gate *Gate[R]
	key  string
	refs int       // inside or waiting
	free chan bool // holds one token while none is inside
}

// Enter waits as Options.Wait says: ErrBusy when the time is up, ctx's error
// when that ends first. Leave the Room.
func (g *Gate[R]) Acquire(ctx context.Context, key string, wait time.Duration) (*Permit[R], error) {
	r := g.permitOf(key)
	select {
	case <-r.free:
		return r, nil
	default:
	}
	taken, err := false, seckill.ErrBusy
	if wait != 0 {
		if wait > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, wait, seckill.ErrBusy)
			defer cancel()
		}
		taken, err = tap.Wait(ctx, "this process's turn at "+key, r.free)
	}
	switch {
	case err != nil && taken: // granted, but the caller is told otherwise
		r.Release()
		return nil, err
	case err != nil:
		r.dropReference()
		return nil, err
	}
	return r, nil
}

// Leave lets the next one in.
func (r *Permit[R]) Release() {
	r.free <- true
	r.dropReference()
}

func (g *Gate[R]) permitOf(key string) *Permit[R] {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.permits[key]
	if r == nil {
		if g.permits == nil {
			g.permits = map[string]*Permit[R]{}
		}
		r = &Permit[R]{gate: g, key: key, free: make(chan bool, 1)}
		r.free <- true
		g.permits[key] = r
	}
	r.refs++
	return r
}

func (r *Permit[R]) dropReference() {
	r.gate.mu.Lock()
	r.refs--
	last := r.refs == 0
	if last {
		delete(r.gate.permits, r.key)
	}
	r.gate.mu.Unlock()
	if last && r.gate.Close != nil {
		r.gate.Close(r.Shared)
	}
}
