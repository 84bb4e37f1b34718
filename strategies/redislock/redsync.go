package redislock

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// Redsync is the library go-redsync on one Redis server. The token of a lock
// guards only the release and not the stock.
var Redsync = family.Strategy(catalog.Info{
	Name: "redsync",
	Source: "ours: a popular Go library; A, sixth idea, and E, scheme 4: " +
		"random token, compare and delete in Lua",
	Guarantees: catalog.Leased.Holds(catalog.Owner).Breaks(catalog.NodeLoss),
	Redis:      []string{"SET", "EVALSHA", "EVAL", "GET", "DEL"},
	Also:       []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		// An attempt may take a quarter of the lease. The library's default
		// is a twentieth, so that a dead node among five costs little time.
		// With a single node, the default would discard every slow answer.
		return &redsyncLock{
			sync:       redsync.New(goredis.NewPool(d.Redis)),
			nodes:      1,
			maxAttempt: 0.25,
			ttl:        d.Settings.LockLease,
		}, nil
	},
})

type redsyncLock struct {
	sync       *redsync.Redsync
	nodes      int
	maxAttempt float64       // maximum time of an attempt, as a fraction of ttl
	ttl        time.Duration // the lease if Options.Lease is 0

	voters []*voter // used by redlock only
}

// Acquire does not use the library's loop, because its pauses bypass the tap
// (package tap). The loop also returns the same error for a lock that is taken
// and for a buyer who has left.
//
// If the key has another type, SET NX fails, so the lock counts as taken.
func (l *redsyncLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	var m *redsync.Mutex
	release := func(ctx context.Context) error {
		return l.releaseLock(ctx, m)
	}
	err := lock.Poll(ctx, o.Wait, redsyncPauses(), func() (bool, error) {
		// An attempt would not notice that ctx has ended, so stop here.
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		m = l.newMutex(ctx, key, ttl)
		err := m.TryLockContext(tap.Fan(ctx, l.nodes))
		if ctx.Err() == nil && isTaken(err) {
			return false, nil
		}
		if err != nil {
			// The library undoes the attempt only under the buyer's context,
			// which has ended if the buyer has left.
			lock.UndoUnclear(ctx, release)
		}
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	h := lock.NewHold(ctx, 0, release)
	h.ExpireAt(m.Until())
	return h, nil
}

// newMutex returns a mutex with a new token for one attempt. If attempts
// shared a token, a delayed delete of an earlier attempt would delete the key
// of a later attempt, and a late holder would release the lock of the next
// holder. The token is made here because UndoUnclear needs it. The library
// would store its token only after it has the lock.
//
// An attempt ends when most nodes have answered. But with a stopped clock, as
// in the proof, it waits for all answers. So the proof need not try every
// order.
func (l *redsyncLock) newMutex(
	ctx context.Context, key string, ttl time.Duration,
) *redsync.Mutex {
	token := rand.Text()
	for _, v := range l.voters {
		v.attempts.Store(token, make(chan struct{}))
	}
	return l.sync.NewMutex(key,
		redsync.WithFailFast(!tap.ClockStopped(ctx)),
		redsync.WithExpiry(ttl),
		redsync.WithTimeoutFactor(l.maxAttempt),
		redsync.WithValue(token),
		redsync.WithGenValueFunc(func() (string, error) {
			return token, nil
		}))
}

func (l *redsyncLock) releaseLock(
	ctx context.Context, m *redsync.Mutex,
) error {
	return lock.ReleaseByToken(ctx, func() error {
		ok, err := m.UnlockContext(tap.Fan(ctx, l.nodes))
		switch {
		case ok:
			return nil
		case err == nil, errors.Is(err, redsync.ErrLockAlreadyExpired),
			isTaken(err), isOtherType(err):
			return lock.ErrNotHeld
		}
		return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	})
}

// redsyncPauses returns random pauses, from half a limit up to the limit. The
// limit doubles from 4 to 32 ms. So two contenders that each had some of the
// nodes rarely collide again. Shorter pauses would only cause more commands,
// and longer pauses would leave the lock unused.
func redsyncPauses() func() time.Duration {
	try := 0
	return func() time.Duration {
		pause := 4 * time.Millisecond << min(try, 3)
		try++
		return pause/2 + mathrand.N(pause/2)
	}
}

// isTaken reports whether err says that the key has another token, or that a
// release has found no key.
func isTaken(err error) bool {
	var node *redsync.ErrNodeTaken
	var quorum *redsync.ErrTaken
	return errors.As(err, &quorum) || errors.As(err, &node)
}
