package redislock

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
)

//go:embed redis_fenced.go fenced_lock.lua compare_and_delete.lua answers.go
//go:embed redis_fenced.en.md redis_fenced.zh.md
var fencedFiles embed.FS

//go:embed fenced_lock.lua
var fencedLockLua string

var takeAndCount = redis.NewScript(fencedLockLua)

// RedisFenced is redis-lua whose grants are numbered, and a stock row that
// refuses the write of an earlier grant (internal/lock/fenced.go).
//
// Where does the number come from? INCR alone is no fencing token: a Redis
// that restarts without its data begins again at 1, and a replica that is
// promoted goes on from what it had heard. The row would refuse every buyer
// until the counter has caught up. So the number must surpass two others: the
// last one that Redis knows, and the fence of the stock row, which the buyer
// reads before he asks for the lock. The row is as durable as the stock.
//
//   - Two holders at once, because a lease has ended: Redis knows the number
//     of the first, the second's is greater.
//   - Redis is emptied: the next number follows the row's. If the first holder
//     had not raised the row's fence yet, both have the same number. Then the
//     row lets only the first of them raise it, and refuses the other.
//   - A replica that lagged is promoted, or two primaries count side by side:
//     the same. Numbers may be given twice or be too low, and cost a refusal;
//     whoever asks next has read the row, and gets past it.
//   - A buyer waits for the lock while Redis is emptied: the fence that he
//     read is old, so his number may be too low. He is refused; the next one
//     reads again.
var RedisFenced = catalog.Info{
	Name:   "redis-fenced",
	Title:  "redis-lua with a fencing token",
	Family: "redislock",
	Source: "Martin Kleppmann, How to do distributed locking (2016)",
	Idea: "The lock of redis-lua, whose script also numbers the grants. " +
		"The holder raises stock.fence to its number before it reads " +
		"the stock, and writes the stock only where the fence is still " +
		"its own.",
	Promises: "Never oversells and never loses an update, whatever " +
		"becomes of Redis, of the lease and of the holder: a write " +
		"that comes late matches no row, its transaction is rolled " +
		"back, and the buyer is told of a conflict. The numbers follow " +
		"the stock row's, so a Redis that restarts without its data, " +
		"or fails over to a replica that lags, does not turn them back. " +
		"A dead or hung holder blocks the others for one lease at most.",
	Breaks: "Nothing breaks the stock. The lock itself is still given " +
		"twice when a lease ends under its holder, or when Redis " +
		"forgets the key: then the earlier holder has worked in vain, " +
		"and whatever it did besides writing the row (an e-mail, a call " +
		"to another service) is not fenced. While Redis is down nobody " +
		"buys. A holder about to COMMIT has the row locked, and its " +
		"successor waits for that.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LeaseEnd, catalog.Owner,
			catalog.LostReply, catalog.LateCommand, catalog.TwoFaults,
			catalog.OtherSKUs).
		Breaks(catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Stock: ledger.HomeRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer tries before he is told busy"},
		{Flag: "--lock-lease",
			Doc: "how long the key lives"},
		{Flag: "--lock-poll",
			Doc: "how long he pauses between two attempts"},
	},
	Files:  fencedFiles,
	Fenced: true,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &fencedLock{luaLock{d.Redis, d.Settings.LockPoll,
			d.Settings.LockLease}}, nil
	},
	Key: stockKey,
}

type fencedLock struct{ luaLock }

func (l *fencedLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl, token := cmp.Or(o.Lease, l.ttl), rand.Text()
	var asked time.Time
	var fence uint64
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		asked = time.Now()
		n, err := takeAndCount.Run(ctx, l.redis,
			[]string{key, grantsOf(key)},
			token, max(1, ttl.Milliseconds()), o.Above).Uint64()
		if err != nil { // it may have been taken all the same
			ctx, cancel := undoing(ctx)
			defer cancel()
			_ = l.free(ctx, key, token)
		}
		fence = n
		return n > 0, err
	})
	if err != nil {
		return nil, err
	}
	h := lock.NewHold(ctx, fence, func(ctx context.Context) error {
		return l.free(ctx, key, token)
	})
	h.Until(asked.Add(ttl))
	return h, nil
}

// grantsOf names the number of a lock's last grant. The braces put it on the
// lock's node of a Redis Cluster.
func grantsOf(key string) string { return "{" + key + "}:grants" }
