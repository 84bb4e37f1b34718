package explore

import (
	"context"
	"strings"

	"seckill/internal/explore/policy"
)

// A buyer's process dies; later the servers end what they keep for it.
var (
	_ = addFault(faultKind{
		name: Dies,
		at: func(r *run, _ []*thread) (list []policy.Option) {
			die := map[*process]bool{}
			for _, a := range r.actors {
				if !a.done() && a.life == alive && !die[a.process] {
					list = append(list, policy.Option{Choice: Choice{Who: a.Name, Fault: Dies}})
					die[a.process] = true // and with it the others in it
				}
			}
			return list
		},
		happens: func(_ context.Context, r *run, step Step) error {
			a := r.actor(step.Who)
			r.cuts(a.process)
			r.schedule.Steps = append(r.schedule.Steps, step)
			a.process.tainted = true
			a.process.in.Kill()
			for _, other := range r.actors {
				if other.process == a.process && !other.done() {
					r.die(other)
				}
			}
			r.everythingMoved()
			return nil
		},
	})
	_ = addFault(faultKind{
		name:    GivenUp,
		follows: true,
		at: func(r *run, can []*thread) (list []policy.Option) {
			for _, a := range r.actors {
				if len(can) > 0 && a.life == dead && r.world.keepsSessions() {
					list = append(list, policy.Option{Choice: Choice{Who: a.Name, Fault: GivenUp}})
				}
			}
			return list
		},
		happens: func(ctx context.Context, r *run, step Step) error {
			a := r.actor(step.Who)
			r.cuts(a.process)
			return r.bury(ctx, a, true)
		},
	})
)

// die is one buyer's part of the death of their process, whose sockets are closed:
// whatever they do from now on fails without reaching a server.
func (r *run) die(a *actor) {
	a.life, a.grip = dead, loose
	a.outcome.Dead = true
	a.late = nil // what had not left the machine
	a.cancel(errDead)
	a.each(func(c *call) {
		if c.state == ready || c.state == asleep {
			c.drop()
			c.answer <- errDead
		}
	})
}

// bury has the servers end what a dead buyer's process still has there.
func (r *run) bury(ctx context.Context, a *actor, chosen bool) error {
	a.life = buried
	did, err := r.world.probes.GiveUp(ctx, r.world.key(), a.holder())
	if did == nil {
		did = []string{"nothing of theirs is left"}
	}
	r.schedule.Steps = append(r.schedule.Steps, Step{Choice: Choice{Who: a.Name, Fault: GivenUp},
		Command: r.world.names.Plain(strings.Join(did, "; ")), chosen: chosen, ByItself: !chosen})
	r.everythingMoved()
	return err
}
