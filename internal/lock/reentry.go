package lock

import (
	"context"
	"fmt"
	"sync"

	"seckill/internal/seckill"
)

// A lock is reentrant if a holder that asks for it again gets it at once. A goroutine has no identity, so the lease's
// context identifies the holder: a call under that context comes from the holder. Two goroutines that work under one
// lease are one holder, and the lock does not protect them from each other.

// A shared is a lock that its holder can acquire several times. Each acquisition gives a lease. The release of the last
// lease releases the lock.
type shared struct {
	first   *Hold
	release func(context.Context) error

	mu     sync.Mutex
	leases int // the number of leases that are not released yet
}

// A sharedKey is the context key under which a lease's context keeps its shared lock.
type sharedKey struct {
	locker Locker
	key    string
}

// NewReentrant returns the first lease of a lock that its holder may acquire again (see Again).
// When the last lease is released, it calls release.
func NewReentrant(
	ctx context.Context, l Locker, key string, fence uint64,
	release func(context.Context) error,
) *Hold {
	s := &shared{release: release, leases: 1}
	ctx = context.WithValue(ctx, sharedKey{l, key}, s)
	s.first = NewHold(ctx, fence, s.releaseLast)
	return s.first
}

// Again returns another lease of the lock if ctx comes from a lease that holds the lock. If ctx comes from no such
// lease, or the lease was released, Again returns neither a lease nor an error, and the caller must send the command
// that takes the lock. If the lease has ended without a release, Again returns seckill.ErrUnavailable, because the
// caller might wait for its own lock.
//
// Again sends no command. The lock keeps the deadline and the renewer of its first lease.
func Again(ctx context.Context, l Locker, key string) (Lease, error) {
	s, _ := ctx.Value(sharedKey{l, key}).(*shared)
	if s == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.leases == 0:
		return nil, nil
	case s.first.ctx.Err() != nil:
		return nil, fmt.Errorf("%w: the lease has ended: %w",
			seckill.ErrUnavailable, context.Cause(s.first.ctx))
	}
	s.leases++
	return NewHold(ctx, s.first.fence, s.releaseLast), nil
}

func (s *shared) releaseLast(ctx context.Context) error {
	s.mu.Lock()
	s.leases--
	last := s.leases == 0
	s.mu.Unlock()
	if !last {
		return nil
	}
	return s.release(ctx)
}
