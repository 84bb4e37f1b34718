package policy

import (
	"slices"
	"strings"
)

// Orders counts what a Policy's schedules differ in: the order of steps that are not
// independent. Schedules that are alike in that lead to the same end.
type Orders struct {
	Policy
	seen map[string]bool
	here []Option // of the schedule that runs
}

// Seen is how many different orders there were.
func (p *Orders) Seen() int { return len(p.seen) }

// Begin implements Policy.
func (p *Orders) Begin() bool {
	p.here = nil
	return p.Policy.Begin()
}

// Choose implements Policy.
func (p *Orders) Choose(options []Option, preemptions int) (int, error) {
	i, err := p.Policy.Choose(options, preemptions)
	if err == nil {
		p.here = append(p.here, options[i])
	}
	return i, err
}

// End implements Policy.
func (p *Orders) End(err error) {
	if err == nil {
		if p.seen == nil {
			p.seen = map[string]bool{}
		}
		p.seen[order(p.here)] = true
	}
	p.Policy.End(err)
}

// order writes all schedules that differ only in the order of independent steps
// alike: of the steps that may come next, the one whose name is first comes.
func order(steps []Option) string {
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
