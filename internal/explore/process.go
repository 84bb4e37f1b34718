package explore

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

// A StrategyProcess is one instance of the service's backends with one strategy on it. If the strategy is a lock,
// each grant and each release is reported to the LockObserver in the context of the lock's caller.
type StrategyProcess struct {
	In       *backend.Instance
	Info     catalog.Info // as given to StartProcess, but Info.Locker makes an observedLocker
	Store    *ledger.Store
	Strategy seckill.Strategy
	Locker   lock.Locker // an observedLocker; nil if the strategy is not a lock
}

// StartProcess opens an instance of the backends in config and builds the strategy on this instance. The strategy reads
// the time from clock or, if clock is nil, the real time. The caller must close StrategyProcess.In.
func StartProcess(
	ctx context.Context, config backend.Config, info catalog.Info, s catalog.Settings, clock func() time.Time,
) (*StrategyProcess, error) {
	in, err := backend.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	p := &StrategyProcess{In: in, Store: ledger.NewStore(in.DB), Info: info}
	if info.Locker != nil {
		p.Info.Locker = func(d catalog.Deps) (lock.Locker, error) {
			inner, err := info.Locker(d)
			p.Locker = &observedLocker{inner}
			return p.Locker, err
		}
	}
	p.Strategy, err = catalog.Build(p.Info, catalog.Deps{Instance: in, Ledger: p.Store, Settings: s, Now: clock})
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return p, nil
}

// Reset opens a new sale as PUT /skus/ID does. It resets the ledger first, and then the stock that
// the strategy stores elsewhere, such as in Redis.
func (p *StrategyProcess) Reset(ctx context.Context, sku int64, name string, stock int64) error {
	if _, err := p.Store.Schedule(ctx, sku, name, stock, nil); err != nil {
		return err
	}
	if r, ok := p.Strategy.(seckill.Resetter); ok {
		return r.Reset(ctx, sku, stock)
	}
	return nil
}

// A LockObserver is a tap.Tap that also learns when its buyer gets and releases locks.
type LockObserver interface {
	// LockGranted is called when the buyer has got the lock. If transactional is true, the COMMIT
	// or ROLLBACK of the buyer's transaction frees the lock.
	LockGranted(transactional bool)
	// LockReleasing is called before the buyer releases the lock. It returns a function that is called
	// after the release has succeeded or failed.
	LockReleasing() (released func())
}

// An observedLocker is a lock that reports each grant and each release to the LockObserver in the caller's context.
type observedLocker struct{ lock.Locker }

func (l *observedLocker) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, key, o)
	h, ok := tap.From(ctx).(LockObserver)
	if err != nil || !ok {
		return lease, err
	}
	observed := &observedLease{lease, h}
	if s, ok := lease.(lock.SessionLease); ok {
		_, tx := s.Session().Statement.ConnPool.(gorm.TxCommitter)
		h.LockGranted(tx)
		return struct {
			*observedLease
			lock.SessionLease
		}{observed, s}, nil
	}
	h.LockGranted(false)
	return observed, nil
}

// Clear calls Clear of the inner lock. If the inner lock is not a lock.Clearer, Clear returns seckill.ErrBusy.
func (l *observedLocker) Clear(ctx context.Context, key string) error {
	if c, ok := l.Locker.(lock.Clearer); ok {
		return c.Clear(ctx, key)
	}
	return seckill.ErrBusy
}

type observedLease struct {
	lock.Lease
	holder LockObserver
}

func (l *observedLease) Release(ctx context.Context) error {
	defer l.holder.LockReleasing()()
	return l.Lease.Release(ctx)
}
