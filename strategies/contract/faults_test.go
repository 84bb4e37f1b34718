package contract

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// The lease ends while its holder lives. It does not end before its time, the holder is told, and
// the next contender gets the lock.
func leaseEnd(c *trial) {
	asked := time.Now()
	l := c.take(c.a, c.key, c.h.Lease)
	told := c.whenLost(l)
	waiter := c.contend(c.b, c.key)
	next := c.in(waiter)
	if took := time.Since(asked); took < c.h.Lease-5*time.Millisecond {
		c.broken("the next got in %v after the lease of %v began", took, c.h.Lease)
	}
	if c.h.can(Tells) {
		c.toldFirst(c.key, l)
		if took := (<-told).Sub(asked); took < c.h.Lease*9/10 {
			c.broken("the holder was told after %v that a lease of %v is over", took, c.h.Lease)
		}
		c.answeredTooLate()
	}
	c.free(next)
	if cause := context.Cause(next.Context()); cause == nil || errors.Is(cause, lock.ErrLost) {
		c.broken("the context of a released lease ended with %v", cause)
	}
}

// The server's grant arrives after the lease has ended and another contender has the lock.
// The lease counts from the request, so the holder learns of the loss before it begins to work.
func (c *trial) answeredTooLate() {
	for n, reached := 1, true; reached && n <= most; n++ {
		key, in := c.fresh(), make(chan struct{})
		at := &taptest.Nth{N: n, OnAfter: func(err error) error {
			defer close(in)
			c.in(c.contend(c.b, key))
			return err
		}}
		l, err := c.a.Acquire(tap.With(c.Context(), at), key, lock.Options{Lease: c.h.Lease})
		if reached = at.Reached(); reached {
			<-in // a quorum has not waited for this answer
			if err == nil {
				c.toldFirst(key, l)
			}
		}
	}
}

// A holder whose lease has ended releases the lock, which another holder has by now. A lock that
// keeps this promise may compare first, and delete in a second command.
func lateRelease(c *trial) {
	late := c.take(c.a, c.key, c.h.Lease)
	next := c.in(c.contend(c.b, c.key))
	c.releasedTooLate(late)
	c.stillHeld(next, "a release after the lease")
}

// A process dies while it holds the lock: its sockets close. The lock is free at once, or when the
// lease or session ends.
func death(c *trial) {
	lease := c.h.Lease
	if lease == 0 {
		lease = locktest.Long
	}
	victim, l := c.holder(c.key, lease, false, c.open)
	waiter := c.contend(c.b, c.key)
	victim.Kill()
	next := c.in(waiter)
	if c.h.can(Tells) {
		c.toldFirst(c.key, l)
	}
	asks := context.WithoutCancel(l.Context()) // as one who has the lock: not any more
	if _, err := victim.Acquire(asks, c.key, lock.Options{Lease: locktest.Long}); !errors.Is(err, seckill.ErrUnavailable) {
		c.broken("the dead holder acquired again and was told %v", err)
	}
	want := seckill.ErrUnavailable // another process may hold the lock, which the dead one cannot see
	if c.h.can(Bound) {
		want = lock.ErrNotHeld
	}
	err := l.Release(c.Context())
	byClock := !c.h.can(Tells) && errors.Is(err, lock.ErrNotHeld) // the holder's own clock says that the lease is over
	if !errors.Is(err, want) && !byClock {
		c.broken("the dead holder's release gave %v, want %v", err, want)
	}
	if _, err := victim.Acquire(c.Context(), c.key, lock.Options{Lease: locktest.Long}); !errors.Is(err, seckill.ErrUnavailable) {
		c.broken("the dead process acquired and was told %v", err)
	}
	c.stillHeld(next, "the dead holder's release")
}

// A session stays alive as long as a lock depends on it.
func outlasting(c *trial) {
	_, l := c.holder(c.key, renewedLease, true, c.open)
	select {
	case <-l.Context().Done():
		c.broken("the holder was told %v", context.Cause(l.Context()))
	case <-time.After(renewedLease * 3 / 2):
		c.free(l)
	}
}

