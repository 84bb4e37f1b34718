// Package observe is what watches purchases from outside: who has a lock, what
// was sent and answered, and how to write it so that two runs can be compared.
// The explorer, the proof's measurements and traces share it.
package observe

import (
	"context"

	"gorm.io/gorm"

	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A Holder is a tap.Tap that is told of its buyer's locks.
type Holder interface {
	// Holds: the lock was granted. With transaction it is one's, and over with
	// its COMMIT or ROLLBACK.
	Holds(transaction bool)
	// Frees: it is about to be released. Freed: it was, or that was tried.
	Frees()
	Freed()
}

// A locker tells the Holder in a caller's context.
type locker struct{ lock.Locker }

func (l *locker) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, key, o)
	h, ok := tap.From(ctx).(Holder)
	if err != nil || !ok {
		return lease, err
	}
	if s, ok := lease.(lock.SessionLease); ok {
		_, tx := s.Session().Statement.ConnPool.(gorm.TxCommitter)
		h.Holds(tx)
		return &session{held{lease, h}, s.Session()}, nil
	}
	h.Holds(false)
	return &held{lease, h}, nil
}

// Clear is the lock's own, if it has one.
func (l *locker) Clear(ctx context.Context, key string) error {
	if c, ok := l.Locker.(lock.Clearer); ok {
		return c.Clear(ctx, key)
	}
	return seckill.ErrBusy
}

type held struct {
	lock.Lease
	holder Holder
}

func (l *held) Release(ctx context.Context) error {
	l.holder.Frees()
	defer l.holder.Freed()
	return l.Lease.Release(ctx)
}

// A session is a held lock of a SQL session.
type session struct {
	held
	session *gorm.DB
}

func (l *session) Session() *gorm.DB { return l.session }
