// Package measure is the instrument behind bench, compare and chaos. Machines
// differ from each other, and from themselves an hour later, so subjects are
// measured in rounds that alternate their direction, a figure is the median of
// its rounds with the lowest and the highest, and ratios are taken within a
// round.
package measure

import (
	"encoding/json"
	"iter"
	"slices"
	"strconv"
)

// A Turn is one subject's measurement in one round.
type Turn struct {
	Round       int // from 1
	Subject     int // from 0
	Done, Total int // turns before this one, and of the whole run
}

// Turns yields each of n subjects in each round. Every other round runs
// backwards, so that drift affects all subjects alike.
func Turns(rounds, n int) iter.Seq[Turn] {
	return func(yield func(Turn) bool) {
		for done := range rounds * n {
			t := Turn{Round: done/n + 1, Subject: done % n, Done: done, Total: rounds * n}
			if t.Round%2 == 0 {
				t.Subject = n - 1 - t.Subject
			}
			if !yield(t) {
				return
			}
		}
	}
}

// A Series holds a subject's figure of each round, by the round's number.
type Series map[int]float64

// Over divides s by base within each round that both have; rounds where base is
// zero are left out.
func (s Series) Over(base Series) Series {
	ratios := Series{}
	for round, figure := range s {
		if b := base[round]; b > 0 {
			ratios[round] = figure / b
		}
	}
	return ratios
}

// Spread summarizes the series.
func (s Series) Spread() Spread {
	var figures []float64
	for _, x := range s {
		figures = append(figures, x)
	}
	return SpreadOf(figures)
}

// A Spread is the median of several rounds, the lowest and the highest. Its JSON form
// is a list of the three, with four digits each.
type Spread struct {
	Median, Low, High float64
}

func (s Spread) MarshalJSON() ([]byte, error) {
	three := []float64{s.Median, s.Low, s.High}
	for i, x := range three {
		three[i], _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	}
	return json.Marshal(three)
}

func (s *Spread) UnmarshalJSON(text []byte) error {
	var three [3]float64
	err := json.Unmarshal(text, &three)
	*s = Spread{three[0], three[1], three[2]}
	return err
}

// SpreadOf summarizes figures. The median of an even number of them is the mean
// of the middle two; no figures make a zero Spread.
func SpreadOf(figures []float64) Spread {
	if len(figures) == 0 {
		return Spread{}
	}
	v := slices.Sorted(slices.Values(figures))
	n := len(v)
	return Spread{Median: (v[(n-1)/2] + v[n/2]) / 2, Low: v[0], High: v[n-1]}
}

func (s Spread) String() string {
	if s.Low == s.High {
		return Number(s.Median)
	}
	return Number(s.Median) + " (" + Number(s.Low) + "–" + Number(s.High) + ")"
}
