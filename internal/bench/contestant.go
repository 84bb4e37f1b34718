package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// A Contestant is a lock that is measured, ours or somebody else's.
type Contestant struct {
	Name    string
	Key     string // how a command line names it
	Foreign bool
	// Terms say how it is used, where it could be used otherwise.
	Terms string
	Needs []backend.Capability

	open func(context.Context, *place) error
}

// A taker is one contender's way to the lock: it waits until the lock is his
// and says how to give it back.
type taker func(context.Context) (free func(context.Context) error, err error)

// errNotHeld: the lock had gone before its holder gave it back.
var errNotHeld = lock.ErrNotHeld

// A place is what one pass is measured on: connections of its own, and a name
// that nobody used before.
type place struct {
	sku        int64
	contenders int
	instances  []*backend.Instance
	takers     []taker // one for each contender
	sent       wire    // what clients send that no tap sees
	closers    []func() error
}

// at opens a place for a number of contenders. They are spread over instances,
// each with the pools and sessions of a process of its own.
func (c Contestant) at(ctx context.Context, config backend.Config, contenders, instances int) (p *place, err error) {
	p = &place{sku: time.Now().UnixNano(), contenders: contenders}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	instances = min(instances, contenders)
	config = only(config, c.Needs)
	config.MaxSQLConns = (contenders+instances-1)/instances + 4
	for range instances {
		in, err := backend.Open(ctx, config)
		if err != nil {
			return p, err
		}
		p.instances = append(p.instances, in)
		p.closers = append(p.closers, in.Close)
		for _, need := range c.Needs {
			if ok, why := in.Has(need); !ok {
				return p, errors.New(why)
			}
		}
	}
	p.closers = append(p.closers, p.tidy) // when its own clients are gone
	return p, c.open(ctx, p)
}

func (p *place) close() error {
	var errs []error
	for _, f := range slices.Backward(p.closers) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// each calls open once for each instance, and its answer once for each
// contender of that instance.
func (p *place) each(open func(*backend.Instance) (func() (taker, error), error)) error {
	var contend []func() (taker, error)
	for _, in := range p.instances {
		c, err := open(in)
		if err != nil {
			return err
		}
		contend = append(contend, c)
	}
	for i := range p.contenders {
		take, err := contend[i%len(contend)]()
		if err != nil {
			return err
		}
		p.takers = append(p.takers, take)
	}
	return nil
}

// Ours is one of the program's own locks, with the settings and the lease that
// a purchase has, but a wait without end.
func Ours(info catalog.Info, s catalog.Settings) Contestant {
	o := info.LockOptions(s)
	o.Wait = -1
	return Contestant{Name: info.Name, Key: info.Name, Needs: info.Needs, open: func(_ context.Context, p *place) error {
		return p.each(func(in *backend.Instance) (func() (taker, error), error) {
			locker, err := catalog.NewLocker(info, catalog.Deps{Instance: in, Settings: s})
			take := func(ctx context.Context) (func(context.Context) error, error) {
				lease, err := locker.Acquire(ctx, info.Key(p.sku), o)
				if err != nil {
					return nil, err
				}
				return lease.Release, nil
			}
			return func() (taker, error) { return take, nil }, err
		})
	}}
}

// only is a configuration without the backends that are not needed.
func only(all backend.Config, needs []backend.Capability) backend.Config {
	c := backend.Config{Tiers: all.Tiers}
	for _, need := range needs {
		switch need {
		case backend.SQL, backend.RowLocks:
			c.MySQLDSN, c.SQLitePath = all.MySQLDSN, all.SQLitePath
		case backend.Redis:
			c.RedisAddrs = all.RedisAddrs
		case backend.RedisQuorum:
			c.RedlockAddrs = all.RedlockAddrs
		case backend.ZooKeeper:
			c.ZooKeeperAddrs = all.ZooKeeperAddrs
		case backend.Etcd:
			c.EtcdEndpoints = all.EtcdEndpoints
		}
	}
	return c
}

// an unprotected counter: what is read and written by two at a time loses one.
type unprotected struct{ n atomic.Int64 }

func (u *unprotected) increment(work func()) {
	n := u.n.Load()
	work()
	u.n.Store(n + 1)
}

func lockName(sku int64) string { return fmt.Sprint("seckill:lock:stock:", sku) }
func lockPath(sku int64) string { return fmt.Sprint("/seckill/locks/stock-", sku) }
