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

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// Redsync is the library go-redsync on one Redis. Its token guards the
// release, not the stock.
var Redsync = catalog.Info{
	Name: "redsync",
	Source: "ours: the Go library that people reach for; A, E (fourth " +
		"scheme): random token, compare-and-delete in Lua",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.TwoFaults, catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd, catalog.LateCommand, catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Redis: []string{"SET", "EVALSHA", "EVAL", "GET", "DEL"},
	Stock: seckill.InRow,
	Also:  []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		// An attempt may last a quarter of the lease. The library's own
		// limit, a twentieth, is made for five nodes of which some may be
		// dead: with one, giving up early turns a slow answer into none.
		return &redsyncLock{redsync.New(goredis.NewPool(d.Redis)), 1, 0.25,
			d.Settings.LockLease, nil}, nil
	},
	Key: stockKey,
}

type redsyncLock struct {
	sync       *redsync.Redsync
	nodes      int
	maxAttempt float64       // of an attempt, as a part of the lease
	ttl        time.Duration // when Options name none

	voters []*voter // of redlock
}

// Acquire has its own loop: the library's would sleep unseen by the tap, and
// reports "failed" both for a lock that is taken and for a buyer who has left.
//
// A key of another type counts as taken: SET NX leaves it alone.
func (l *redsyncLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	var m *redsync.Mutex
	err := lock.Poll(ctx, o.Wait, redsyncPauses(), func() (bool, error) {
		if ctx.Err() != nil { // what is sent does not end with its buyer
			return false, context.Cause(ctx)
		}
		m = l.newMutex(ctx, key, ttl)
		err := m.TryLockContext(tap.Fan(ctx, l.nodes))
		if ctx.Err() == nil && isTaken(err) {
			return false, nil
		}
		if err != nil {
			l.undo(ctx, m)
		}
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	h := lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return l.releaseLock(ctx, m)
	})
	h.ExpireAt(m.Until())
	return h, nil
}

// Every attempt has a mutex of its own, with a token of its own: one that is
// shared keeps the last winner's, which a late holder would free. And what an
// attempt that failed still has on its way to a node would free what the next
// one took there, if the token were the same. The token
// is ours, so that undo knows it: the library keeps it only once it has won.
//
// It goes on when most nodes have answered. Where no time passes none is slow,
// and all are heard: a proof of one order of answers is one of all.
func (l *redsyncLock) newMutex(
	ctx context.Context, key string, ttl time.Duration,
) *redsync.Mutex {
	token := rand.Text()
	for _, v := range l.voters {
		v.attempts.Store(token, make(chan struct{}))
	}
	return l.sync.NewMutex(key,
		redsync.WithFailFast(!tap.TimeStands(ctx)),
		redsync.WithExpiry(ttl),
		redsync.WithTimeoutFactor(l.maxAttempt),
		redsync.WithValue(token),
		redsync.WithGenValueFunc(func() (string, error) {
			return token, nil
		}))
}

// undo frees what an attempt may have taken although its reply was lost. The
// library does the same, but under the buyer's context, which may be the very
// reason why the reply was lost.
func (l *redsyncLock) undo(ctx context.Context, m *redsync.Mutex) {
	ctx, cancel := undoing(ctx)
	defer cancel()
	_ = l.releaseLock(ctx, m)
}

func (l *redsyncLock) releaseLock(ctx context.Context, m *redsync.Mutex) error {
	return lock.FreeByToken(ctx, func() error {
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

// Pauses double from 4 to 32 ms and are drawn at random, at least half: a
// shorter one only asks Redis more often, a longer one leaves the lock unused.
// Two contenders that have split the nodes do not meet again at once.
func redsyncPauses() func() time.Duration {
	try := 0
	return func() time.Duration {
		pause := 4 * time.Millisecond << min(try, 3)
		try++
		return pause/2 + mathrand.N(pause/2)
	}
}

// taken: another's token (or none, when it is freed) is in the key.
func isTaken(err error) bool {
	var node *redsync.ErrNodeTaken
	var quorum *redsync.ErrTaken
	return errors.As(err, &quorum) || errors.As(err, &node)
}
