package contract

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/probe"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// Two processes contend for the lock. Only the lock guards the count, so that the race detector also checks the lock.
func exclusion(c *trial) {
	processes := []*locktest.Process{c.a, c.b}
	var inside atomic.Int32
	var last atomic.Uint64
	count, counts := 0, !c.known // a lock that is known to fail would cause data races
	ctx, cancel := context.WithTimeout(c.Context(), locktest.Patience)
	defer cancel()
	wait, hold := time.Duration(-1), time.Duration(0)
	if c.known { // a broken lock may never admit the last contender, so stop when it has admitted two
		wait, hold = 200*time.Millisecond, 10*time.Millisecond
	}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for range 5 {
				l, err := processes[i%2].Acquire(ctx, c.key, lock.Options{Wait: wait, Lease: locktest.Long})
				switch {
				case err != nil && c.known:
					continue
				case err != nil:
					c.broken("acquire: %v", err)
					return
				}
				if n := inside.Add(1); n != 1 {
					c.broken("%d holders at once", n)
				}
				if counts {
					count++
				}
				if before := last.Swap(l.Fence()); c.h.can(Fences) && l.Fence() <= before {
					c.broken("token %d follows %d", l.Fence(), before)
				}
				runtime.Gosched()
				time.Sleep(hold)
				inside.Add(-1)
				if err := l.Release(context.Background()); err != nil && !c.known {
					c.broken("release: %v", err)
				}
			}
		})
	}
	all.Wait()
	if counts && count != 80 {
		c.broken("counted to %d, want 80", count)
	}
	c.nothingLeft(c.key)
}

// One contender is stopped before its nth command while another one tries. The test runs with a
// free lock, and with the lock of a dead holder.
func overtaking(c *trial) {
	elder := c.open(locktest.Long) // the dead holder's process
	for _, dead := range []bool{false, true} {
		if dead && c.h.End == nil {
			return
		}
		for n, reached := 1, true; reached && n <= most; n++ {
			key := c.fresh()
			if dead {
				c.end(key, c.take(elder, key, locktest.Long))
			}
			var other lock.Lease
			at := &taptest.Nth{N: n, OnBefore: func() { other = c.tryBeside(key) }}
			l, err := c.a.Acquire(tap.With(c.Context(), at), key, lock.Options{Lease: locktest.Long})
			if err == nil && other != nil {
				c.broken("overtaken before command %d (dead holder: %v): two holders", n, dead)
			}
			for _, l := range []lock.Lease{l, other} {
				if l != nil {
					_ = l.Release(context.Background())
				}
			}
			reached = at.Reached()
		}
		if dead && c.h.can(Decides) {
			c.oneTakesOver(elder)
		}
	}
}

// Several contenders find a dead holder's lock. Only one of them takes it over.
func (c *trial) oneTakesOver(elder *locktest.Process) {
	key := c.fresh()
	for range 20 {
		dead := c.take(elder, key, locktest.Long)
		c.end(key, dead)
		won := make(chan lock.Lease, 8) // if the lock is broken, more than one contender wins
		var all sync.WaitGroup
		for range cap(won) {
			all.Go(func() {
				l, err := c.a.Acquire(c.Context(), key, lock.Options{Lease: locktest.Long})
				switch {
				case err == nil:
					won <- l
				case !errors.Is(err, seckill.ErrBusy):
					c.broken("a contender was told %v", err)
				}
			})
		}
		all.Wait()
		if n := len(won); n != 1 {
			c.stop("%d took the dead holder's lock over, want 1", n)
		}
		c.releasedTooLate(dead)
		c.free(<-won)
	}
}

