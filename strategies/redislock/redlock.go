package redislock

import (
	"embed"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
)

//go:embed redlock.go redsync.go answers.go
//go:embed redlock.en.md redlock.zh.md
var redlockFiles embed.FS

// Redlock asks five Redis servers that know nothing of each other, and has the
// lock when three of them agree: one may be lost, or forget, without the lock
// being lost with it.
var Redlock = catalog.Info{
	Name:   "redlock",
	Title:  "Redlock: redsync on five independent Redis",
	Family: "redislock",
	Source: "A, C (third Redis way): the RedLock algorithm " +
		"(S. Sanfilippo, \"Distributed Locks with Redis\")",
	Idea: "SET key token NX PX lease on all five nodes at once, with a " +
		"short time-out each. Three that agree, in less than the " +
		"lease: it is taken, for what is left of the lease. Fewer: " +
		"free it everywhere, pause at random, try again. " +
		"Compare-and-delete on all five frees.",
	Promises: "One holder at a time across any number of processes, " +
		"while three nodes keep their keys, their clocks run alike " +
		"and the holder is done before his lease is. Two of five " +
		"nodes may be down. Nobody frees another's lock. A dead or " +
		"hung holder blocks the others for one lease at most, " +
		"whichever way he died.",
	Breaks: "As with every lease, a holder that is paused past it works " +
		"on beside his successor (M. Kleppmann, \"How to do " +
		"distributed locking\"): five nodes make the lock survive, " +
		"not the stock safe; that would take a fence, and Redlock has " +
		"none. A node that restarts without its data has forgotten " +
		"its vote: where the holder had just three, one such node is " +
		"enough for a second holder. A clock that jumps ends a vote " +
		"early. Five servers are five commands for each one of the " +
		"others.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.TwoFaults, catalog.OtherSKUs, catalog.NodeLoss).
		Breaks(catalog.LeaseEnd, catalog.LateCommand),
	Needs: []backend.Capability{backend.RedisQuorum},
	Stock: ledger.HomeRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer tries before he is told busy"},
		{Flag: "--lock-lease",
			Doc: "how long the keys live if nobody frees them"},
	},
	Files: redlockFiles,
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
