package lock

import (
	"context"
	"errors"
	"sync"
	"time"

	"seckill/internal/tap"
)

// A renewer calls renew after each period until its lease is lost or released.
type renewer struct {
	hold          *Hold
	period, limit time.Duration
	renew         func(context.Context) (ours bool, err error)
	began         time.Time

	asleep *alarm // until the first period is over; nil: it works at once

	awake   sync.Once
	ctx     context.Context
	cancel  context.CancelFunc
	deaf    func() bool
	over    func() // tells the tap
	stopped chan struct{}
}

// Renew calls renew after each period until the lease is lost or released, in
// a goroutine of its own, which Release joins. renew says whether the lock is
// still ours: if not, it is lost. An error may pass; Until has the last word.
// A limit other than 0 ends the renewing after so long, for a holder that
// hangs.
func (h *Hold) Renew(
	period, limit time.Duration, renew func(context.Context) (ours bool, err error),
) {
	r := &renewer{hold: h, period: period, limit: limit, renew: renew, began: time.Now()}
	h.renewer = r
	if tap.From(h.ctx) == nil {
		// Most leases are over before the first period is: until then there is
		// an alarm, and neither a goroutine nor a context.
		r.asleep = alarms.at(r.began.Add(period), func() { r.work(true) })
		return
	}
	r.wake()
	go r.work(false)
}

// wake gives it what it needs to work.
func (r *renewer) wake() {
	r.awake.Do(func() {
		ctx, helper := tap.Background(context.WithoutCancel(r.hold.ctx))
		r.ctx, r.cancel = context.WithCancel(ctx)
		r.over = helper.Over
		r.stopped = make(chan struct{})
		lost := func() {
			if errors.Is(context.Cause(r.hold.ctx), ErrLost) { // not when only the buyer has gone
				r.cancel()
			}
		}
		r.deaf = context.AfterFunc(r.hold.ctx, lost)
		lost() // or it would be told beside its first command
	})
}

func (r *renewer) work(rested bool) {
	r.wake()
	defer r.over() // last: until then the tap knows that there may be news
	defer close(r.stopped)
	defer r.deaf()
	for ; rested || tap.Sleep(r.ctx, r.period) == nil; rested = false {
		if r.ctx.Err() != nil || r.limit > 0 && time.Since(r.began) >= r.limit {
			return
		}
		if ours, err := r.renew(r.ctx); err == nil && !ours {
			r.hold.Lost()
			return
		}
	}
}

// stop ends it. What it returns is closed when it has ended; nil if it had not
// even begun.
func (r *renewer) stop() <-chan struct{} {
	if r.asleep != nil && r.asleep.stop() {
		return nil
	}
	r.wake() // it has been due: it may be about to begin
	r.cancel()
	return r.stopped
}
