package explore

import (
	"context"

	"seckill/internal/explore/policy"
)

// The clock of a process jumps ahead by more than a lease, as a wrong time server
// sets it. Servers' clocks go on as before, and so do timers, which are monotonic.
var _ = addFault(faultKind{
	name: ClockJumps,
	at: func(r *run, _ []*thread) (list []policy.Option) {
		jumps := map[*process]bool{}
		for _, a := range r.actors {
			if !a.done() && a.life == alive && a.process.ahead.Load() == 0 && !jumps[a.process] {
				list = append(list, policy.Option{Choice: Choice{Who: a.Name, Fault: ClockJumps}})
				jumps[a.process] = true // and with it the others' in it
			}
		}
		return list
	},
	happens: func(_ context.Context, r *run, step Step) error {
		a := r.actor(step.Who)
		r.schedule.Steps = append(r.schedule.Steps, step)
		a.process.ahead.Store(int64(leaseEnd(r.world.settings)))
		a.process.tainted = true // the next schedule has another process
		r.everythingMoved()
		return nil
	},
})
