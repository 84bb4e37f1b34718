package contract

import (
	"context"
	"errors"
	"time"

	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

func releaseOnce(c *trial) {
	first := c.take(c.a, c.key, locktest.Long)
	c.free(first)
	// even for a lock whose release would free another holder's lock
	if err := first.Release(c.Context()); !errors.Is(err, lock.ErrNotHeld) {
		c.Errorf("releasing a free lock again gave %v, want %v", err, lock.ErrNotHeld)
	}
	if cause := context.Cause(first.Context()); cause == nil || errors.Is(cause, lock.ErrLost) {
		c.broken("the context of a released lease ended with %v", cause)
	}
	second := c.take(c.a, c.key, locktest.Long)
	c.releasedTooLate(first)
	c.busy(c.key)
	c.free(second)
}

// A lock ends or changes hands around its holder's release: before the release, and before each command of it.
func owner(c *trial) {
	key := c.fresh()
	gone := c.take(c.a, key, locktest.Long)
	if c.end(key, gone); len(c.seen(key)) == 0 { // a row may stay until its holder removes it
		c.releasedTooLate(gone)
	}
	late := c.take(c.a, c.key, locktest.Long)
	next := c.usurp(c.key, late)
	c.releasedTooLate(late)
	c.stillHeld(next, "a late release")
	for n, reached := 1, true; reached && n <= most; n++ {
		key, next := c.fresh(), lock.Lease(nil)
		l := c.take(c.a, key, locktest.Long)
		end := c.h.End(c, key, l)
		at := &taptest.Nth{N: n, OnBefore: func() {
			end()
			next = c.tryBeside(key)
		}}
		_ = l.Release(tap.With(c.Context(), at))
		reached = at.Reached()
		if next != nil {
			c.stillHeld(next, "a release that was overtaken")
		}
	}
}

// tryBeside tries to take the lock while another contender is stopped before a command. The other one may have a row
// locked, so the attempt has a time limit. If the attempt gets a lease, the lease must outlive that limit.
func (c *trial) tryBeside(key string) lock.Lease {
	ctx, cancel := context.WithCancel(c.Context())
	late := time.AfterFunc(300*time.Millisecond, cancel)
	defer late.Stop()
	l, err := c.b.Acquire(ctx, key, lock.Options{Wait: 200 * time.Millisecond, Lease: locktest.Long})
	if err != nil {
		cancel()
		return nil
	}
	return l
}

func otherKeys(c *trial) {
	one := c.take(c.a, c.key, locktest.Long)
	for _, p := range []*locktest.Process{c.a, c.b} {
		l, err := p.Acquire(c.Context(), c.key+" other", lock.Options{Lease: locktest.Long})
		if err != nil {
			c.broken("while one key is held, another gave %v", err)
			continue
		}
		c.free(l)
	}
	c.free(one)
}

func fence(c *trial) {
	last := uint64(0)
	for i := range 8 {
		if i >= 4 && c.h.Forget != nil {
			c.h.Forget(c, c.key)
		}
		l, err := []*locktest.Process{c.a, c.b}[i%2].Acquire(c.Context(), c.key, lock.Options{Lease: locktest.Long, Above: last})
		if err != nil {
			c.stop("a lock that is free was refused: %v", err)
		}
		switch f := l.Fence(); {
		case !c.h.can(Fences) && f != 0:
			c.broken("a lock without fencing tokens gave %d", f)
		case c.h.can(Fences) && f <= last:
			c.broken("token %d follows %d", f, last)
		default:
			last = f
		}
		if i%2 == 1 && c.h.End != nil { // the lock is lost, not released
			c.end(c.key, l)
			_ = l.Release(c.Context())
			continue
		}
		c.free(l)
	}
}

func foreign(c *trial) {
	for _, f := range c.h.Foreign {
		key := c.fresh()
		free, ok := f.Take(c, key)
		if !ok {
			c.Fatalf("%s: a free lock was refused", f.Name)
		}
		for _, wait := range []time.Duration{0, 20 * time.Millisecond} {
			if _, err := c.a.Acquire(c.Context(), key, lock.Options{Wait: wait, Lease: locktest.Long}); !errors.Is(err, seckill.ErrBusy) {
				c.broken("%s holds the lock, and waiting %v gave %v", f.Name, wait, err)
			}
		}
		next := c.contend(c.a, key)
		free()
		l := c.in(next)
		if free, ok := f.Take(c, key); ok {
			c.broken("%s is in beside the holder", f.Name)
			free()
		}
		if c.h.End == nil || c.h.breaks(Owner) {
			c.free(l)
			continue
		}
		c.end(key, l)
		if free, ok = f.Take(c, key); !ok {
			continue // the lock that ended is still in the way
		}
		c.releasedTooLate(l) // the lock is that of the foreign client by now
		c.busy(key)
		free()
	}
}

func reentry(c *trial) {
	again := func(ctx context.Context) lock.Lease {
		l, err := c.a.Acquire(ctx, c.key, lock.Options{Lease: locktest.Long})
		if err != nil {
			c.stop("the holder asked again and was told %v", err)
		}
		return l
	}
	outer := c.take(c.a, c.key, locktest.Long)
	inner := again(outer.Context())
	innermost := again(inner.Context())
	for _, l := range []lock.Lease{innermost, inner} {
		if l.Fence() != outer.Fence() {
			c.broken("fencing tokens %d and %d of one hold", l.Fence(), outer.Fence())
		}
		c.free(l)
		c.releasedTooLate(l)
		c.busy(c.key) // the inner release must not free the lock
	}
	if c.h.can(Expires) { // now a hold that is lost, and not released
		key := c.fresh()
		lost := c.take(c.a, key, c.h.Lease)
		inner, err := c.a.Acquire(lost.Context(), key, lock.Options{Lease: c.h.Lease})
		if err != nil {
			c.stop("the holder asked again and was told %v", err)
		}
		c.told(lost)
		next := c.take(c.b, key, locktest.Long)
		if _, err := c.a.Acquire(context.WithoutCancel(lost.Context()), key, lock.Options{Lease: locktest.Long}); err == nil {
			c.broken("the holder of a lost lock acquired it again beside the next")
		}
		_ = inner.Release(c.Context())
		c.free(next)
		c.nothingLeft(key)
	}
	for who, p := range map[string]*locktest.Process{"another process": c.b, "another buyer": c.a} {
		ctx := c.Context()
		if p == c.b {
			ctx = outer.Context()
		}
		if _, err := p.Acquire(ctx, c.key, lock.Options{Lease: locktest.Long}); !errors.Is(err, seckill.ErrBusy) {
			c.broken("%s was told %v, want busy", who, err)
		}
	}
	other, err := c.a.Acquire(outer.Context(), c.key+"x", lock.Options{Lease: locktest.Long})
	if err != nil {
		c.stop("the holder asked for another key and was told %v", err)
	}
	c.free(other)
	c.free(outer)
	if _, err := c.a.Acquire(outer.Context(), c.key, lock.Options{Lease: locktest.Long}); !errors.Is(err, context.Canceled) {
		c.broken("the context of a released lease gave %v", err)
	}
	stranger := again(context.WithoutCancel(outer.Context())) // now the lock is free
	c.busy(c.key)
	if _, err := c.a.Acquire(context.WithoutCancel(outer.Context()), c.key, lock.Options{Lease: locktest.Long}); !errors.Is(err, seckill.ErrBusy) {
		c.broken("a holder from before asked beside the next and was told %v, want busy", err)
	}
	c.free(stranger)
}

func clearing(c *trial) {
	c.take(c.a, c.key, locktest.Long)
	c.busy(c.key)
	if err := c.b.Locker.(lock.Clearer).Clear(c.Context(), c.key); err != nil {
		c.broken("clear: %v", err)
	}
	c.free(c.take(c.b, c.key, locktest.Long))
}
