package redislock

import (
	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
)

// Redlock asks five independent Redis servers and has the lock when three of
// them agree: one may be lost, and the lock is not. One that forgets its vote
// gives a second majority if the holder had just three; a holder paused past
// its lease works on beside its successor.
var Redlock = catalog.Info{
	Name: "redlock",
	Source: "A, C (third Redis way): the RedLock algorithm " +
		"(S. Sanfilippo, \"Distributed Locks with Redis\")",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.TwoFaults, catalog.OtherSKUs, catalog.NodeLoss).
		Breaks(catalog.LeaseEnd, catalog.LateCommand),
	Needs: []backend.Capability{backend.RedisQuorum},
	Stock: ledger.InRow,
	Also:  []string{"redsync.go", "answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		var pools []redsyncredis.Pool
		for _, node := range d.RedisNodes {
			pools = append(pools, goredis.NewPool(node))
		}
		// A dead node may cost an attempt a twentieth of the lease.
		return &redsyncLock{redsync.New(pools...), len(pools), 0.05,
			d.Settings.LockLease}, nil
	},
	Key: stockKey,
}
