package local

import (
	"context"
	"fmt"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// MutexPerSKU locks one mutex for each SKU. A second process has mutexes of
// its own, and updates are lost between the two processes.
var MutexPerSKU = family.Strategy(catalog.Info{
	Name:   "mutex-per-sku",
	Source: "A, second idea: finer granularity",
	Guarantees: catalog.Sound.
		Holds(catalog.LostReply, catalog.TwoFaults, catalog.OtherSKUs).
		Breaks(catalog.Processes, catalog.LateCommand),
	Repair: "get-lock",
	Locker: func(catalog.Deps) (lock.Locker, error) {
		return &skuMutexes{}, nil
	},
	Key: func(sku int64) string { return fmt.Sprint("stock ", sku) },
})

// skuMutexes has a mutex for each SKU in use. The gate makes a mutex at its
// first use and removes it after the last use. Requests may name any SKU, so
// keeping every mutex would fill the memory.
type skuMutexes struct{ gate lock.Gate[struct{}] }

func (s *skuMutexes) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	permit, err := s.gate.Acquire(ctx, key, o.Wait)
	if err != nil {
		return nil, lock.AcquireError(ctx, err)
	}
	return lock.NewHold(ctx, 0, func(context.Context) error {
		permit.Release()
		return nil
	}), nil
}
