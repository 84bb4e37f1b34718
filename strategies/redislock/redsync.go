package redislock

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

//go:embed redsync.go
var redsyncFiles embed.FS

// Redsync is the library go-redsync on one Redis.
var Redsync = catalog.Info{
	Name:   "redsync",
	Title:  "redsync on one Redis",
	Family: "redislock",
	Source: "ours: the Go library that people reach for; A, E (fourth " +
		"scheme): random token, compare-and-delete in Lua",
	Idea: "SET key token NX PX lease takes the lock; a Lua script that " +
		"compares the token frees it. Whoever finds it taken tries " +
		"again after a random pause until his time is up.",
	Promises: "One holder at a time across any number of processes, " +
		"while Redis keeps the key and the holder is done before his " +
		"lease is. Nobody frees another's lock. A dead holder blocks " +
		"the others for one lease at most, however he died: closed " +
		"sockets, power loss and a hung process are all the same to " +
		"a key that expires.",
	Breaks: "A holder that is paused past his lease works on beside his " +
		"successor: the token guards the release, not the stock. The " +
		"lease's context warns him on his own clock, but not between " +
		"his last look and his COMMIT. A Redis that restarts without " +
		"its data, or fails over before it has replicated the key, " +
		"forgets the lock. Renewed (lease 0), a hung holder with a " +
		"living renewer blocks the others for ever. No order among " +
		"waiters: luck decides, and some wait long.",
	Guarantees: catalog.Guarantees{
		catalog.S: catalog.Holds, catalog.M: catalog.Holds,
		catalog.C: catalog.Holds, catalog.P: catalog.Breaks,
		catalog.O: catalog.Holds, catalog.I: catalog.Holds,
		catalog.N: catalog.Breaks,
	},
	Needs: []backend.Capability{backend.Redis},
	Stock: ledger.HomeRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer tries before he is told busy"},
		{Flag: "--lock-lease",
			Doc: "how long the key lives if nobody frees it"},
	},
	Files: redsyncFiles,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &redsyncLock{
			sync: redsync.New(goredis.NewPool(d.Redis)),
			ttl:  d.Settings.LockLease,
		}, nil
	},
	Key: func(sku int64) string {
		return fmt.Sprint("seckill:lock:stock:", sku)
	},
}

type redsyncLock struct {
	sync *redsync.Redsync
	ttl  time.Duration // of a lock that is renewed
}

