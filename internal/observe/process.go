package observe

import (
	"context"
	"errors"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
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
