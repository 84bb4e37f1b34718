package local

import (
	"context"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// Mutex is one mutex for the whole process. A second process has a mutex of
// its own, and updates are lost between the two processes.
var Mutex = family.Strategy(catalog.Info{
	Name:   "mutex",
	Source: "A, second idea: locking in code",
	Guarantees: catalog.Sound.
		Holds(catalog.LostReply, catalog.TwoFaults).
		Breaks(catalog.Processes, catalog.LateCommand, catalog.OtherSKUs),
	Repair: "get-lock",
	Locker: func(catalog.Deps) (lock.Locker, error) {
		return newMutex(), nil
	},
	Key: func(int64) string { return "stock" },
})

// A mutex is a channel with one token in it. The buyer who takes the token
// holds the lock. Unlike with sync.Mutex, a buyer can limit the wait. A
// channel serves its receivers in the order in which they began to wait.
type mutex chan bool

func newMutex() mutex {
	m := make(mutex, 1)
	m <- true
	return m
}

// Acquire takes the mutex and ignores the key. There is no lease: the lock
// ends when it is released, or with the process.
func (m mutex) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	if err := m.waitForToken(ctx, key, o.Wait); err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(context.Context) error {
		m <- true
		return nil
	}), nil
}

func (m mutex) waitForToken(
	ctx context.Context, key string, wait time.Duration,
) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if wait == 0 {
		select {
		case <-m:
			return nil
		default:
			return seckill.ErrBusy
		}
	}
	if wait > 0 {
		var done context.CancelFunc
		ctx, done = context.WithTimeoutCause(ctx, wait, seckill.ErrBusy)
		defer done()
	}
	taken, err := tap.Wait(ctx, "the mutex "+key, m)
	if err != nil && taken {
		m <- true // Wait took the token and then failed, so put it back
	}
	if err != nil {
		return lock.AcquireError(ctx, err)
	}
	return nil
}
