package contract

import (
	"context"
	"errors"
	"slices"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// most commands of one attempt that are tried one by one.
const most = 40

func (c *trial) waiting(cmd *tap.Command) bool {
	if c.h.Waiting != nil {
		return c.h.Waiting(cmd)
	}
	return locktest.PassesTap(cmd)
}

func (c *trial) take(p *locktest.Process, key string, lease time.Duration) lock.Lease {
	c.Helper()
	l, err := p.Acquire(c.Context(), key, lock.Options{Wait: locktest.Patience, Lease: lease})
	if err != nil {
		c.stop("a lock that is free was refused: %v", err)
	}
	return l
}

func (c *trial) free(l lock.Lease) {
	if err := l.Release(c.Context()); err != nil {
		c.broken("release: %v", err)
	}
}

func (c *trial) busy(key string) {
	if _, err := c.b.Acquire(c.Context(), key, lock.Options{Lease: locktest.Long}); !errors.Is(err, seckill.ErrBusy) {
		c.broken("the lock is held, and another was told %v, want busy", err)
	}
}

// stillHeld checks that nothing has freed the lock, and frees it.
func (c *trial) stillHeld(l lock.Lease, despite string) {
	if err := l.Release(c.Context()); err != nil {
		c.broken("%s freed the next holder's lock: %v", despite, err)
	}
}

func (c *trial) releasedTooLate(l lock.Lease) {
	if err := l.Release(c.Context()); !errors.Is(err, lock.ErrNotHeld) {
		c.broken("the release of a lost lock gave %v, want %v", err, lock.ErrNotHeld)
	}
}

func (c *trial) contend(p *locktest.Process, key string) *locktest.Waiter {
	own := *p
	own.Key, own.Waiting = key, c.waiting
	return own.Contend(c)
}

// limit returns how long a step waits for an event: long if the event must happen, and
// shorter if the lock is known not to bring it.
func (c *trial) limit() time.Duration {
	if c.known {
		return 4 * max(c.h.Lease, 100*time.Millisecond)
	}
	return locktest.Patience
}

// in waits until a waiter is in.
func (c *trial) in(w *locktest.Waiter) lock.Lease {
	limit := c.limit()
	select {
	case l := <-w.In:
		return l
	case err := <-w.Err:
		c.stop("a waiter was told %v", err)
	case <-time.After(limit):
		w.Leave()
		c.stop("a waiter is not admitted within %v", limit)
	}
	return nil
}

// answered waits until a waiter is in or was told why not, which is left to be read.
func answered(w *locktest.Waiter, limit time.Duration) {
	select {
	case l := <-w.In:
		w.In <- l
	case err := <-w.Err:
		w.Err <- err
	case <-time.After(limit):
	}
}

func (c *trial) refused(w *locktest.Waiter) error {
	select {
	case err := <-w.Err:
		return err
	case <-w.In:
		c.stop("a waiter is in beside the holder")
	case <-time.After(locktest.Patience):
		c.stop("a waiter who left is still waiting")
	}
	return nil
}

// end ends the lock under its holder.
func (c *trial) end(key string, l lock.Lease) { c.h.End(c, key, l)() }

// usurp ends a lock and takes it; a renewer may be faster.
func (c *trial) usurp(key string, l lock.Lease) (next lock.Lease) {
	end := c.h.End(c, key, l)
	labtest.Soon(c, "the lock changes hands", func() bool {
		end()
		var err error
		next, err = c.b.Acquire(c.Context(), key, lock.Options{Wait: 50 * time.Millisecond, Lease: locktest.Long})
		return err == nil
	})
	return next
}

// told waits until the holder learns that the lock is lost.
func (c *trial) told(l lock.Lease) {
	select {
	case <-l.Context().Done():
	case <-time.After(c.limit()):
		c.stop("the holder was not told within %v", c.limit())
	}
	if cause := context.Cause(l.Context()); !errors.Is(cause, lock.ErrLost) {
		c.broken("the holder was told %v, want %v", cause, lock.ErrLost)
	}
}

// toldFirst is asked when the next holder is in: the one before has been told by now. A
// session's holder counts from before its last request was sent, and the server ends it at
// the next of its looks, up to half a second later. A lease ends for both in the same
// millisecond, so which of the two hears of it first is up to a busy machine: there it is
// enough that the holder is told while others try for the lock.
func (c *trial) toldFirst(key string, l lock.Lease) {
	told := func() bool { return l.Context().Err() != nil }
	if !told() && (!c.h.can(Expires) || c.late(key, told)) {
		c.broken("the next got in before the holder was told")
	}
	c.told(l)
}

// late reports whether what is due while a lock is held has not happened when others
// have tried for the lock twenty times. A busy machine is late with their attempts, too.
func (c *trial) late(key string, happened func() bool) bool {
	for range 20 {
		if happened() {
			return false
		}
		time.Sleep(time.Millisecond)
		c.busy(key)
	}
	return !happened()
}

// whenLost says when the lease's context ended.
func (c *trial) whenLost(l lock.Lease) <-chan time.Time {
	at := make(chan time.Time, 1)
	go func() {
		<-l.Context().Done()
		at <- time.Now()
	}()
	return at
}

// seen is what the backend has for a key when it has come to rest: a server may
// show a statement for a moment after its reply.
func (c *trial) seen(key string) (now []string) {
	if c.h.Seen == nil {
		return nil
	}
	for {
		before := now
		if now = c.h.Seen(c, key); before != nil && slices.Equal(before, now) || len(now) == 0 {
			return now
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// sees waits until the backend has for the key what it had before.
func (c *trial) sees(key string, want []string) {
	if c.h.Seen == nil {
		return
	}
	var now []string
	for end := time.Now().Add(locktest.Patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if now = c.h.Seen(c, key); slices.Equal(now, want) {
			return
		}
	}
	c.stop("the backend has %q, want %q", now, want)
}

func (c *trial) nothingLeft(key string) { c.sees(key, nil) }
