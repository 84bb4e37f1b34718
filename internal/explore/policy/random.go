package policy

import "math/rand/v2"

// Random draws schedules by priorities (PCT: Burckhardt et al., "A randomized
// scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010): the
// thread with the highest goes on until, at a few moments that are drawn before,
// its priority falls below all others, or a fault happens in place of its turn. Of n
// threads and k steps, a bug that needs d such moments is found with a probability
// of at least 1/(n·k^d), however unlikely it is by chance. It never ends.
type Random struct {
	draw     *rand.Rand
	length   int // of the longest schedule so far, in choices
	made     int
	change   map[int]bool
	priority map[Choice]float64
	lowest   float64
}

const (
	changes  = 3 // moments of a schedule
	shortest = 8 // a guess, before there is a schedule
)

// NewRandom draws from r alone: one seed gives one series of schedules.
func NewRandom(r *rand.Rand) *Random { return &Random{draw: r, length: shortest} }

// Begin implements Policy.
func (p *Random) Begin() bool {
	p.made, p.lowest = 0, 0
	p.change, p.priority = map[int]bool{}, map[Choice]float64{}
	for range changes {
		p.change[p.draw.IntN(p.length)] = true
	}
	return true
}

// Choose implements Policy.
func (p *Random) Choose(options []Option, _ int) (int, error) {
	change := p.change[p.made]
	p.made++
	var turns, faults []int
	for i, o := range options {
		if o.Fault == "" {
			turns = append(turns, i)
		} else {
			faults = append(faults, i)
		}
	}
	if len(turns) == 0 || change && len(faults) > 0 && p.draw.IntN(2) == 0 {
		return faults[p.draw.IntN(len(faults))], nil
	}
	first := p.highest(options, turns)
	if change {
		p.lowest--
		p.priority[options[first].Choice] = p.lowest
		first = p.highest(options, turns)
	}
	return first, nil
}

func (p *Random) highest(options []Option, turns []int) int {
	best := turns[0]
	for _, i := range turns {
		c := options[i].Choice
		if _, drawn := p.priority[c]; !drawn {
			p.priority[c] = p.draw.Float64()
		}
		if p.priority[c] > p.priority[options[best].Choice] {
			best = i
		}
	}
	return best
}

// End implements Policy.
func (p *Random) End(error) { p.length = max(p.length, p.made) }