func waitLimit(c *trial) {
	holder := c.take(c.a, c.key, locktest.Long)
	before := c.seen(c.key)
	for _, wait := range append([]time.Duration{0, 50 * time.Millisecond}, c.h.Waits...) {
		begun, told := time.Now(), make(chan error, 1)
		go func() {
			_, err := c.b.Acquire(c.Context(), c.key, lock.Options{Wait: wait, Lease: locktest.Long})
			told <- err
		}()
		select {
		case err := <-told:
			told <- err
		// a database checks only about once a second for waits that are over
		case <-time.After(wait + 1500*time.Millisecond):
		}
		if c.late(c.key, func() bool { return len(told) > 0 }) {
			c.stop("a wait of %v is not over after %v", wait, time.Since(begun))
		}
		if err := <-told; !errors.Is(err, seckill.ErrBusy) || time.Since(begun) < wait {
			c.broken("waiting %v gave %v after %v, want busy", wait, err, time.Since(begun))
		}
		c.sees(c.key, before) // a contender that gives up leaves nothing behind
	}
	// Use no deadline: a socket may notice a deadline before the context does.
	ctx, cancel := context.WithCancel(c.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := c.b.Acquire(ctx, c.key, lock.Options{Wait: -1, Lease: locktest.Long}); !errors.Is(err, context.Canceled) {
		c.broken("waiting until the context ends gave %v", err)
	}
	c.sees(c.key, before)
	c.free(holder)
	c.nothingLeft(c.key)
	c.free(c.take(c.b, c.key, locktest.Long))
}

func leaving(c *trial) {
	why := errors.New("had enough")
	holder := c.take(c.a, c.key, locktest.Long)
	before := c.seen(c.key)
	gone, leave := context.WithCancelCause(c.Context())
	ctx := tap.With(gone, &taptest.Tap{OnBefore: func(cmd *tap.Command) error {
		switch {
		case !c.waiting(cmd):
		case cmd.Backend == tap.Waiting:
			leave(why)
		default: // the wait begins when the command has arrived
			time.AfterFunc(100*time.Millisecond, func() { leave(why) })
		}
		return nil
	}})
	if _, err := c.b.Acquire(ctx, c.key, lock.Options{Wait: -1, Lease: locktest.Long}); !errors.Is(err, why) {
		c.broken("a buyer who left while waiting was told %v", err)
	}
	c.sees(c.key, before)
	c.free(holder)
	for range 20 { // the lock is free: a random choice would take it now and then
		if _, err := c.b.Acquire(gone, c.key, lock.Options{Wait: -1, Lease: locktest.Long}); !errors.Is(err, why) {
			c.stop("a buyer who had left before was told %v", err)
		}
	}
	c.free(c.take(c.b, c.key, locktest.Long))
	c.nothingLeft(c.key)
}

// Of three contenders, the middle one leaves or dies. The last one must not take that for the end of the holder.
func givingUp(c *trial) {
	leaver := c.b
	if inSQL(c.b) {
		leaver = c.open(locktest.Long)
	}
	c.middleGoes(c.fresh(), leaver, func(w *locktest.Waiter) {
		c.forgotten(leaver, func() {
			w.Leave()
			answered(w, locktest.Patience)
		})
	}, context.Canceled)
	if c.a.Kill != nil && !c.known {
		victim := c.open(max(c.h.Lease, 100*time.Millisecond))
		c.middleGoes(c.fresh(), victim, func(*locktest.Waiter) { c.forgotten(victim, victim.Kill) }, seckill.ErrUnavailable)
	}
}

// forgotten returns when a process has gone and the SQL server has forgotten it. Until then, a
// statement that the server had received could still take the lock, which would then never end.
func (c *trial) forgotten(p *locktest.Process, goes func()) {
	if !inSQL(p) {
		goes()
		return
	}
	server := probe.Of(c.a.In, catalog.Info{})
	ports := p.In.Dialer.LocalPorts(tap.SQL)
	goes()
	p.Kill()
	labtest.Must(c, server.AwaitClosed(c.Context(), ports, false))
}

func inSQL(p *locktest.Process) bool {
	return p.In != nil && p.In.DB != nil && p.In.DB.Name() != "sqlite"
}

func (c *trial) middleGoes(key string, p *locktest.Process, goes func(*locktest.Waiter), want error) {
	holder := c.take(c.a, key, locktest.Long)
	held := c.seen(key)
	middle := c.contend(p, key)
	place := slices.DeleteFunc(c.seen(key), func(node string) bool { return slices.Contains(held, node) })
	last := c.contend(c.a, key)
	goes(middle)
	if err := c.refused(middle); !errors.Is(err, want) {
		c.broken("a waiter who went was told %v, want %v", err, want)
	}
	if c.h.can(Queues) && c.h.Seen != nil {
		labtest.Soon(c, "the waiter's place is gone", func() bool {
			return !slices.ContainsFunc(c.h.Seen(c, key), func(node string) bool { return slices.Contains(place, node) })
		})
	}
	first := c.contend(c.b, key) // by now the last waiter has been notified
	if c.known {
		answered(last, 5*time.Second)
	}
	if len(last.In) > 0 {
		c.stop("a waiter is in beside the holder, because another went")
	}
	c.free(holder)
	for range 2 {
		select {
		case l := <-last.In:
			c.free(l)
		case l := <-first.In:
			c.free(l)
		case <-time.After(locktest.Patience):
			c.stop("no waiter is admitted after the release")
		}
	}
	c.nothingLeft(key)
}

func queue(c *trial) {
	processes := []*locktest.Process{c.a, c.b}
	holder := c.take(c.a, c.key, locktest.Long)
	var line []*locktest.Waiter
	for i := range 6 {
		line = append(line, c.contend(processes[i%2], c.key))
	}
	for i, w := range line {
		c.free(holder)
		holder = c.in(w)
		for j, later := range line[i+1:] {
			if len(later.In) > 0 {
				c.broken("number %d is in together with number %d", i+1+j, i)
			}
		}
	}
	c.free(holder)
}
