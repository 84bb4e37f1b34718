// Package observe is what watches purchases from outside: who has a lock, what
// was sent and answered, and how to write it so that two runs can be compared.
// The explorer, the proof's measurements and traces share it.
package observe

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A Process is one instance with a strategy on it, whose lock tells the Holder in a
// caller's context.
type Process struct {
	In       *backend.Instance
	Info     catalog.Info // with that lock
	Store    *ledger.Store
	Strategy seckill.Strategy
	Locker   lock.Locker // nil: it is no lock
}

// Start opens an instance on config, with clocks that show now (nil: the time). Close
// its instance.
func Start(
	ctx context.Context, config backend.Config, info catalog.Info, s catalog.Settings, now func() time.Time,
) (*Process, error) {
	in, err := backend.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	p := &Process{In: in, Store: ledger.NewStore(in.DB), Info: info}
	if info.Locker != nil {
		p.Info.Locker = func(d catalog.Deps) (lock.Locker, error) {
			inner, err := info.Locker(d)
			p.Locker = &locker{inner}
			return p.Locker, err
		}
	}
	p.Strategy, err = catalog.Build(p.Info, catalog.Deps{Instance: in, Ledger: p.Store, Settings: s, Now: now})
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return p, nil
}

// Reset sets a sale anew, as PUT /skus/ID does: the ledger first, then what the strategy
// keeps elsewhere.
func (p *Process) Reset(ctx context.Context, sku int64, name string, stock int64) error {
	if _, err := p.Store.Reset(ctx, sku, name, stock); err != nil {
		return err
	}
	if r, ok := p.Strategy.(seckill.Resetter); ok {
		return r.Reset(ctx, sku, stock)
	}
	return nil
}

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
