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

// A Pass is one measurement of one lock. Times are in milliseconds.
type Pass struct {
	Round int
	Locks int // acquired within the measured time
	Rate  float64

	// How long an acquisition took, of all that began within the measured time,
	// even if they ended later.
	WaitP50 float64
	WaitP99 float64

	Fewest int
	Most   int

	// Taken counts all acquisitions, also before and after the measured time.
	Taken int
	// Lost counts overwritten increments of the counter under the lock: other
	// than 0, two held it at a time.
	Lost int
	// Gone counts holders whose lock had ended before they released it.
	Gone int
	// Commands were sent to the backends for each acquisition.
	Commands float64
}

// A figure of a pass.
type figure func(Pass) float64

func locksPerSecondOf(p Pass) float64 { return p.Rate }
func waitP50(p Pass) float64          { return p.WaitP50 }
func waitP99(p Pass) float64          { return p.WaitP99 }
func commandsPerLock(p Pass) float64  { return p.Commands }

// fewestOverMost is fewest/most locks per contender: 1 is even, 0 means that one got
// none.
func fewestOverMost(p Pass) float64 {
	if p.Most == 0 {
		return 0
	}
	return float64(p.Fewest) / float64(p.Most)
}

// percentOfTaken is a part of all acquisitions.
func percentOfTaken(part func(Pass) int) figure {
	return func(p Pass) float64 {
		if p.Taken == 0 {
			return 0
		}
		return 100 * float64(part(p)) / float64(p.Taken)
	}
}

// A load is what the contenders of a lock do, and how long.
type load struct {
	info           catalog.Info
	settings       catalog.Settings
	keys           []string             // that acquisitions take in turn
	hold           func() time.Duration // nil: release at once
	warm, measured time.Duration
}

// grace is how much longer than planned a pass may take: to connect, and to
// hand the lock round once more at its end. Some locks fail to wake the last
// waiters.
const grace = 20 * time.Second

var errStalled = errors.New("it stalled: a contender did not get the lock, or could not release it")

// measurePass measures the lock once, with the pools and sessions of one process.
func (l load) measurePass(ctx context.Context, config backend.Config, contenders int) (pass Pass, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.warm+l.measured+grace, errStalled)
	defer cancel()
	config = config.Only(l.info.Needs...)
	config.MaxSQLConns = contenders + 4
	in, err := backend.Open(ctx, config)
	if err != nil {
		return pass, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	for _, need := range l.info.Needs {
		if ok, why := in.Config.Has(need); !ok {
			return pass, errors.New(why)
		}
	}
	r := &race{load: l, counters: make([]unprotected, len(l.keys))}
	if r.locker, err = catalog.NewLocker(l.info, catalog.Deps{Instance: in, Settings: l.settings}); err != nil {
		return pass, err
	}
	// The first acquisition is not measured: it makes things on a server, such as
	// the parent of a queue's nodes.
	lease, _, err := r.acquireNext(ctx)
	if err != nil {
		return pass, err
	}
	if err := lease.Release(ctx); err != nil && !errors.Is(err, lock.ErrNotHeld) {
		return pass, err
	}
	var seen tap.Counter
	pass, err = r.runRace(tap.Counting(ctx, &seen), contenders)
	if pass.Taken > 0 {
		sent := uint64(0)
		for _, name := range []string{tap.SQL, tap.Redis, tap.ZooKeeper, tap.Etcd} {
			sent += seen.Count(name)
		}
		pass.Commands = float64(sent) / float64(pass.Taken)
	}
	return pass, err
}

// A race is a pass under way.
type race struct {
	load
	locker     lock.Locker
	begin, end time.Time
	turn       atomic.Int64
	counters   []unprotected // of each key
	all, gone  atomic.Int64
}

// An unprotected counter loses increments that overlap.
type unprotected struct{ n atomic.Int64 }

func (u *unprotected) incrementAround(work func()) {
	n := u.n.Load()
	work()
	u.n.Store(n + 1)
}

// A lane is what one contender measured.
type lane struct {
	locks int
	waits []time.Duration
}

// acquireNext is an acquisition of a purchase, without a limit on the wait, with the counter that this lock
// protects.
func (r *race) acquireNext(ctx context.Context) (lock.Lease, *unprotected, error) {
	o := r.info.LockOptions(r.settings)
	o.Wait = -1
	key := r.turn.Add(1) % int64(len(r.keys))
	lease, err := r.locker.Acquire(ctx, r.keys[key], o)
	return lease, &r.counters[key], err
}

func (r *race) runRace(ctx context.Context, contenders int) (Pass, error) {
	now := time.Now()
	r.begin, r.end = now.Add(r.warm), now.Add(r.warm+r.measured)
	lanes := make([]lane, contenders)
	all, racing := errgroup.WithContext(ctx)
	// Locks are released even after the race ended or was interrupted.
	freeing, cancel := context.WithDeadline(context.WithoutCancel(ctx), r.end.Add(time.Minute))
	defer cancel()
	for i := range lanes {
		all.Go(func() error { return r.contendUntilEnd(racing, freeing, &lanes[i]) })
	}
	err := all.Wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return r.sumUp(lanes), err
}

func (r *race) contendUntilEnd(ctx, freeing context.Context, l *lane) error {
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
			l.waits = append(l.waits, got.Sub(asked))
		}
		if got.After(r.begin) && got.Before(r.end) {
			l.locks++
		}
		r.all.Add(1)
		counter.incrementAround(func() {
			if r.hold != nil {
				time.Sleep(r.hold())
			}
		})
		switch err := lease.Release(freeing); {
		case errors.Is(err, lock.ErrNotHeld):
			r.gone.Add(1)
		case err != nil:
			return err
		}
	}
}

func (r *race) sumUp(lanes []lane) Pass {
	pass := Pass{Fewest: lanes[0].locks, Taken: int(r.all.Load()),
		Lost: int(r.all.Load()), Gone: int(r.gone.Load())}
	for i := range r.counters {
		pass.Lost -= int(r.counters[i].n.Load())
	}
	waits := hdrhistogram.New(1, time.Hour.Microseconds(), 3)
	for _, l := range lanes {
		pass.Locks += l.locks
		pass.Fewest, pass.Most = min(pass.Fewest, l.locks), max(pass.Most, l.locks)
		for _, wait := range l.waits {
			_ = waits.RecordValue(max(1, wait.Microseconds())) // in range: a pass is shorter
		}
	}
	pass.Rate = float64(pass.Locks) / r.measured.Seconds()
	pass.WaitP50, pass.WaitP99 = float64(waits.ValueAtQuantile(50))/1000, float64(waits.ValueAtQuantile(99))/1000
	return pass
}
