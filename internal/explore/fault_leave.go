package explore

import (
	"context"

	"seckill/internal/explore/policy"
)

// A buyer leaves: they close their connection, or their time is up. Their process
// lives on; whatever it does for them under their context is refused.
var _ = addFault(faultKind{
	name: Leaves,
	at: func(r *run, _ []*thread) (list []policy.Option) {
		for _, a := range r.actors {
			if !a.done() && a.life == alive && a.ctx.Err() == nil {
				list = append(list, policy.Option{Choice: Choice{Who: a.Name, Fault: Leaves}})
			}
		}
		return list
	},
	happens: func(_ context.Context, r *run, step Step) error {
		a := r.actor(step.Who)
		r.cuts(a.process) // database/sql closes what waits for an answer
		r.schedule.Steps = append(r.schedule.Steps, step)
		a.cancel(context.Canceled)
		r.everythingMoved()
		return nil
	},
})