// holder returns a process that has the lock, for the given lease or with renewals of that lease.
// On a busy machine a short session may end before its process has the lock. Then holder opens one
// with a longer session. The lock is free meanwhile, so no other error may occur.
func (c *trial) holder(
	key string, lease time.Duration, renewed bool, open func(lease time.Duration) *locktest.Process,
) (*locktest.Process, lock.Lease) {
	for tries := 1; ; tries++ {
		p, o := open(lease), lock.Options{Wait: locktest.Patience, Lease: lease}
		if renewed {
			o.Lease = 0
		}
		l, err := p.Acquire(c.Context(), key, o)
		switch {
		case err == nil:
			return p, l
		case !errors.Is(err, seckill.ErrUnavailable) || tries == 5:
			c.stop("a lock that is free was refused: %v", err)
		}
		lease *= 2
	}
}

// A lossy acquisition meets a fault at its nth command.
type lossy struct {
	n     int
	fault string
	held  bool          // true if the lock is held when the attempt begins
	until time.Duration // when the holder releases the lock; 0: not during the wait
}

// The reply to one command is lost, or the buyer leaves before or after it, or both. After every such command the next
// contender gets the lock: at once if the attempt was taken back, otherwise when the lease ends. The process sends
// nothing else, because a WATCH whose reply is lost stays with the connection and makes the next EXEC there fail.
func lostReply(c *trial) {
	loser := c.open(locktest.Long)
	for _, a := range []lossy{{}, {held: true}, {held: true, until: 10 * time.Millisecond}} {
		for a.n = 1; a.n <= most; a.n++ {
			reached := false
			for _, a.fault = range []string{"reply lost", "reply lost, buyer leaves", "buyer leaves after", "buyer leaves before"} {
				if c.acquireLossy(loser, a) {
					reached = true
				}
				if c.failed() {
					return
				}
			}
			if !reached {
				break
			}
		}
	}
}

func (c *trial) acquireLossy(loser *locktest.Process, a lossy) (reached bool) {
	key, lease, wait := c.fresh(), c.h.Lease, 20*time.Millisecond
	if c.h.can(Undoes) || lease == 0 {
		lease = locktest.Long
	}
	var holder lock.Lease
	if a.held {
		holder = c.take(c.b, key, locktest.Long)
	}
	released := make(chan struct{})
	if a.until > 0 {
		wait = 10 * time.Second
		time.AfterFunc(a.until, func() {
			c.free(holder)
			close(released)
		})
	}
	ctx, leave := context.WithCancel(c.Context())
	defer leave()
	at := &taptest.Nth{N: a.n}
	switch a.fault {
	case "reply lost":
		at.OnAfter = func(error) error { return taptest.ErrLostReply }
	case "reply lost, buyer leaves":
		at.OnAfter = func(error) error {
			leave()
			return taptest.ErrLostReply
		}
	case "buyer leaves after":
		at.OnAfter = func(err error) error {
			leave()
			return err
		}
	case "buyer leaves before":
		at.OnBefore = leave
	}
	l, err := loser.Acquire(tap.With(ctx, at), key, lock.Options{Wait: wait, Lease: lease})
	switch {
	case err == nil:
		_ = l.Release(context.Background())
	case ctx.Err() != nil && errors.Is(err, context.Canceled), errors.Is(err, seckill.ErrUnavailable), errors.Is(err, seckill.ErrBusy):
	default:
		c.broken("%+v gave %v", a, err)
	}
	switch {
	case a.until > 0:
		<-released
	case a.held:
		c.free(holder)
	}
	next, err := c.b.Acquire(c.Context(), key, lock.Options{Wait: min(c.limit(), 10*time.Second), Lease: locktest.Long})
	if err != nil {
		c.broken("after %+v the next was told %v", a, err)
		return at.Reached()
	}
	c.free(next)
	c.nothingLeft(key)
	return at.Reached()
}

