package explore

import (
	"context"
	"slices"

	"seckill/internal/explore/policy"
	"seckill/internal/tap"
)

// A command is delayed: its sender gets no answer in time, cleans up and goes
// on, or leaves; it arrives at any later moment. ZooKeeper's commands are not:
// a session's are in order, and end with its connection.
//
// On a connection to the SQL server nothing follows it, as its sender closes
// the connection: what was open there stays open until then.
var _ = addFault(faultKind{
	name: Delayed,
	aims: true,
	at: func(r *run, can []*thread) (list []policy.Option) {
		for _, o := range atCommands(Delayed)(r, can) {
			if mayBeLate(r.aimed(o.Choice).command) {
				list = append(list, o)
			}
		}
		return list
	},
	happens: func(_ context.Context, r *run, step Step) error {
		c := r.aimed(step.Choice)
		kept := event{kind: evKept, call: c}
		r.fail(c, step, "is delayed", &tap.Late{Err: errNoAnswer, Keep: func(deliver func(context.Context) error) {
			kept.deliver = deliver
			c.actor.tell(kept)
		}})
		return nil
	},
})

func mayBeLate(c *tap.Command) bool {
	switch c.Backend {
	case tap.SQL:
		// A BEGIN or ROLLBACK changes nothing when it comes late, and a key is
		// claimed in a session of the process, one statement after the other.
		return !slices.Contains([]string{"BEGIN", "ROLLBACK", "CLAIM", "GIVE UP"}, c.Name)
	case tap.Redis:
		return c.Name != "SUBSCRIBE"
	case tap.Etcd:
		return c.Name != "watch" && c.Name != "keepalive"
	}
	return false
}

// late is a command that has not arrived.
type late struct {
	call    *call
	deliver func(context.Context) error
	failed  bool // at the end of the schedule
}

// arrives lets the first delayed command of a buyer reach its server.
var arrives = addFault(faultKind{
	name:    Arrives,
	follows: true,
	at: func(r *run, _ []*thread) (list []policy.Option) {
		for _, a := range r.actors {
			if len(a.late) > 0 {
				list = append(list, policy.Option{Choice: Choice{Who: a.Name, Fault: Arrives}})
			}
		}
		return list
	},
	happens: func(ctx context.Context, r *run, step Step) error {
		a := r.actor(step.Who)
		l := a.late[0]
		a.late = slices.Delete(a.late, 0, 1)
		// It goes by itself, as another thread of its sender's.
		t := &thread{actor: a, helper: &tap.Helper{}}
		c := &call{actor: a, helper: t.helper, command: l.call.command, state: sent, step: len(r.schedule.Steps)}
		t.add(c)
		a.threads = append(a.threads, t)
		if r.peek {
			step.Backend, step.Command = c.command.Backend, l.call.text(r.world.names)
		}
		step.Result = "waits"
		r.schedule.Steps = append(r.schedule.Steps, step)
		r.everythingMoved()
		r.cuts(a.process) // what it was sent on is closed behind it
		ctx = context.WithoutCancel(ctx)
		r.programs.Go(func() {
			err := l.deliver(ctx)
			a.tell(event{kind: evLeaves, call: c, err: err})
			a.tell(event{kind: evOver, helper: t.helper})
		})
		return nil
	},
})
