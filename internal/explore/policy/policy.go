// Package policy decides which schedules of a concurrent system are run. It knows no servers, commands or buyers: a world
// offers the choices that can be made now, and a Policy picks one until the schedule is over.
//
//	for p.Begin() {
//		p.End(play(p.Choose))
//	}
//
// A schedule is repeated by making the same choices again, so a world must offer the same choices after the same choices.
package policy

import (
	"errors"
	"slices"
	"strings"
)

// A Fault is something that goes wrong in place of somebody's turn.
type Fault string

// A Choice is one step of a schedule: whose turn it is and, with a Fault, what
// happens instead. A fault may belong to nobody.
type Choice struct {
	Who     string `json:"who,omitempty"`
	Renewer bool   `json:"renewer,omitempty"` // of Who's lock
	Fault   Fault  `json:"fault,omitempty"`
}

func (c Choice) String() string {
	who := c.Who
	if c.Renewer {
		who += "'s renewer"
	}
	switch {
	case c.Fault == "":
		return who
	case who == "":
		return string(c.Fault)
	}
	return who + ": " + string(c.Fault)
}

// An Option is a choice that can be made now. The first of several goes on with
// the thread that went last, if it can go on.
type Option struct {
	Choice
	// Preempts: it takes the turn from a thread that could go on.
	Preempts bool
	// Touches is what the step may change or see; "" is anything. Steps of different
	// processes that touch different things lead to the same state in either order.
	Touches string
	Process int // whose memory the step may change or see
	// Forced, of the first option: something happened since the last choice that was
	// not chosen.
	Forced bool
}

// independent: the steps may be taken in either order.
func independent(a, b Option) bool {
	return a.Process != b.Process && a.Touches != "" && b.Touches != "" && a.Touches != b.Touches
}

// Order writes all schedules that differ only in the order of independent steps alike,
// as they lead to the same end: of the steps that may come next, the one whose name is
// first comes.
func Order(steps []Option) string {
	var b strings.Builder
	for left := slices.Clone(steps); len(left) > 0; {
		next := -1
		for i, o := range left {
			waits := slices.ContainsFunc(left[:i], func(before Option) bool { return !independent(before, o) })
			if !waits && (next < 0 || o.String() < left[next].String()) {
				next = i
			}
		}
		b.WriteString(left[next].String() + "\n")
		left = slices.Delete(left, next, next+1)
	}
	return b.String()
}

// A Policy chooses schedules, one after the other.
type Policy interface {
	// Begin starts a schedule. False: there is none left.
	Begin() bool
	// Choose picks one of options, of which there is at least one, when the schedule
	// has had so many preemptions. An error ends the schedule.
	Choose(options []Option, preemptions int) (int, error)
	// End says how the schedule ended: nil, or the error of Choose.
	End(err error)
}

var (
	// ErrSame ends a schedule that another one is the same as.
	ErrSame = errors.New("another schedule is the same")
	// ErrDiverged: a choice that was made before cannot be made again.
	ErrDiverged = errors.New("the schedule does not fit any more")
)

func find(options []Option, c Choice) int {
	return slices.IndexFunc(options, func(o Option) bool { return o.Choice == c })
}
