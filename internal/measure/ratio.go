package measure

import (
	"fmt"
	"math"
)

// A Ratio says how many times as much one subject does as another.
type Ratio struct {
	Times  float64 `json:"times"`  // geometric mean over the rounds that both have
	Low    float64 `json:"low"`    // Low to High is the 95 % confidence interval;
	High   float64 `json:"high"`   // both are 0 with fewer than two rounds
	Rounds int     `json:"rounds"` // that both have
}

// RatioOf compares a with b in the rounds that both have. The interval is
// Student's t interval of the mean of the logarithms of the rounds' ratios: a
// paired comparison, on logarithms because ratios multiply (Bland and Altman, The
// use of transformation when comparing two means, BMJ 312:1153, 1996). It assumes
// that these logarithms are about normal and that rounds are independent.
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
	half := student[len(logs)-2] * math.Sqrt(squares/(n-1)/n)
	r.Low, r.High = math.Exp(mean-half), math.Exp(mean+half)
	return r
}

// Apart reports that the interval excludes 1: the two can be told apart.
func (r Ratio) Apart() bool { return r.Low > 1 || r.High > 0 && r.High < 1 }

// String is the ratio with its interval, if there is one.
func (r Ratio) String() string {
	if r.High == 0 {
		return Times(r.Times)
	}
	return fmt.Sprintf("%s (%s–%s)", Times(r.Times), Times(r.Low), Times(r.High))
}

// Times shows a ratio with two decimals, a large one with fewer.
func Times(x float64) string {
	if x < 9.995 {
		return fmt.Sprintf("%.2f", x)
	}
	return Number(x)
}

// MaxRounds is the most that RatioOf knows the interval of.
const MaxRounds = 20

// student are the 97.5 % quantiles of Student's t distribution, from 1 degree of
// freedom on.
var student = [MaxRounds - 1]float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
	2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093}
