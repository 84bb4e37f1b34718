package explore

import (
	"context"
)

// A connection is lost: behind a command that takes effect, or before it.
var (
	_ = addFault(faultKind{
		name: ReplyLost,
		aims: true,
		at:   atCommands(ReplyLost),
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
		name: CommandLost,
		aims: true,
		at:   atCommands(CommandLost),
		happens: func(_ context.Context, r *run, step Step) error {
			c := r.aimed(step.Choice)
			r.cuts(c.actor.process)
			r.fail(c, step, "never arrives", errCommandLost)
			return nil
		},
	})
)
