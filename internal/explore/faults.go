package explore

import (
	"context"

	"seckill/internal/explore/policy"
)

// A faultKind makes one fault happen between two commands. Each is a file of its
// own, which adds it.
type faultKind struct {
	name Fault
	// follows: it is the consequence of another fault, may come whenever it can,
	// and is not counted.
	follows bool
	// aims: it befalls the next command.
	aims bool
	// at lists where it could happen now; can are the threads that could go.
	at func(r *run, can []*thread) []policy.Option
	// happens lets it happen, and adds the step.
	happens func(ctx context.Context, r *run, step Step) error
}

var (
	kinds  = map[Fault]faultKind{}
	follow []faultKind
)

func addFault(k faultKind) faultKind {
	kinds[k.name] = k
	if k.follows {
		follow = append(follow, k)
	}
	return k
}

// known reports whether a step of an example may have this fault.
func known(f Fault) bool {
	_, ok := kinds[f]
	return ok || f == TimePasses || f == NodeLost
}

// atCommands is every command that could be sent now, of a buyer or a renewer.
func atCommands(f Fault) func(*run, []*thread) []policy.Option {
	return func(r *run, can []*thread) (list []policy.Option) {
		for _, t := range can {
			c := t.choice()
			c.Fault = f
			list = append(list, policy.Option{Choice: c, Preempts: t != r.last && can[0] == r.last})
		}
		return list
	}
}

// fail answers a call with an error; it is not sent. result is what the step
// says of it.
func (r *run) fail(c *call, step Step, result string, err error) {
	r.send(c, step)
	r.schedule.Steps[c.step].Result = result
	c.drop()
	c.answer <- err
}

// aimed is the call that a fault befalls.
func (r *run) aimed(c Choice) *call {
	for _, t := range r.actor(c.Who).threads {
		if (t.helper != nil) == c.Renewer && t.next() != nil {
			return t.next()
		}
	}
	return nil
}
