package policy

import "math/rand/v2"

// Random draws schedules by priorities (PCT: Burckhardt et al., "A randomized scheduler with probabilistic guarantees
// of finding bugs", ASPLOS 2010, section 3). At each choice, the thread with the highest priority continues. A few
// choices (changePoints of them) are drawn in advance. At these, the priority of the thread that would continue falls
// below all others, or a fault happens instead.
//
// Say that a bug needs a certain thread to be first, and at most changePoints such changes at certain choices. With n
// threads and k choices, each schedule finds the bug with a probability of at least 1/(n·k^changePoints). If one of the
// changes must be one of f possible faults, the probability is at least 1/(n·(2k)^changePoints·f).
//
// In the paper, threads whose priority has fallen continue in a random order; here, in the order in which they fell. So
// with two threads, every change lets the other thread continue, and a given schedule with three preemptions is six
// times as likely to be drawn. A bug that needs another order of these threads needs one more change.
//
// Begin never returns false.
type Random struct {
	rng      *rand.Rand
	length   int // the number of choices in the longest schedule so far
	steps    int
	changeAt map[int]bool
	priority map[Choice]float64
	lowest   float64
}

const (
	changePoints  = 3 // the number of choices per schedule at which a priority falls or a fault happens
	initialLength = 8 // the assumed length of the first schedule
)

// NewRandom returns a Random that draws only from r, so the seed of r determines all schedules.
func NewRandom(r *rand.Rand) *Random { return &Random{rng: r, length: initialLength} }

func (p *Random) Begin() bool {
	p.steps, p.lowest = 0, 0
	p.changeAt, p.priority = map[int]bool{}, map[Choice]float64{}
	for range changePoints {
		p.changeAt[p.rng.IntN(p.length)] = true
	}
	return true
}

func (p *Random) Choose(options []Option) (int, error) {
	change := p.changeAt[p.steps]
	p.steps++
	var turns, faults []int
	for i, o := range options {
		if o.Fault == "" {
			turns = append(turns, i)
		} else {
			faults = append(faults, i)
		}
	}
	if len(turns) == 0 || change && len(faults) > 0 && p.rng.IntN(2) == 0 {
		return faults[p.rng.IntN(len(faults))], nil
	}
	first := p.highestPriority(options, turns)
	if change {
		p.lowest--
		p.priority[options[first].Choice] = p.lowest
		first = p.highestPriority(options, turns)
	}
	return first, nil
}

func (p *Random) highestPriority(options []Option, turns []int) int {
	best := turns[0]
	for _, i := range turns {
		c := options[i].Choice
		if _, drawn := p.priority[c]; !drawn {
			p.priority[c] = p.rng.Float64()
		}
		if p.priority[c] > p.priority[options[best].Choice] {
			best = i
		}
	}
	return best
}

func (p *Random) End(error) { p.length = max(p.length, p.steps) }
