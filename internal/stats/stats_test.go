package stats

import (
	"math"
	"testing"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Spread
	}{
		{nil, Spread{}},
		{[]float64{3}, Spread{3, 3, 3}},
		{[]float64{3, 1}, Spread{2, 1, 3}},
		{[]float64{5, 1, 2}, Spread{2, 1, 5}},
		{[]float64{4, 1, 2, 3}, Spread{2.5, 1, 4}},
		{[]float64{1451.26, 0.61234, 1e6}, Spread{1451, 0.6123, 1e6}},
	} {
		if got := SpreadOf(c.values); got != c.want {
			t.Errorf("spread of %v is %+v, want %+v", c.values, got, c.want)
		}
	}
}

func TestSpreadIsWritten(t *testing.T) {
	if got := (Spread{2, 1, 3}).String() + ", " + (Spread{3, 3, 3}).String(); got != "2.00 (1.00–3.00), 3.00" {
		t.Errorf("got %s", got)
	}
}

// The expected interval was computed by hand. The logarithms of the ratios 1.2, 1.4 and 1.5 have
// the mean .30809 and the standard deviation .11425.
func TestRatioOf(t *testing.T) {
	a, b := Series{1: 120, 2: 280, 3: 150, 7: 5}, Series{1: 100, 2: 200, 3: 100, 8: 5}
	got := RatioOf(a, b)
	for _, c := range []struct{ got, want float64 }{{got.Times, 1.3608}, {got.Low, 1.0246}, {got.High, 1.8074}} {
		if math.Abs(c.got-c.want) > .0005 {
			t.Errorf("got %+v, want 1.3608 (1.0246–1.8074)", got)
		}
	}
	if got.Rounds != 3 || !got.Apart() {
		t.Errorf("%+v of three rounds", got)
	}
	if inverse := RatioOf(b, a); !inverse.Apart() || math.Abs(inverse.Low*got.High-1) > 1e-9 {
		t.Errorf("the other way round: %+v", inverse)
	}
	if part := RatioOf(Series{1: 1, 2: 0, 3: 3}, Series{1: 0, 2: 1, 3: 1}); part.Rounds != 1 || math.Abs(part.Times-3) > 1e-9 {
		t.Errorf("of rounds in which one did nothing: %+v", part)
	}
	many := Series{}
	for round := range MaxRounds {
		many[round] = 1
	}
	if r := RatioOf(many, many); r != (Ratio{1, 1, 1, MaxRounds}) {
		t.Errorf("of the most rounds: %+v", r)
	}
	if one := RatioOf(Series{1: 3}, Series{1: 1}); one.Apart() || math.Abs(one.Times-3) > 1e-9 {
		t.Errorf("one round says how much it varies: %+v", one)
	}
	if same := RatioOf(Series{1: 1.1, 2: 1}, Series{1: 1, 2: 1.1}); same.Apart() {
		t.Errorf("equal within their noise, and told apart: %+v", same)
	}
	if none := RatioOf(Series{1: 1}, Series{2: 1}); none != (Ratio{}) || none.Apart() {
		t.Errorf("no round in common: %+v", none)
	}
}

// From 0 to each quantile lies 47.5 % of the distribution, which is half of 95 %.
func TestStudent(t *testing.T) {
	for i, quantile := range tQuantiles {
		n, share := float64(i+1), 0.0
		width := quantile / 10_000
		for x := width / 2; x < quantile; x += width {
			share += width * math.Pow(1+x*x/n, -(n+1)/2) * math.Gamma((n+1)/2) / math.Gamma(n/2) / math.Sqrt(n*math.Pi)
		}
		if math.Abs(share-.475) > 5e-5 {
			t.Errorf("%v of %v degrees of freedom has %.6f below it, want .475", quantile, n, share)
		}
	}
}
