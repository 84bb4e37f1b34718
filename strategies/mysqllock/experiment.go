package mysqllock

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// A Comparison is B's experiment: the same lock operations through each
// version of the lock table. B measured 8 s for one central row and 5 s for a
// hundred.
type Comparison struct {
	Workers, Each int // goroutines, and lock operations of each
	Names         int // different locks that they take

	V1, Central, Segmented Measured
}

// Measured is what one version needed.
type Measured struct {
	Took      time.Duration
	Deadlocks int // that the server ended, each with one more attempt
}

// Ratio is how many times longer the one central row took than the hundred.
func (c Comparison) Ratio() float64 {
	return c.Central.Took.Seconds() / c.Segmented.Took.Seconds()
}

func (c Comparison) String() string {
	return fmt.Sprintf("%d × %d lock operations on %d names: version 1 %v "+
		"with %d deadlocks, one central row %v with %d, a hundred %v with "+
		"%d; ratio %.2f (B: 8 s and 5 s, 1.60)",
		c.Workers, c.Each, c.Names,
		c.V1.Took.Round(time.Millisecond), c.V1.Deadlocks,
		c.Central.Took.Round(time.Millisecond), c.Central.Deadlocks,
		c.Segmented.Took.Round(time.Millisecond), c.Segmented.Deadlocks,
		c.Ratio())
}

// Experiment has so many workers take and free so many locks each, first
// through version 1, then through one central row, then through a hundred. An
// operation takes a lock and frees it again. There are five times as many
// names as workers, so that it is the tables that make them wait and hardly
// ever the locks; no name was used before.
//
// A worker polls without end: his operation counts when it is done. That of
// d.Settings only RecordLock and LockPoll matter.
func Experiment(
	ctx context.Context, d catalog.Deps, workers, each int,
) (c Comparison, err error) {
	c = Comparison{Workers: workers, Each: each, Names: 5 * workers}
	for _, version := range []struct {
		info catalog.Info
		into *Measured
	}{
		{LockTableV1, &c.V1},
		{LockTableCentral, &c.Central},
		{LockTableSegmented, &c.Segmented},
	} {
		*version.into, err = c.measure(ctx, d, version.info)
		if err != nil {
			return c, fmt.Errorf("%s: %w", version.info.Name, err)
		}
	}
	return c, nil
}

func (c Comparison) measure(
	ctx context.Context, d catalog.Deps, info catalog.Info,
) (m Measured, err error) {
	var deadlocks deadlockCounter
	d.Observe = &deadlocks
	locker, err := catalog.NewLocker(info, d)
	if err != nil {
		return m, err
	}
	prefix := fmt.Sprintf("seckill:experiment:%x:", time.Now().UnixNano())
	defer func() {
		tidy, cancel := context.WithTimeout(
			context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if left := d.LockDB.WithContext(tidy).Exec("DELETE FROM "+
			"lock_record WHERE name LIKE ?", prefix+"%").Error; err == nil {
			err = left
		}
	}()
	begun := time.Now()
	all, ctx := errgroup.WithContext(ctx)
	for worker := range c.Workers {
		all.Go(func() error {
			for i := range c.Each {
				name := fmt.Sprint(prefix, (worker+i*c.Workers)%c.Names)
				err := operate(ctx, locker, name)
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = all.Wait()
	m = Measured{time.Since(begun), int(deadlocks.n.Load())}
	return m, err
}

func operate(ctx context.Context, l lock.Locker, name string) error {
	lease, err := l.Acquire(ctx, name,
		lock.Options{Wait: -1, Lease: time.Hour})
	if err != nil {
		return err
	}
	return lease.Release(context.WithoutCancel(ctx))
}

// deadlockCounter observes: what these locks try again is a deadlock.
type deadlockCounter struct{ n atomic.Int64 }

func (*deadlockCounter) LockWaited(float64) {}
func (c *deadlockCounter) Retried()         { c.n.Add(1) }
