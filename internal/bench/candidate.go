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

// A Candidate is a lock to measure, ours or another library's.
type Candidate struct {
	Name    string
	Key     string // its name on the command line
	Foreign bool
	// Terms say how the lock is used where its library leaves a choice.
	Terms string
	Needs []backend.Capability

	open func(context.Context, *place) error
}

// A taker acquires the lock for one contender and returns how to release it.
type taker func(context.Context) (free func(context.Context) error, err error)

// errNotHeld: the lock was gone before its holder released it.
var errNotHeld = lock.ErrNotHeld

// A place is what one pass is measured on: its own connections, and a lock name
// that was never used.
type place struct {
	sku        int64
	contenders int
	instances  []*backend.Instance
	takers     []taker // one per contender
	sent       wire    // commands of clients that the tap does not see
	closers    []func() error
}

// at opens a place for a number of contenders, spread over instances that each
// have the pools and sessions of one process.
func (c Candidate) at(ctx context.Context, config backend.Config, contenders, instances int) (p *place, err error) {
	p = &place{sku: time.Now().UnixNano(), contenders: contenders}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	instances = min(instances, contenders)
	config = config.Only(c.Needs...)
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
	p.closers = append(p.closers, p.tidy) // after the candidate's own clients are closed
	return p, c.open(ctx, p)
}

func (p *place) close() error {
	var errs []error
	for _, f := range slices.Backward(p.closers) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// each calls open once per instance, and its result once per contender of that
// instance.
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

// Ours is one of the program's own locks, with the settings and lease of a
// purchase, but no limit on the wait.
func Ours(info catalog.Info, s catalog.Settings) Candidate {
	o := info.LockOptions(s)
	o.Wait = -1
	return Candidate{Name: info.Name, Key: info.Name, Needs: info.Needs, open: func(_ context.Context, p *place) error {
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

// An unprotected counter loses increments that overlap.
type unprotected struct{ n atomic.Int64 }

func (u *unprotected) increment(work func()) {
	n := u.n.Load()
	work()
	u.n.Store(n + 1)
}

func lockName(sku int64) string { return fmt.Sprint("seckill:lock:stock:", sku) }
func lockPath(sku int64) string { return fmt.Sprint("/seckill/locks/stock-", sku) }