// The connection breaks before the first command of a release is sent. The next contender
// still gets the lock at once, long before the lease ends.
func lostRelease(c *trial) {
	l, lost := c.take(c.open(locktest.Long), c.key, locktest.Long), false
	_ = l.Release(tap.With(context.Background(), &taptest.Tap{OnBefore: func(cmd *tap.Command) error {
		if lost || cmd.Backend == tap.Waiting {
			return nil
		}
		lost = true
		return taptest.ErrLostReply
	}}))
	next, err := c.b.Acquire(c.Context(), c.key, lock.Options{Wait: 10 * time.Second, Lease: locktest.Long})
	if err != nil || !lost {
		c.broken("the release's command was lost (%v), and the next was told %v", lost, err)
		return
	}
	c.free(next)
	c.nothingLeft(c.key)
}

// renewedLease is the lease of a lock that is renewed. It is so long that no renewal is lost if the
// machine stands still for a second.
const renewedLease = 3 * time.Second

// renewals counts the commands that renew a lock, and can make them fail.
type renewals struct {
	taptest.Tap // lets the commands of the holder itself pass

	fail atomic.Int64 // how many more renewals must fail
	seen chan error
}

// Fork returns the Tap for the commands of the renewer.
func (r *renewals) Fork() (tap.Tap, func()) { return &taptest.Tap{OnBefore: r.noteRenewal}, func() {} }

func (r *renewals) noteRenewal(c *tap.Command) (err error) {
	if c.Backend == tap.Waiting {
		return nil
	}
	if r.fail.Add(-1) >= 0 {
		err = taptest.ErrLostReply
	}
	select {
	case r.seen <- err:
	default:
	}
	return err
}

// A lock without a fixed lease is renewed until it is released. Renewals go on after the buyer has
// left, because a COMMIT may be on its way.
func renewal(c *trial) {
	p, r := c.open(renewedLease), &renewals{seen: make(chan error, 100)}
	ctx, leave := context.WithCancel(tap.With(c.Context(), r))
	defer leave()
	began := time.Now()
	l, err := p.Acquire(ctx, c.key, lock.Options{})
	if err != nil {
		c.stop("acquire: %v", err)
	}
	for time.Since(began) < renewedLease*5/4 {
		select {
		case <-r.seen:
		case <-time.After(max(c.limit(), 3*renewedLease)):
			c.stop("the lock is not renewed")
		}
		c.busy(c.key)
		if err := l.Context().Err(); err != nil && ctx.Err() == nil {
			c.broken("the holder was told %v", context.Cause(l.Context()))
		}
		leave()
	}
	c.free(l)
	c.nothingLeft(c.key)
}

// The renewer finds that another contender has the lock. The holder is notified, and the
// other contender keeps the lock.
func renewalLost(c *trial) {
	l := c.takeRenewed(c.open(renewedLease), nil)
	next := c.usurp(c.key, l)
	c.told(l)
	c.releasedTooLate(l)
	c.stillHeld(next, "a renewer")
}

// If one renewal fails, the next one comes in time. If all fail, the clock of the holder's own
// process tells the holder.
func renewalFails(c *trial) {
	r := &renewals{seen: make(chan error, 100)}
	r.fail.Store(1)
	l := c.takeRenewed(c.open(renewedLease), r)
	for n := range 3 {
		select {
		case err := <-r.seen:
			if (err != nil) != (n == 0) {
				c.broken("renewal %d gave %v", n+1, err)
			}
		case <-l.Context().Done():
			c.stop("one failed renewal ended the lease: %v", context.Cause(l.Context()))
		case <-time.After(max(c.limit(), 3*renewedLease)):
			c.stop("the lock is not renewed")
		}
	}
	r.fail.Store(1 << 20)
	c.told(l)
	r.fail.Store(0)
	_ = l.Release(context.Background())
}

func (c *trial) takeRenewed(p *locktest.Process, t tap.Tap) lock.Lease {
	ctx := c.Context()
	if t != nil {
		ctx = tap.With(ctx, t)
	}
	l, err := p.Acquire(ctx, c.key, lock.Options{})
	if err != nil {
		c.stop("acquire: %v", err)
	}
	return l
}

