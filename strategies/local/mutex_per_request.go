package local

import (
	"context"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// MutexPerRequest makes a new mutex for each request. No other request can see
// this mutex, so it keeps nobody out.
var MutexPerRequest = family.Strategy(catalog.Info{
	Name:       "mutex-per-request",
	Source:     "A, second idea: why the lock works on a singleton only",
	Guarantees: catalog.Unsound.Holds(catalog.OtherSKUs),
	Repair:     "get-lock",
	Also:       []string{"mutex.go"},
	Locker: func(catalog.Deps) (lock.Locker, error) {
		return mutexPerRequest{}, nil
	},
	Key: func(int64) string { return "stock" },
})

type mutexPerRequest struct{}

func (mutexPerRequest) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	return newMutex().Acquire(ctx, key, o)
}
