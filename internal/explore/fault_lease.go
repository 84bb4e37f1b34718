package explore

import (
	"context"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore/policy"
	"seckill/internal/lock"
)

// The lease of the lock's holder ends, as its server sees it. If the strategy is no
// lock, a transaction ends with its connection: that of the buyer who is named or,
// without a name, of the last of them.
var _ = addFault(faultKind{
	name: LeaseEnds,
	at: func(r *run, _ []*thread) (list []policy.Option) {
		all := r.leaseholders()
		if len(all) > 0 || r.world.info.Locker == nil && r.world.AsksTime() {
			list = append(list, policy.Option{Choice: Choice{Fault: LeaseEnds}})
		}
		if r.world.info.Locker == nil && len(all) > 1 {
			for _, a := range all[:len(all)-1] {
				list = append(list, policy.Option{Choice: Choice{Who: a.Name, Fault: LeaseEnds}})
			}
		}
		return list
	},
	happens: func(ctx context.Context, r *run, step Step) (err error) {
		if r.paused = r.leaseholder(); step.Who != "" {
			r.paused = r.actor(step.Who)
		}
		if step.Command, err = r.endLease(ctx, r.paused); err != nil {
			return err
		}
		r.schedule.Steps = append(r.schedule.Steps, step)
		r.last = nil // the holder is paused: to go next takes no turn away
		return nil
	},
})

// leaseholders are the actors whose lease has not ended or, if the strategy is no
// lock, whose transaction has not: that ends with its connection.
func (r *run) leaseholders() (list []*actor) {
	for _, a := range r.actors {
		if (a.grip != loose || r.world.info.Locker == nil && a.inTransaction) && !a.expired {
			list = append(list, a)
		}
	}
	return list
}

// leaseholder is the last of them; nil: none.
func (r *run) leaseholder() *actor {
	if all := r.leaseholders(); len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

// endLease ends the lease of holder, or whichever there is if that is nil, and says
// what that did; "" if there was no lease.
func (r *run) endLease(ctx context.Context, holder *actor) (what string, err error) {
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
