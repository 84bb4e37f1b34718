package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/measure"
)

// LockTables repeats article B's experiment: the same lock operations through
// each version of its lock table. B measured 8 s for one central row and 5 s for
// a hundred.
//
// There are five times as many names as workers, so that workers wait for the
// tables and hardly ever for a lock; the names were never used before.
type LockTables struct {
	Backends      backend.Config
	Settings      catalog.Settings // only RecordLock and LockPoll matter
	V1            catalog.Info
	Central       catalog.Info // one row
	Segmented     catalog.Info // a hundred rows
	Workers, Each int          // goroutines, and lock operations of each
	Rounds        int
	Progress      func(done, total int, what string)
}

// A tablePass is what one version of the lock table took.
type tablePass struct {
	round     int
	took      time.Duration
	done      int // operations; version 1 may not finish
	deadlocks int // resolved by the server, each with one more attempt
}

func (p tablePass) String() string {
	return fmt.Sprintf("%d in %v with %d deadlocks", p.done, p.took.Round(time.Millisecond), p.deadlocks)
}

// Run returns how many times longer one central row took than a hundred, and a
// sentence per round.
func (l LockTables) Run(ctx context.Context) (ratio measure.Spread, rounds []string, err error) {
	passes, err := l.measure(ctx)
	took := func(p tablePass) (int, float64, bool) { return p.round, p.took.Seconds(), true }
	central, segmented := measure.SeriesOf(passes[1], took), measure.SeriesOf(passes[2], took)
	ratios := central.Over(segmented)
	for i := range min(len(passes[0]), len(passes[1]), len(passes[2])) {
		rounds = append(rounds, fmt.Sprintf("%d × %d lock operations on %d names: version 1 %v; one central row %v; a hundred %v; "+
			"ratio %.2f (B: 8 s and 5 s, 1.60)", l.Workers, l.Each, l.names(), passes[0][i], passes[1][i], passes[2][i], ratios[i+1]))
	}
	return ratios.Spread(), rounds, err
}

// measure returns the passes of V1, Central and Segmented.
func (l LockTables) measure(ctx context.Context) (passes [3][]tablePass, err error) {
	in, err := backend.Open(ctx, backend.Config{MySQLDSN: l.Backends.MySQLDSN, Tiers: l.Backends.Tiers})
	if err != nil {
		return passes, err
	}
	defer in.Close()
	versions := []catalog.Info{l.V1, l.Central, l.Segmented}
	for turn := range measure.Turns(l.Rounds, len(versions)) {
		info := versions[turn.Subject]
		l.Progress(turn.Done, turn.Total, info.Name)
		p, err := l.pass(ctx, in, info)
		if err != nil {
			return passes, fmt.Errorf("%s: %w", info.Name, err)
		}
		p.round = turn.Round
		passes[turn.Subject] = append(passes[turn.Subject], p)
	}
	return passes, nil
}

func (l LockTables) names() int { return 5 * l.Workers }

// v1Limit stops version 1: with some dozens of workers it does little but
// deadlock, and only its deadlocks can be compared. (MariaDB 10.11 with 32
// connections resolved 48,000 deadlocks in three minutes, and one INSERT waited
// through all of them, far past innodb_lock_wait_timeout.)
const v1Limit = 10 * time.Second

func (l LockTables) pass(ctx context.Context, in *backend.Instance, info catalog.Info) (p tablePass, err error) {
	var deadlocks deadlockCounter
	locker, err := catalog.NewLocker(info, catalog.Deps{Instance: in, Settings: l.Settings, Observe: &deadlocks})
	if err != nil {
		return p, err
	}
	prefix := fmt.Sprintf("seckill:experiment:%x:", time.Now().UnixNano())
	defer func() { err = errors.Join(err, tidyRecords(ctx, in.LockDB, prefix)) }()
	limited := ctx
	if info.Name == l.V1.Name {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, v1Limit)
		defer cancel()
	}
	var done atomic.Int64
	begun := time.Now()
	all, working := errgroup.WithContext(limited)
	for worker := range l.Workers {
		all.Go(func() error {
			for i := range l.Each {
				err := operate(working, locker, fmt.Sprint(prefix, (worker+i*l.Workers)%l.names()))
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
	return tablePass{took: time.Since(begun), done: int(done.Load()), deadlocks: int(deadlocks.n.Load())}, err
}

func operate(ctx context.Context, l lock.Locker, name string) error {
	lease, err := l.Acquire(ctx, name, lock.Options{Wait: -1, Lease: time.Hour})
	if err != nil {
		return err
	}
	return lease.Release(context.WithoutCancel(ctx))
}

// tidyRecords kills statements that still wait in the server after their workers
// gave up, and removes the records.
func tidyRecords(ctx context.Context, db *gorm.DB, prefix string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	db = db.WithContext(ctx)
	var left []int64
	err := db.Raw("SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE ? AND ID <> CONNECTION_ID()",
		"%"+prefix+"%").Scan(&left).Error
	if err != nil {
		return err
	}
	for _, id := range left {
		_ = db.Exec("KILL ?", id).Error // it may have ended by now
	}
	for {
		err := db.Exec("DELETE FROM lock_record WHERE name LIKE ?", prefix+"%").Error
		if !blocked(err) {
			return err
		}
	}
}

// blocked reports a statement that a deadlock or a lock wait ended.
func blocked(err error) bool {
	var e *mysql.MySQLError
	const lockWait, deadlock, outOfDate = 1205, 1213, 1020 // outOfDate: MariaDB from 11.6
	return errors.As(err, &e) && (e.Number == lockWait || e.Number == deadlock || e.Number == outOfDate)
}

// A deadlockCounter observes a locker of the lock table, which retries deadlocks
// only.
type deadlockCounter struct{ n atomic.Int64 }

func (*deadlockCounter) LockWaited(float64) {}
func (c *deadlockCounter) Retried()         { c.n.Add(1) }
