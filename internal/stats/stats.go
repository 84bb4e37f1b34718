// Package stats summarizes measurements for the packages bench, compare and chaos. Machines differ from each
// other, and one machine differs from hour to hour. So all subjects are measured several times, in rounds,
// and every second round runs in the opposite order. A figure is the median of its rounds, with the lowest
// and the highest value. A ratio is computed within each round.
package stats

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"seckill/internal/tables"
)

// A Turn is the measurement of one subject in one round.
type Turn struct {
	Round   int // the number of the round, from 1
	Subject int // the number of the subject, from 0
}

// Turns returns the turns of n subjects in the given number of rounds. Every second round runs
// backwards, so that a slow change of the machine affects all subjects alike.
func Turns(rounds, n int) []Turn {
	var all []Turn
	for round := range rounds {
		for subject := range n {
			if round%2 == 1 {
				subject = n - 1 - subject
			}
			all = append(all, Turn{round + 1, subject})
		}
	}
	return all
}

// A Series has the figures of one subject. It maps the number of each round to its figure.
type Series map[int]float64

// Over returns s divided by base, round by round. It leaves out rounds that only one of the two series has,
// and rounds in which base is zero.
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
func (s Series) Spread() Spread { return SpreadOf(slices.Collect(maps.Values(s))) }

// A Spread has the median, the lowest and the highest of several figures, with four significant digits.
type Spread [3]float64

// Median returns the median.
func (s Spread) Median() float64 { return s[0] }

func (s Spread) roundedSpread() Spread {
	for i, x := range s {
		s[i], _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	}
	return s
}

// SpreadOf summarizes figures. If the number of figures is even, the median is the mean of the middle two.
// Without figures, the Spread is zero.
func SpreadOf(figures []float64) Spread {
	if len(figures) == 0 {
		return Spread{}
	}
	v := slices.Sorted(slices.Values(figures))
	n := len(v)
	return Spread{(v[(n-1)/2] + v[n/2]) / 2, v[0], v[n-1]}.roundedSpread()
}

func (s Spread) String() string {
	if s[1] == s[2] {
		return tables.Number(s[0])
	}
	return tables.Number(s[0]) + " (" + tables.Number(s[1]) + "–" + tables.Number(s[2]) + ")"
}

// A Ratio compares the figures of two subjects.
type Ratio struct {
	Times  float64 `json:"times"`  // the geometric mean of first figure / second figure over the common rounds
	Low    float64 `json:"low"`    // the lower end of the 95 % confidence interval
	High   float64 `json:"high"`   // the upper end of the interval; with fewer than two rounds both ends are 0
	Rounds int     `json:"rounds"` // the number of common rounds, in which both subjects were measured
}

// RatioOf compares a with b in the rounds that both have. The interval is Student's t interval of the mean of
// the logarithms of the rounds' ratios. Each round is a pair of measurements, and ratios multiply, so their
// logarithms add up (Bland and Altman, The use of transformation when comparing two means, BMJ 312:1153,
// 1996). RatioOf assumes that the logarithms are about normally distributed and that rounds are independent.
func RatioOf(a, b Series) Ratio {
	var logs []float64
	for _, ratio := range a.Over(b) {
		if ratio > 0 {
			logs = append(logs, math.Log(ratio))
		}
	}
	n := float64(len(logs))
	if n == 0 {
		return Ratio{}
	}
	mean, squares := 0.0, 0.0
	for _, x := range logs {
		mean += x / n
	}
	r := Ratio{Times: math.Exp(mean), Rounds: len(logs)}
	if n < 2 {
		return r
	}
	for _, x := range logs {
		squares += (x - mean) * (x - mean)
	}
	half := tQuantiles[len(logs)-2] * math.Sqrt(squares/(n-1)/n)
	r.Low, r.High = math.Exp(mean-half), math.Exp(mean+half)
	return r
}

// Apart reports whether the interval excludes 1. If it does, the figures of the two subjects differ.
func (r Ratio) Apart() bool { return r.Low > 1 || r.High > 0 && r.High < 1 }

// Spread returns the ratio with the ends of its interval.
func (r Ratio) Spread() Spread { return Spread{r.Times, r.Low, r.High}.roundedSpread() }

// String returns the ratio as text, with its interval if there is one.
func (r Ratio) String() string { return r.Spread().String() }

// MaxRounds is the maximum number of rounds for which RatioOf can compute an interval.
const MaxRounds = 20

// tQuantiles has the 97.5 % quantiles of Student's t for 1, 2, … degrees of freedom.
var tQuantiles = [MaxRounds - 1]float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
	2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093}
