package local

import (
	"context"
	"embed"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
)

//go:embed mutex_per_request.go
//go:embed mutex_per_request.en.md mutex_per_request.zh.md
var mutexPerRequestFiles embed.FS

// MutexPerRequest locks a mutex that nobody else knows.
var MutexPerRequest = catalog.Info{
	Name:   "mutex-per-request",
	Title:  "A mutex of one's own",
	Family: "local",
	Source: "A, second idea: why the lock works on a singleton only",
	Idea: "Every request makes its own service object, and the lock " +
		"belongs to the object. It is taken and freed properly, " +
		"before the read and after the COMMIT.",
	Promises: "Nothing once two buyers overlap, in one process or in " +
		"several.",
	Breaks: "A lock excludes only those who ask for the same one. Here " +
		"everybody asks for his own and gets it at once, so this is " +
		"a read, a computation and a write without any lock: two " +
		"buyers read the same number, and the second write buries " +
		"the first. The code around the lock looks faultless; the " +
		"mistake is where the lock is made. How a buyer ends, by a " +
		"crash, a power loss or a hang, changes nothing for the " +
		"others: his lock never held them up.",
	Guarantees: catalog.Unsound.Holds(catalog.OtherSKUs),
	Needs:      []backend.Capability{backend.SQL},
	Stock:      ledger.HomeRow,
	Files:      mutexPerRequestFiles,
	Locker: func(catalog.Deps) (lock.Locker, error) {
		return mutexPerRequest{}, nil
	},
	Key: func(int64) string { return "stock" },
}

type mutexPerRequest struct{}

func (mutexPerRequest) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	return newMutex().Acquire(ctx, key, o)
}
