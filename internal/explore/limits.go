package explore

import (
	"time"

	"seckill/internal/explore/policy"
)

// Limits bound a search. The zero value is no limit.
type Limits struct {
	Schedules int           // stop after so many
	Time      time.Duration // for the schedules in order, and as long again for those at random
	// Reduce leaves out schedules that differ from one that is run only in the
	// order of independent commands. Preemptions say nothing then.
	Reduce bool
	// Random are drawn at random from Seed when Schedules were not all there are.
	Random int
	Seed   uint64
	// All goes on after the first broken schedule.
	All bool
	// Seen, if not nil, is given each schedule.
	Seen func(*Schedule)
	// Stop says which rules make a schedule broken. Nil means every one.
	Stop func(rule string) bool
}

// A Result is what a search found.
type Result struct {
	Schedules int // run to their end
	Random    int // of them drawn at random
	Orders    int // in which their conflicting commands came
	// Preemptions: all schedules with at most so many were run. -1: not even those
	// without one, or it is not known (Limits.Reduce), or all were run (Exhausted).
	Preemptions int
	// Cut counts turns that were not taken: the limits came first, or the servers
	// did not repeat themselves.
	Cut     int
	Pruned  int       // left off in the middle: another schedule is the same
	Faulty  int       // schedules in which a fault happened
	Renewed int       // in which a renewer acted
	First   *Schedule // the first broken schedule
	// Rules are the first schedules that broke each rule.
	Rules map[string]*Schedule
}

// Exhausted: there is no schedule that was not run.
func (r Result) Exhausted() bool { return r.Cut == 0 }

// ErrDiverged: a replay met another command than the one it was made of.
var ErrDiverged = policy.ErrDiverged
