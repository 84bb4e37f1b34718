// Package lock is the contract of every distributed lock in the program, and
// Guarded, which wraps a lock round an unprotected read–compute–write so that
// a lock that leaks shows it in the ledger.
package lock

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
)

// Options say how long to wait for a lock and how long to hold it.
type Options struct {
	// Wait: 0 tries once, > 0 waits so long, < 0 waits until the context ends.
	Wait time.Duration
	// Lease is how long the lock lives unrenewed; 0 renews it until it is
	// released, if it is a lock that is renewed.
	Lease time.Duration
	// Above is the greatest fencing token that the caller knows of, or 0. A
	// lock whose server may have forgotten its count goes on counting from
	// there. Others ignore it: their servers do not forget.
	Above uint64
}

// A Locker takes locks by name.
type Locker interface {
	// Acquire takes key, the backend's own key, path or name, verbatim.
	//
	// It returns seckill.ErrBusy when o.Wait is over and the lock is still
	// held, seckill.ErrUnavailable when the backend could not be
	// asked, and ctx's error when ctx ended first. Whatever the error, no lock
	// is left behind that outlives its lease or session.
	Acquire(ctx context.Context, key string, o Options) (Lease, error)
}

// A Lease is a lock held.
type Lease interface {
	// Context is derived from Acquire's. It ends, with ErrLost as its cause,
	// when the lock is known to be lost, and when the lease is released.
	Context() context.Context
	// Fence is the fencing token: it grows with every grant of the same key.
	// 0 if the lock has none.
	Fence() uint64
	// Release gives the lock back. ErrNotHeld: it had already gone.
	Release(context.Context) error
}

// A SessionLease lives in a database session (GET_LOCK, a locked row). The
// business it protects must run on that same session, so that a holder never
// waits for a second connection while others hold the pool.
type SessionLease interface {
	Lease
	Session() *gorm.DB
}

var (
	ErrLost    = errors.New("the lock was lost while it was held")
	ErrNotHeld = errors.New("the lock is not held any more")
)
