package bench

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/tap"
)

// A Pass is one measurement of one trial.
type Pass struct {
	Round    int
	Acquired int // number of all acquisitions, including those outside of the measured time
	Lost     int // number of increments that another holder overwrote; if not 0, the lock had two holders at a time
	Figures  map[string]float64
}

// These are the figures of a pass. The lessons read some of them by these names.
const (
	locksPerSecond = "locks_per_second" // acquisitions per second within the measured time
	// These figures are quantiles of the time that an acquisition took, in milliseconds. They include every
	// acquisition that began within the measured time, even if it ended later.
	waitP50 = "p50_ms"
	waitP99 = "p99_ms"
	// fewestOverMost is the number of acquisitions of the contender with the fewest, divided by that of the
	// contender with the most. It is 0 if a contender never got the lock.
	fewestOverMost = "fewest_over_most"
	lostPercent    = "lost_percent"    // Pass.Lost as a percentage of Pass.Acquired
	expiredPercent = "expired_percent" // percentage of acquisitions whose holder lost the lock before releasing it
	commands       = "commands"        // mean number of commands for an acquisition and its release
)

// A gatedLocker is a lock with a gate for each key. Only the contender that has passed the gate waits for the lock
// itself; the other contenders of this process queue at the gate.
type gatedLocker struct {
	lock.Locker
	gate lock.Gate[struct{}]
}

type gatedLease struct {
	lock.Lease
	permit *lock.Permit[struct{}]
}

// Acquire waits at the gate of key and then acquires key from the inner locker.
func (g *gatedLocker) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	permit, err := g.gate.Acquire(ctx, key, o.Wait)
	if err != nil {
		return nil, err
	}
	lease, err := g.Locker.Acquire(ctx, key, o)
	if err != nil {
		permit.Release()
		return nil, err
	}
	return gatedLease{lease, permit}, nil
}

func (l gatedLease) Release(ctx context.Context) error {
	defer l.permit.Release()
	return l.Lease.Release(ctx)
}

// maxOverrun limits how much longer than planned a pass takes. Contenders need time to connect, and each waiting
// contender gets the lock once more. The limit ends the pass even if a lock fails to wake its last waiters.
const maxOverrun = 20 * time.Second

var errStalled = errors.New("the lock stalled: a contender did not get it, or could not release it")

// measurePass measures the lock once. All contenders are in one process and share its connections.
func (s *Trial) measurePass(ctx context.Context, config backend.Config) (pass Pass, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.warmUp+s.measured+maxOverrun, errStalled)
	defer cancel()
	config = config.Only(s.info.Needs...)
	config.MaxSQLConns = s.Contenders + 4
	in, err := backend.Open(ctx, config)
	if err != nil {
		return pass, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	for _, need := range s.info.Needs {
		if ok, why := in.Config.Has(need); !ok {
			return pass, errors.New(why)
		}
	}
	r := &runningPass{Trial: s, counters: make([]unsafeCounter, len(s.keys))}
	if r.locker, err = catalog.NewLocker(s.info, catalog.Deps{Instance: in, Settings: s.settings}); err != nil {
		return pass, err
	}
	if s.gated {
		r.locker = &gatedLocker{Locker: r.locker}
	}
	// The first acquisition may create something on a server, such as the parent of a queue's nodes. So it is made
	// before the measurement.
	lease, _, err := r.acquireNext(ctx)
	if err != nil {
		return pass, err
	}
	if err := lease.Release(ctx); err != nil && !errors.Is(err, lock.ErrNotHeld) {
		return pass, err
	}
	var seen tap.Counter
	pass, err = r.measure(tap.Counting(ctx, &seen))
	if pass.Acquired > 0 {
		sent := uint64(0)
		for _, name := range []string{tap.SQL, tap.Redis, tap.ZooKeeper, tap.Etcd} {
			sent += seen.Count(name)
		}
		pass.Figures[commands] = float64(sent) / float64(pass.Acquired)
	}
	return pass, err
}

