package explore

import (
	"context"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/lock"
)

// The lease of the lock's holder ends, as its server sees it.
var _ = addFault(faultKind{
	name: fault.LeaseEnds,
	at: func(r *run, _ []*thread) []option {
		if r.leaseholder() != nil || r.world.info.Locker == nil && r.world.AsksTime() {
			return []option{{Choice: Choice{Fault: fault.LeaseEnds}}}
		}
		return nil
	},
	happens: func(ctx context.Context, r *run, step Step) (err error) {
		r.paused = r.leaseholder()
		if step.Command, err = r.endLease(ctx); err != nil {
			return err
		}
		r.schedule.Steps = append(r.schedule.Steps, step)
		r.last = nil // the holder is paused: to go next takes no turn away
		return nil
	},
})

// leaseholder is the actor whose lease has not ended or, if the strategy is no
// lock, whose transaction has not: that ends with its connection. Nil: none.
func (r *run) leaseholder() (holder *actor) {
	for _, a := range r.actors {
		if (a.grip != loose || r.world.info.Locker == nil && a.inTransaction) && !a.expired {
			holder = a
		}
	}
	return holder
}

// endLease ends the lease of the lock's holder and says what that did; "" if
// there was no lease.
func (r *run) endLease(ctx context.Context) (what string, err error) {
	holder := r.leaseholder()
	if holder != nil {
		holder.expired, holder.outcome.Expired = true, true
	}
	what, err = r.world.endLease(ctx, holder, r.scenario.Clears)
	r.everythingMoved()
	if err == nil && what != "" {
		_, err = r.ringTimers(ctx)
	}
	return what, err
}

// endLease with clears removes a lock that never ends, too.
func (w *World) endLease(ctx context.Context, of *actor, clears bool) (what string, err error) {
	w.clock.Add(int64(leaseEnd(w.settings)))
	var did []string
	if of != nil {
		did, err = w.probes.Expire(ctx, w.key(), of.holder())
	} else {
		did, err = w.probes.Expire(ctx, w.key(), nil)
	}
	if err != nil {
		return "", err
	}
	if did != nil && w.admin.Etcd != nil {
		// A lease is its process's, which finds out by and by: that would be
		// another step of some later schedule.
		for _, p := range w.numbers {
			p.tainted = p.tainted || of == nil || p == of.process
		}
	}
	if did == nil && of != nil && (w.info.Locker == nil || slices.Contains(w.info.Needs, backend.RowLocks)) {
		n, err := w.sql.Kill(ctx, of.process.in.Dialer.LocalAddrs())
		if err != nil {
			return "", err
		}
		if n > 0 {
			of.process.tainted = true
			did = append(did, "the server closes the holder's connections")
		}
	}
	if did == nil && of != nil && clears {
		if c, ok := of.process.locker.(lock.Clearer); ok && c.Clear(ctx, w.key()) == nil {
			did = append(did, "an operator removes the lock")
		}
	}
	if did == nil && w.info.Locker == nil && w.AsksTime() {
		did = append(did, "the processes' clocks move on by the time of a lease")
	}
	return w.names.Plain(strings.Join(did, "; ")), nil
}

// leaseEnd is how far the processes' clocks move when a lease ends.
func leaseEnd(s catalog.Settings) time.Duration { return s.LockLease + time.Second }
