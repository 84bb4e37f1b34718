// Package lock defines the contract of every distributed lock in the program. Its type Guarded reads, computes and
// writes the stock under a lock, without any other guard. So every flaw of the lock shows in the ledger.
package lock

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
)

// Options say how long to wait for a lock and how long to hold it.
type Options struct {
	// Wait bounds the wait. 0 means one attempt. A negative value means to wait until the context ends.
	Wait time.Duration
	// Lease is how long the lock lasts without renewal. If Lease is 0, the lock uses its default lease, and renews
	// itself until its release if it can.
	Lease time.Duration
	// Above is the greatest fencing token that the caller knows, or 0. A lock whose server may forget its count goes on
	// counting from Above. Other locks ignore Above.
	Above uint64
}

// A Locker takes locks by name.
type Locker interface {
	// Acquire takes a lock. The backend uses key unchanged, as the name of a Redis key, a node or a row, for example.
	//
	// It returns seckill.ErrBusy when o.Wait has passed and the lock is still held, seckill.ErrUnavailable when the
	// backend could not be asked, and ctx's error when ctx ended first. After an error, the lock may have been taken
	// all the same, but it ends with its lease or session at the latest.
	Acquire(ctx context.Context, key string, o Options) (Lease, error)
}

// A Lease is a lock that its caller holds.
type Lease interface {
	// Context returns a context derived from Acquire's. It ends when the lock is known to be lost, with ErrLost as its
	// cause. It also ends after Release.
	Context() context.Context
	// Fence returns the fencing token, which grows with every grant of the same key, or 0 if the lock has none.
	Fence() uint64
	// Release gives the lock back. It returns ErrNotHeld if the lock was lost or released before.
	Release(context.Context) error
}

// A SessionLease is a Lease that lives in a database session (GET_LOCK, a locked row). The protected purchase must run
// on the same session, so that a holder never waits for a second connection while waiters use up the pool.
type SessionLease interface{ Session() *gorm.DB }

var (
	ErrLost    = errors.New("the lock was lost while it was held")
	ErrNotHeld = errors.New("the lock is not held any more")
)
