// Package policy decides which schedules of a concurrent system are run. It knows no servers, commands or buyers: the
// system offers the choices that are possible now, and a Policy picks one of them until the schedule is over.
//
//	for p.Begin() {
//		p.End(play(p.Choose))
//	}
//
// A schedule is repeated by making the same choices again. So after the same choices, the system must offer the same
// options.
package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Fault names something that goes wrong, such as a lost reply. In a schedule, it is a step of its own.
type Fault string

// A Choice selects one step of a schedule. Without a Fault, the actor Who continues. With a Fault, this fault
// happens, to Who or, if Who is "", to no single actor.
type Choice struct {
	Who     string `json:"who,omitempty"`
	Renewer bool   `json:"renewer,omitempty"` // the choice concerns the goroutine that renews the lock of Who
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

// An Option is a choice that is possible now. In a list of options, the first one lets the thread of the last step
// continue, if that thread can.
type Option struct {
	Choice
	// Preempts is true if the thread of the last step could continue and the choice lets another thread continue.
	Preempts bool
	// Touches names what the step may change or read; "" means anything. Steps of different
	// processes that touch different things lead to the same state in either order.
	Touches string
	Process int // number of the process whose memory the step may change or read
	// Forced is true on the first option if, since the last choice, a step happened that the policy did not choose.
	Forced bool
}

// areIndependent reports whether the steps a and b lead to the same state in either order.
func areIndependent(a, b Option) bool {
	return a.Process != b.Process && a.Touches != "" && b.Touches != "" && a.Touches != b.Touches
}

// Order returns the same text for all schedules that differ only in the order of independent steps. Such schedules
// end in the same state. Of the steps that may come next, Order writes the step with the smallest name first.
func Order(steps []Option) string {
	var b strings.Builder
	for left := slices.Clone(steps); len(left) > 0; {
		next := -1
		for i, o := range left {
			waits := slices.ContainsFunc(left[:i], func(before Option) bool { return !areIndependent(before, o) })
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
	// Begin starts a schedule. It returns false if there are none left.
	Begin() bool
	// Choose chooses one of options, which is not empty, and returns its index. An error ends the schedule.
	Choose(options []Option) (int, error)
	// End is called when the schedule has ended, with nil or the error that ended it.
	End(err error)
}

var (
	// ErrRedundant ends a schedule that is equivalent to another one.
	ErrRedundant = errors.New("another schedule is the same")
	// ErrDiverged ends a repeated schedule in which one of the earlier choices is not possible any more.
	ErrDiverged = errors.New("the schedule does not fit any more")
)

func indexOf(options []Option, c Choice) int {
	return slices.IndexFunc(options, func(o Option) bool { return o.Choice == c })
}

// Replay returns a function that makes the choices of one schedule again. At each call, the function returns the
// index of the next choice. If this choice is not among options, the error is ErrDiverged. After the last choice, each
// thread runs as long as it can.
func Replay(choices []Choice) func(options []Option) (int, error) {
	made := 0
	return func(options []Option) (int, error) {
		if made >= len(choices) {
			return 0, nil
		}
		i := indexOf(options, choices[made])
		if i < 0 {
			return 0, fmt.Errorf("%w: step %d should be %s's, and there is only %v",
				ErrDiverged, made+1, choices[made], options)
		}
		made++
		return i, nil
	}
}

// Shorten looks for fewer choices that still break something if all threads run undisturbed after these choices. It
// first finds the shortest beginning that breaks something. Then it removes single choices, first faults and then
// others, until none can be removed. The function tryChoices plays a schedule and reports whether the schedule breaks
// something; an error of tryChoices ends the search.
func Shorten(choices []Choice, tryChoices func([]Choice) (bool, error)) ([]Choice, error) {
	for n := range choices {
		ok, err := tryChoices(choices[:n])
		if err != nil {
			return nil, err
		}
		if ok {
			choices = choices[:n]
			break
		}
	}
	for again := true; again; {
		again = false
		for _, faults := range []bool{true, false} {
			// Start at the end, because fewer choices depend on a late choice than on an early one.
			for i := len(choices) - 1; i >= 0; i-- {
				if (choices[i].Fault != "") != faults {
					continue
				}
				fewer := slices.Delete(slices.Clone(choices), i, i+1)
				ok, err := tryChoices(fewer)
				if err != nil {
					return nil, err
				}
				if ok {
					choices, again = fewer, true
				}
			}
		}
	}
	return choices, nil
}
