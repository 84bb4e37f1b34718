package mysqllock

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

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
	Done      int // operations; version 1 may not come to the end of them
	Deadlocks int // that the server ended, each with one more attempt
}

func (m Measured) String() string {
	return fmt.Sprintf("%d in %v with %d deadlocks",
		m.Done, m.Took.Round(time.Millisecond), m.Deadlocks)
}

// Ratio is how many times longer the one central row took than the hundred.
func (c Comparison) Ratio() float64 {
	return c.Central.Took.Seconds() / c.Segmented.Took.Seconds()
}

func (c Comparison) String() string {
	return fmt.Sprintf("%d × %d lock operations on %d names: "+
		"version 1 %v; one central row %v; a hundred %v; "+
		"ratio %.2f (B: 8 s and 5 s, 1.60)",
		c.Workers, c.Each, c.Names, c.V1, c.Central, c.Segmented, c.Ratio())
}

// Experiment has so many workers take and free so many locks each, first
// through version 1, then through one central row, then through a hundred. An
// operation takes a lock and frees it again. There are five times as many
// names as workers, so that it is the tables that make them wait and hardly
// ever the locks; no name was used before.
//
// A worker polls until his operation is done. Version 1 is stopped after
// v1Limit: with some dozens of workers it does little else than deadlock, and
// its operations are not comparable, only its deadlocks are. (MariaDB 10.11,
// left alone with 32 connections of it, ended 48,000 deadlocks in three
// minutes, and one INSERT waited through all of them, far past
// innodb_lock_wait_timeout.) Of d.Settings RecordLock and LockPoll matter.
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

const v1Limit = 10 * time.Second

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
		if left := tidy(ctx, d.LockDB, prefix); err == nil {
			err = left
		}
	}()
	limited := ctx
	if info.Name == LockTableV1.Name {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, v1Limit)
		defer cancel()
	}
	var done atomic.Int64
	begun := time.Now()
	all, working := errgroup.WithContext(limited)
	for worker := range c.Workers {
		all.Go(func() error {
			for i := range c.Each {
				name := fmt.Sprint(prefix, (worker+i*c.Workers)%c.Names)
				err := operate(working, locker, name)
				if limited.Err() != nil {
					return ctx.Err()
				}
				if err != nil {
					return err
				}
				done.Add(1)
			}
			return nil
		})
	}
	err = all.Wait()
	return Measured{time.Since(begun), int(done.Load()),
		int(deadlocks.n.Load())}, err
}

// tidy ends statements that were left waiting in the server by those whose
// time was over, and removes the records.
func tidy(ctx context.Context, db *gorm.DB, prefix string) error {
	ctx, cancel := context.WithTimeout(
		context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	db = db.WithContext(ctx)
	var left []int64
	err := db.Raw("SELECT ID FROM information_schema.PROCESSLIST "+
		"WHERE INFO LIKE ? AND ID <> CONNECTION_ID()",
		"%"+prefix+"%").Scan(&left).Error
	if err != nil {
		return err
	}
	for _, id := range left {
		_ = db.Exec("KILL ?", id).Error // or it has gone meanwhile
	}
	for {
		err := db.Exec("DELETE FROM lock_record WHERE name LIKE ?",
			prefix+"%").Error
		if !undone(err) && !held(err) {
			return err
		}
	}
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
