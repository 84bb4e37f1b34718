package explore

import (
	"slices"

	"seckill/internal/tap"
)

// Two commands of different processes to different backends lead to the same
// state in either order, so one of the two is enough. (Buyers of one process share
// its memory: what they do between their commands is not seen.) A sleep set names
// the turns that need not be taken at a state, because a schedule that begins
// with them is run elsewhere (Godefroid, "Partial-Order Methods for the
// Verification of Concurrent Systems", LNCS 1032, 1996, chapter 5). Removing a
// turn from it too early costs schedules, and loses none.

// touches is what a command may change or see. A buyer who backs off is woken
// by what others do at its backends: then their order is seen.
func (r *run) touches(c *tap.Command) string {
	for _, a := range r.actors {
		if a.sleeper() != nil && a.attempt.used[c.Backend] {
			return ""
		}
	}
	switch c.Backend {
	case tap.SQL:
		if c.Name == "BEGIN" { // a transaction sees nothing before its first read
			return "BEGIN"
		}
		return tap.SQL
	case tap.Redis, tap.ZooKeeper, tap.Etcd:
		return c.Backend
	}
	return ""
}

// independent: the turns may be taken in either order.
func independent(a, b option) bool {
	return a.process != b.process && a.touches != "" && b.touches != "" && (a.touches != b.touches || a.touches == "BEGIN")
}

// sleepers is a sleep set.
type sleepers []option

func (z sleepers) has(c Choice) bool {
	return slices.ContainsFunc(z, func(o option) bool { return o.Choice == c })
}

// after is what still sleeps when a turn was taken.
func (z sleepers) after(o option) (next sleepers) {
	for _, s := range z {
		if independent(s, o) {
			next = append(next, s)
		}
	}
	return next
}

// awake are the options that do not sleep.
func (z sleepers) awake(options []option) (list []int) {
	for i, o := range options {
		if !z.has(o.Choice) {
			list = append(list, i)
		}
	}
	return list
}
