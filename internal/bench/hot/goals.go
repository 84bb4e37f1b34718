package hot

import (
	"fmt"
	"slices"

	"seckill/internal/measure"
)

// A Goal is a figure that a strategy must reach, beside another of the same
// rounds or by itself.
type Goal struct {
	What    string  `json:"what"`
	Figure  string  `json:"figure"`
	AtLeast float64 `json:"must,omitempty"` // the bound; an upper one with AtMost
	Aim     float64 `json:"aim,omitempty"`
	AtMost  bool    `json:"at_most"`
	// Ratio is the geometric mean of the rounds' ratios with its 95 % interval.
	// A goal without another side has its median, and the lowest and the highest
	// round.
	Ratio   measure.Ratio `json:"ratio"`
	Missing string        `json:"missing,omitempty"` // why there is none
}

// A side of a goal: a cell, where buyers are many, usual, one, or its best.
type side struct {
	name   string
	buyers int
}

// Numbers of buyers, as goals name them.
const (
	atBest  = 0 // the number with the highest rate
	alone   = 1
	usually = 64
	many    = 512
)

// Accepted are purchases by the strategy accepting that are answered before their
// order is durable: its rate is that of the first answers, its latency theirs.
// Processor time is that of the whole sale, with the orders and the look-ups.
const (
	Accepted  = "redis-stream, accepted"
	accepting = "redis-stream"
)

var goals = []struct {
	ours, other side // other.name "": ours by itself
	figure      figure
	must, aim   float64
	atMost      bool
}{
	{side{"one-trip", usually}, side{Frozen, usually}, rate, 1.8, 2.5, false},
	{side{"one-trip", usually}, side{Update, usually}, rate, .7, .9, false},
	{side{"merged", many}, side{Update, atBest}, rate, 2, 3, false},
	{side{"merged", many}, side{Noop, many}, rate, .5, .8, false},
	{side{"merged", alone}, side{"one-trip", alone}, p50, 1.1, 1, true},
	{side{Accepted, many}, side{Script, many}, rate, .8, .95, false},
	{side{"redis-stream", many}, side{"merged", many}, rate, .8, 1, false},
	{side{"redis-counter", usually}, side{Insert, usually}, rate, .8, .95, false},
	{side{"conditional", usually}, side{}, service, 150, 0, true},
}

// Compare computes the goals.
func (r *Result) Compare() {
	r.Goals = []Goal{}
	for _, g := range goals {
		ours, other := r.at(g.ours), r.at(g.other)
		goal := Goal{What: r.words(g.ours), Figure: g.figure.name, AtLeast: g.must, Aim: g.aim, AtMost: g.atMost}
		a, b := ours.series(g.figure), other.series(g.figure)
		switch {
		case len(a) == 0:
			goal.Missing = g.ours.name + " was not measured"
		case g.other.name == "":
			s := a.Spread()
			goal.Ratio = measure.Ratio{Times: s.Median, Low: s.Low, High: s.High, Rounds: len(a)}
		case len(b) == 0:
			goal.Missing = g.other.name + " was not measured"
		default:
			goal.Ratio = measure.RatioOf(a, b)
		}
		if g.other.name != "" {
			goal.What += " / " + r.words(g.other)
		}
		r.Goals = append(r.Goals, goal)
	}
}

func (r *Result) at(s side) *Cell {
	if s.buyers == atBest {
		return r.best(s.name)
	}
	return r.Cell(s.name, s.near(r.Buyers))
}

// near is the number itself, or the nearest one that was measured on the same
// side of a single buyer.
func (s side) near(measured []int) int {
	if s.buyers == alone || slices.Contains(measured, s.buyers) {
		return s.buyers
	}
	nearest := s.buyers
	for _, n := range measured {
		if n > 1 && (nearest == s.buyers || apart(n, s.buyers) < apart(nearest, s.buyers)) {
			nearest = n
		}
	}
	return nearest
}

func apart(a, b int) float64 { return max(float64(a)/float64(b), float64(b)/float64(a)) }

func (r *Result) words(s side) string {
	if s.buyers != atBest {
		return fmt.Sprintf("%s at %d", s.name, s.near(r.Buyers))
	}
	if best := r.best(s.name); best != nil {
		return fmt.Sprintf("%s at its best, %d", s.name, best.Buyers)
	}
	return s.name + " at its best"
}

// reaches reports whether the figure is as good as a bound.
func (g Goal) reaches(bound float64) bool {
	return bound > 0 && (g.AtMost && g.Ratio.Times <= bound || !g.AtMost && g.Ratio.Times >= bound)
}

// Met is yes, no, or the aim.
func (g Goal) Met() string {
	switch {
	case g.Missing != "":
		return measure.None
	case g.reaches(g.Aim):
		return "yes, and the aim"
	case g.reaches(g.AtLeast):
		return "yes"
	}
	return "no"
}
