package explore

import (
	"slices"

	"seckill/internal/explore/policy"
	"seckill/internal/tap"
)

// ready are the threads whose turn it could be. The one that went last goes on,
// unless it cannot.
func (r *run) ready() (list []*thread) {
	for _, a := range r.actors {
		if a.life != alive {
			continue
		}
		for _, t := range a.threads {
			if t.next() != nil && (t.helper == nil || r.scenario.Renewals > 0 || !a.done()) {
				list = append(list, t)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *thread) int { return r.rank(a) - r.rank(b) })
	return list
}

// rank: the thread that went last goes on, one that was paused comes last.
func (r *run) rank(t *thread) int {
	switch {
	case t == r.last:
		return 0
	case t.actor == r.paused:
		return 2
	}
	return 1
}

func (t *thread) choice() Choice { return Choice{Who: t.actor.Name, Renewer: t.helper != nil} }

// preempts: of the threads that can go, its turn is taken from the one that went last.
func (r *run) preempts(t *thread, can []*thread) bool { return t != r.last && can[0] == r.last }

// options are all choices at this moment.
func (r *run) options() (list []policy.Option) {
	can := r.ready()
	for _, t := range can {
		list = append(list, policy.Option{Choice: t.choice(), Preempts: r.preempts(t, can), Touches: r.touches(t), Process: t.actor.Process})
	}
	for _, f := range follow {
		list = append(list, faultKinds[f].at(r, can)...)
	}
	if len(can) == 0 {
		return list
	}
	list = append(list, r.renewersToWake()...)
	if r.faults >= r.scenario.MaxFaults {
		return list
	}
	for _, f := range r.scenario.Faults {
		at := faultKinds[f].at(r, can)
		if f == NodeLost && at != nil { // as soon as it can be: that is no choice
			return at
		}
		list = append(list, at...)
	}
	return list
}

// renewersToWake are renewers whose time has come, if it may come.
func (r *run) renewersToWake() (list []policy.Option) {
	if r.renewals >= r.scenario.Renewals {
		return nil
	}
	for _, a := range r.actors {
		for _, t := range a.threads[1:] {
			if t.sleeper() != nil && a.life == alive {
				list = append(list, policy.Option{Choice: t.choice()})
				break
			}
		}
	}
	return list
}

func (r *run) actor(name string) *actor {
	for _, a := range r.actors {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// touches is what a thread's next command may change or see: its backend. A buyer
// who backs off is woken by what others do at its backends: then their order is seen.
func (r *run) touches(t *thread) string {
	c := t.next().command
	for _, a := range r.actors {
		if a.program().sleeper() != nil && a.attempt.used[c.Backend] {
			return ""
		}
	}
	switch c.Backend {
	case tap.SQL:
		if c.Name == "BEGIN" { // a transaction sees nothing before its first read
			return "nothing of " + t.choice().String()
		}
		return tap.SQL
	case tap.Redis, tap.ZooKeeper, tap.Etcd:
		return c.Backend
	}
	return ""
}
