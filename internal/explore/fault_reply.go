package explore

import (
	"context"

	"seckill/internal/fault"
)

// A connection is lost: behind a command that takes effect, or before it.
var (
	_ = addFault(faultKind{
		name: fault.ReplyLost,
		aims: true,
		at:   atCommands(fault.ReplyLost),
		happens: func(_ context.Context, r *run, step Step) error {
			c := r.aimed(step.Choice)
			r.cuts(c.actor.process)
			r.send(c, step)
			c.loseReply = true
			c.answer <- nil
			return nil
		},
	})
	_ = addFault(faultKind{
		name: fault.CommandLost,
		aims: true,
		at:   atCommands(fault.CommandLost),
		happens: func(_ context.Context, r *run, step Step) error {
			c := r.aimed(step.Choice)
			r.cuts(c.actor.process)
			r.fail(c, step, "never arrives", errCommandLost)
			return nil
		},
	})
)