// Acquire tries, and pauses, by itself: the library's own loop would sleep
// where nobody sees it, and says "failed" alike for a lock that is taken and
// for a buyer who has left.
//
// A key of another type counts as taken: SET NX leaves it alone.
func (l *redsyncLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := o.Lease
	if ttl <= 0 {
		ttl = l.ttl
	}
	m := l.mutex(key, ttl)
	end := time.Now().Add(o.Wait)
	for try := 0; ; try++ {
		err := m.TryLockContext(ctx)
		if err == nil {
			return newRedsyncLease(ctx, m, ttl, o.Lease <= 0), nil
		}
		if ctx.Err() != nil {
			l.undo(ctx, m)
			return nil, context.Cause(ctx)
		}
		if !taken(err) {
			l.undo(ctx, m)
			return nil, fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
		}
		pause := redsyncPause(try)
		if o.Wait >= 0 {
			left := time.Until(end)
			if left <= 0 {
				return nil, seckill.ErrBusy
			}
			pause = min(pause, left) // and one last try at the end
		}
		if err := tap.Sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// Every buyer has a mutex of his own, with a token of his own: a mutex that is
// shared would be every buyer's at once. The token is ours, so that undo knows
// it: the library keeps it only once it has won.
//
// An attempt may last a quarter of the lease. The library's own limit, a
// twentieth, is made for five nodes of which some may be dead: with one
// node, giving up early only turns a slow answer into none.
func (l *redsyncLock) mutex(key string, ttl time.Duration) *redsync.Mutex {
	token := rand.Text()
	return l.sync.NewMutex(key,
		redsync.WithExpiry(ttl),
		redsync.WithTimeoutFactor(0.25),
		redsync.WithValue(token),
		redsync.WithGenValueFunc(func() (string, error) {
			return token, nil
		}))
}

// undo frees what an attempt may have taken although its reply was lost. The
// library does the same, but under the buyer's context, which may be the very
// reason why the reply was lost. If Redis cannot be reached now either, the
// key ends with its lease.
func (l *redsyncLock) undo(ctx context.Context, m *redsync.Mutex) {
	ctx, cancel := context.WithTimeout(
		context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = m.UnlockContext(ctx)
}

// Pauses double from 4 to 32 ms and are drawn at random, at least half: a
// shorter one only asks Redis more often, a longer one leaves the lock unused.
func redsyncPause(try int) time.Duration {
	pause := 4 * time.Millisecond << min(try, 3)
	return pause/2 + mathrand.N(pause/2)
}

// taken: somebody else's token (or none, when it is freed) is in the key.
func taken(err error) bool {
	var node *redsync.ErrNodeTaken
	var quorum *redsync.ErrTaken
	return errors.As(err, &quorum) || errors.As(err, &node)
}

type redsyncLease struct {
	mutex *redsync.Mutex
	ctx   context.Context
	end   context.CancelCauseFunc
	timer *time.Timer // warns the holder when his lease is over

	stop    context.CancelFunc // the renewer, if there is one
	stopped chan struct{}
}

// The deadline counts from the moment before the command was sent, on the
// monotonic clock, less a hundredth for clocks that differ: Redis began to
// count later, so the holder is told before anybody else can get the lock.
func newRedsyncLease(
	ctx context.Context, m *redsync.Mutex, ttl time.Duration, renew bool,
) *redsyncLease {
	l := &redsyncLease{mutex: m}
	l.ctx, l.end = context.WithCancelCause(ctx)
	renewer, stop := context.WithCancel(
		tap.Background(context.WithoutCancel(ctx)))
	l.stop = stop
	l.timer = time.AfterFunc(time.Until(m.Until()), func() {
		l.end(lock.ErrLost)
		stop() // what was called lost is not taken up again
	})
	if renew {
		l.stopped = make(chan struct{})
		go l.renew(renewer, ttl)
	}
	return l
}

// renew extends the lease at a third of it, so that two renewals may fail.
// "Not yours" means lost: the holder is told. Any other failure may pass, and
// the timer has the last word. The key is never set anew: it may have been
// somebody else's meanwhile.
func (l *redsyncLease) renew(ctx context.Context, ttl time.Duration) {
	defer close(l.stopped)
	for tap.Sleep(ctx, ttl/3) == nil {
		ok, err := l.mutex.ExtendContext(ctx)
		switch {
		case ok:
			l.timer.Reset(time.Until(l.mutex.Until()))
		case ctx.Err() == nil && taken(err):
			l.end(lock.ErrLost)
			return
		}
	}
}

func (l *redsyncLease) Context() context.Context { return l.ctx }

// Fence is 0: Redis hands out no number that grows with every holder.
func (l *redsyncLease) Fence() uint64 { return 0 }

// Release joins the renewer first, or it could extend what is being freed.
func (l *redsyncLease) Release(ctx context.Context) error {
	l.stop()
	if l.stopped != nil {
		_, err := tap.Wait(ctx, "the lock's renewer", l.stopped)
		if err != nil {
			return err // the key ends with its lease
		}
	}
	l.timer.Stop()
	defer l.end(context.Canceled)
	ok, err := l.mutex.UnlockContext(ctx)
	switch {
	case ok:
		return nil
	case errors.Is(err, redsync.ErrLockAlreadyExpired),
		taken(err), strings.Contains(err.Error(), "WRONGTYPE"):
		return lock.ErrNotHeld
	}
	return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
}