type runningPass struct {
	*Trial
	locker            lock.Locker
	begin, end        time.Time // begin and end of the measured time
	turn              atomic.Int64
	counters          []unsafeCounter // one for each key
	acquired, expired atomic.Int64
}

// An unsafeCounter loses an increment if two increments overlap.
type unsafeCounter struct{ n atomic.Int64 }

func (u *unsafeCounter) incrementAround(work func()) {
	n := u.n.Load()
	work()
	u.n.Store(n + 1)
}

type contender struct {
	locks int             // the number of acquisitions within the measured time
	waits []time.Duration // the durations of the acquisitions that began within the measured time
}

// acquireNext acquires the next key with the options of a purchase, but with no limit on the wait. It also returns
// the counter of that key.
func (r *runningPass) acquireNext(ctx context.Context) (lock.Lease, *unsafeCounter, error) {
	o := r.info.LockOptions(r.settings)
	o.Wait = -1
	key := r.turn.Add(1) % int64(len(r.keys))
	lease, err := r.locker.Acquire(ctx, r.keys[key], o)
	return lease, &r.counters[key], err
}

func (r *runningPass) measure(ctx context.Context) (Pass, error) {
	now := time.Now()
	r.begin, r.end = now.Add(r.warmUp), now.Add(r.warmUp+r.measured)
	all := make([]contender, r.Contenders)
	group, contending := errgroup.WithContext(ctx)
	// A holder must be able to release its lock even after the pass has ended or was cancelled.
	releasing, cancel := context.WithDeadline(context.WithoutCancel(ctx), r.end.Add(time.Minute))
	defer cancel()
	for i := range all {
		group.Go(func() error { return r.contendUntilEnd(contending, releasing, &all[i]) })
	}
	err := group.Wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return r.sumUp(all), err
}

func (r *runningPass) contendUntilEnd(ctx, releasing context.Context, c *contender) error {
	for {
		asked := time.Now()
		if asked.After(r.end) {
			return nil
		}
		lease, counter, err := r.acquireNext(ctx)
		if err != nil {
			return err
		}
		got := time.Now()
		if asked.After(r.begin) {
			c.waits = append(c.waits, got.Sub(asked))
		}
		if got.After(r.begin) && got.Before(r.end) {
			c.locks++
		}
		r.acquired.Add(1)
		counter.incrementAround(func() {
			if r.hold != nil {
				time.Sleep(r.hold())
			}
		})
		switch err := lease.Release(releasing); {
		case errors.Is(err, lock.ErrNotHeld):
			r.expired.Add(1)
		case err != nil:
			return err
		}
	}
}

func (r *runningPass) sumUp(all []contender) Pass {
	pass := Pass{Acquired: int(r.acquired.Load()), Lost: int(r.acquired.Load())}
	for i := range r.counters {
		pass.Lost -= int(r.counters[i].n.Load())
	}
	locks, fewest, most := 0, all[0].locks, 0
	waits := hdrhistogram.New(1, time.Hour.Microseconds(), 3)
	for _, c := range all {
		locks += c.locks
		fewest, most = min(fewest, c.locks), max(most, c.locks)
		for _, wait := range c.waits {
			// A pass takes less than an hour, so no wait is outside of the histogram's range.
			_ = waits.RecordValue(max(1, wait.Microseconds()))
		}
	}
	acquired := float64(max(1, pass.Acquired))
	pass.Figures = map[string]float64{
		locksPerSecond: float64(locks) / r.measured.Seconds(),
		waitP50:        float64(waits.ValueAtQuantile(50)) / 1000,
		waitP99:        float64(waits.ValueAtQuantile(99)) / 1000,
		fewestOverMost: float64(fewest) / float64(max(1, most)),
		lostPercent:    100 * float64(pass.Lost) / acquired,
		expiredPercent: 100 * float64(r.expired.Load()) / acquired,
	}
	return pass
}
