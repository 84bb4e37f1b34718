// Package guards has the variants of strategies that the game's Defend is about:
// code with a hole, and its repairs, right ones and wrong ones. They are played
// and searched like any strategy, and not offered by the service: they are not in
// the list of strategies.
//
// One file is one exercise. internal/game/defences says which variants are its
// choices, and which of their functions are shown.
package guards

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

//go:embed batch.go deadline.go expiry.go fence.go lost_update.go owner.go slots.go
var files embed.FS

// All are the variants, by exercise.
func All() []catalog.Info {
	return slices.Concat(lostUpdate, expiry, owner, fence, batches, deadlines, slots)
}

// variant describes one that deducts stock by itself.
func variant(name string, build func(catalog.Deps) seckill.Strategy, needs ...backend.Capability) catalog.Info {
	return catalog.Info{Name: name, Title: name, Family: "guards", Needs: append([]backend.Capability{backend.SQL}, needs...),
		Stock: ledger.InRow, Files: files,
		New: func(d catalog.Deps) (seckill.Strategy, error) { return build(d), nil }}
}

// locking describes one that is a lock in Redis, round the unprotected
// read–compute–write.
func locking(name string, build func(redisLock) lock.Locker) catalog.Info {
	return catalog.Info{Name: name, Title: name, Family: "guards", Needs: []backend.Capability{backend.Redis},
		Stock: ledger.InRow, Files: files,
		Locker: func(d catalog.Deps) (lock.Locker, error) {
			return build(redisLock{redis: d.Redis, poll: d.Settings.LockPoll, ttl: d.Settings.LockLease, now: d.Now}), nil
		},
		Key: func(sku int64) string { return fmt.Sprint("seckill:lock:stock:", sku) }}
}

// final: there are no cancellations in these exercises.
type final struct{}

func (final) Restore(context.Context, string) error { return errors.ErrUnsupported }