// The lock of a holder that hangs is renewed for the maximum time, and no longer.
func maxHold(c *trial) {
	s := settings(300 * time.Millisecond)
	s.MaxHold = 500 * time.Millisecond
	hung := c.takeRenewed(c.h.Open(c, s), nil)
	next, err := c.b.Acquire(c.Context(), c.key, lock.Options{Wait: 5 * time.Second, Lease: locktest.Long})
	if err != nil {
		c.stop("the holder hangs, and the next was told %v", err)
	}
	if c.h.can(Tells) {
		c.told(hung)
	}
	c.free(next)
}

// While the backend is down, an attempt returns ErrUnavailable. When the backend is back, the lock can be taken again.
func outage(c *trial) {
	c.silence()
	var wire *labtest.Wire
	p, l := c.holder(c.key, 2*time.Second, false, func(lease time.Duration) (p *locktest.Process) {
		p, wire = c.h.Wire(c, settings(lease))
		return p
	})
	c.free(l)
	attempt := func(wait time.Duration) error {
		l, err := p.Acquire(c.Context(), c.key, lock.Options{Wait: wait, Lease: 2 * time.Second})
		if err == nil {
			err = l.Release(c.Context())
		}
		return err
	}
	for what, fault := range faults {
		fault(wire)
		var all sync.WaitGroup
		for _, wait := range []time.Duration{0, -1} {
			all.Go(func() {
				begun := time.Now()
				if err := attempt(wait); !errors.Is(err, seckill.ErrUnavailable) || time.Since(begun) > 30*time.Second {
					c.broken("%s, waiting %v: %v after %v, want unavailable", what, wait, err, time.Since(begun))
				}
			})
		}
		all.Wait()
		wire.Pass()
		labtest.Soon(c, "the lock is there again", func() bool { return attempt(locktest.Long) == nil })
	}
}

// silence stops all answers while a buyer waits. If the buyer's place in a queue may still exist,
// the error must not be ErrBusy.
func (c *trial) silence() {
	key := c.fresh()
	p, wire := c.h.Wire(c, settings(time.Minute))
	holder := c.take(c.b, key, locktest.Long)
	falls := tap.With(c.Context(), &taptest.Tap{OnBefore: func(cmd *tap.Command) error {
		if c.waiting(cmd) {
			wire.Freeze()
		}
		return nil
	}})
	_, err := p.Acquire(falls, key, lock.Options{Wait: 300 * time.Millisecond, Lease: 2 * time.Second})
	if !errors.Is(err, seckill.ErrUnavailable) && (c.h.can(Queues) || !errors.Is(err, seckill.ErrBusy)) {
		c.broken("the server is silent, and one who waited was told %v, want unavailable", err)
	}
	wire.Pass()
	c.free(holder)
	c.nothingLeft(key)
}

var faults = map[string]func(*labtest.Wire){
	"connections closed": (*labtest.Wire).Cut, "server silent": (*labtest.Wire).Freeze,
}

// The connection of a living holder breaks. The holder is notified before the next contender
// gets the lock, its release comes too late, and its process gets locks again.
func holderCutOff(c *trial) {
	var all sync.WaitGroup
	for _, fault := range faults {
		all.Go(func() {
			key := c.fresh()
			var wire *labtest.Wire
			p, l := c.holder(key, max(c.h.Lease, 900*time.Millisecond), true, func(lease time.Duration) (p *locktest.Process) {
				p, wire = c.h.Wire(c, settings(lease))
				return p
			})
			waiter := c.contend(c.b, key)
			fault(wire)
			next := c.in(waiter)
			c.toldFirst(key, l)
			wire.Pass()
			labtest.Soon(c, "the late release says so", func() bool {
				return errors.Is(l.Release(c.Context()), lock.ErrNotHeld)
			})
			if c.h.can(Fences) && next.Fence() <= l.Fence() {
				c.broken("token %d follows %d", next.Fence(), l.Fence())
			}
			c.stillHeld(next, "a holder that was cut off")
			labtest.Soon(c, "the process gets locks again", func() bool {
				l, err := p.Acquire(c.Context(), key, lock.Options{Lease: locktest.Long})
				return err == nil && l.Release(c.Context()) == nil
			})
			c.nothingLeft(key)
		})
	}
	all.Wait()
}
