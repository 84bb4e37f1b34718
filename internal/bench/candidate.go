package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// A Candidate is a lock to measure, ours or another library's.
type Candidate struct {
	Name    string
	Key     string // its name on the command line
	Foreign bool
	// Terms say how the lock is used where its library leaves a choice.
	Terms string
	Needs []backend.Capability

	// open is called for a place, and what it returns for each contender.
	open func(context.Context, *place, *backend.Instance) (func() (taker, error), error)
}

// A taker acquires the lock for one contender and returns how to release it.
type taker func(context.Context) (free func(context.Context) error, err error)

// errNotHeld: the lock was gone before its holder released it.
var errNotHeld = lock.ErrNotHeld

// A place is what one pass is measured on: its own connections, and a lock name
// that was never used.
type place struct {
	sku      int64
	instance *backend.Instance
	takers   []taker       // one per contender
	sent     atomic.Uint64 // commands of clients that the tap does not see
	closers  []func() error
}

// at opens a place for a number of contenders, with the pools and sessions of one
// process.
func (c Candidate) at(ctx context.Context, config backend.Config, contenders int) (p *place, err error) {
	p = &place{sku: time.Now().UnixNano()}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	config = config.Only(c.Needs...)
	config.MaxSQLConns = contenders + 4
	if p.instance, err = backend.Open(ctx, config); err != nil {
		return p, err
	}
	p.closers = append(p.closers, p.instance.Close)
	for _, need := range c.Needs {
		if ok, why := p.instance.Has(need); !ok {
			return p, errors.New(why)
		}
	}
	p.closers = append(p.closers, p.tidy) // after the candidate's own clients are closed
	another, err := c.open(ctx, p, p.instance)
	if err != nil {
		return p, err
	}
	for range contenders {
		take, err := another()
		if err != nil {
			return p, err
		}
		p.takers = append(p.takers, take)
	}
	return p, nil
}

func (p *place) close() error {
	var errs []error
	for _, f := range slices.Backward(p.closers) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// Ours is one of the program's own locks, with the settings and lease of a
// purchase, but no limit on the wait.
func Ours(info catalog.Info, s catalog.Settings) Candidate {
	return ours(info, s, func(p *place) func() string {
		key := info.Key(p.sku)
		return func() string { return key }
	})
}

// onManyNames has few contenders wait for a lock, and all of them for what its
// table does beside.
func onManyNames(info catalog.Info, s catalog.Settings, names int64) Candidate {
	return ours(info, s, func(p *place) func() string {
		key, last := lockName(p.sku), atomic.Int64{}
		return func() string { return fmt.Sprint(key, ":", last.Add(1)%names) }
	})
}

func ours(info catalog.Info, s catalog.Settings, keys func(*place) func() string) Candidate {
	o := info.LockOptions(s)
	o.Wait = -1
	return Candidate{
		Name: info.Name, Key: info.Name, Needs: info.Needs,
		open: func(_ context.Context, p *place, in *backend.Instance) (func() (taker, error), error) {
			locker, err := catalog.NewLocker(info, catalog.Deps{Instance: in, Settings: s})
			key := keys(p)
			return every(func(ctx context.Context) (func(context.Context) error, error) {
				lease, err := locker.Acquire(ctx, key(), o)
				if err != nil {
					return nil, err
				}
				return lease.Release, nil
			}), err
		},
	}
}

// every contender takes the lock in the same way.
func every(take taker) func() (taker, error) {
	return func() (taker, error) { return take, nil }
}

func lockName(sku int64) string { return fmt.Sprint("seckill:lock:stock:", sku) }
func lockPath(sku int64) string { return fmt.Sprint("/seckill/locks/stock-", sku) }

// tidy removes what released locks leave on the servers: the parent of a queue's
// nodes, rows kept for the next acquisition, and the number of the last grant.
func (p *place) tidy() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	in := p.instance
	err := errors.Join(p.tidyNodes(ctx, in.ZooKeeper), p.tidyRows(ctx, in.LockDB))
	if in.Redis != nil {
		err = errors.Join(err, in.Redis.Del(ctx, "{"+lockName(p.sku)+"}:grants").Err())
	}
	if err != nil {
		return fmt.Errorf("clean up the servers: %w", err)
	}
	return nil
}

func (p *place) tidyNodes(ctx context.Context, c *backend.ZooKeeperClient) error {
	if c == nil {
		return nil
	}
	queue := lockPath(p.sku)
	if err := c.Sweep(ctx, queue, ""); err != nil { // of contenders still waiting
		return err
	}
	for _, node := range []string{queue, "/seckill/locks", "/seckill"} {
		err := c.Delete(ctx, node)
		switch {
		case errors.Is(err, zk.ErrNotEmpty): // others' locks
			return nil
		case err != nil && !errors.Is(err, zk.ErrNoNode):
			return err
		}
	}
	return nil
}

func (p *place) tidyRows(ctx context.Context, db *gorm.DB) error {
	if db == nil {
		return nil
	}
	for _, table := range []string{"distributed_lock", "lock_row", "lock_record"} {
		if !db.Migrator().HasTable(table) {
			continue
		}
		name := lockName(p.sku)
		if err := db.WithContext(ctx).Exec("DELETE FROM "+table+" WHERE name = ? OR name LIKE ?", name, name+":%").Error; err != nil {
			return err
		}
	}
	return nil
}
