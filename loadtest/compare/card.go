package compare

import (
	"fmt"
	"math"
	"strings"

	"seckill/internal/measure"
	"seckill/internal/numbers"
	"seckill/loadtest"
)

// A card shows one strategy's percentiles and the course of its sale. All cards
// share one latency axis, so that they can be compared.
type card struct {
	*Entry
	Finding string
	Curve   *plot
	Course  *plot
}

// A plot's lines are SVG paths in a box of plotWidth by plotHeight; its labels
// are outside of it.
type plot struct {
	Lines  []line
	X, Y   []tick // Y: from the top
	YRight []tick
}

type line struct{ Path, Class string }

const (
	plotWidth  = 240.0
	plotHeight = 90.0
)

func (r *Result) cards(in tongue) (all []card) {
	least, most := math.Inf(1), 0.0
	for _, e := range r.Strategies {
		for _, p := range e.Curve {
			if ms := float64(p.Micros) / 1000; p.Percent >= 10 { // the fastest few would stretch the axis
				least, most = min(least, ms), max(most, ms)
			}
		}
	}
	for _, e := range r.Strategies {
		c := card{Entry: e, Finding: strings.Join(e.found(in), in.say(", "))}
		if len(e.Curve) > 1 && most > 0 {
			c.Curve = curvePlot(e.Curve, newLogAxis(max(least, .1), most))
		}
		if len(e.Course) > 1 {
			c.Course = coursePlot(e.Course, r.Settings.Stock)
		}
		if c.Curve != nil || c.Course != nil || c.Finding != "" || len(e.Problems) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// nines is the position of a percentile: 90 at 1, 99 at 2, 99.9 at 3.
func nines(percent float64) float64 { return -math.Log10(max(1-percent/100, 1e-3)) }

func curvePlot(points []loadtest.Percentile, axis logAxis) *plot {
	p := &plot{}
	var b strings.Builder
	for i, point := range points {
		command := "L"
		if i == 0 {
			command = "M"
		}
		y := plotHeight * (1 - axis.at(float64(point.Micros)/1000))
		fmt.Fprintf(&b, "%s%.1f %.1f", command, plotWidth*nines(point.Percent)/3, y)
		if point.Percent >= 99.9 {
			break
		}
	}
	p.Lines = []line{{b.String(), "curve"}}
	for _, percent := range []float64{50, 90, 99, 99.9} {
		p.X = append(p.X, tick{plotWidth * nines(percent) / 3, fmt.Sprintf("p%g", percent)})
	}
	for _, d := range axis.decades() {
		p.Y = append(p.Y, tick{plotHeight * (1 - axis.at(d)), milliseconds(d)})
	}
	return p
}

func coursePlot(points []loadtest.Point, stock int64) *plot {
	p := &plot{}
	end, most, deepest := points[len(points)-1].At, 0.0, int64(0)
	for _, point := range points {
		most, deepest = max(most, point.Rate), min(deepest, point.Left)
	}
	if end <= 0 || most <= 0 {
		return nil
	}
	left := func(units int64) float64 { return plotHeight * float64(stock-units) / float64(stock-deepest) }
	var rate, units strings.Builder
	fmt.Fprintf(&units, "M0 %.1f", left(stock))
	for i, point := range points {
		x := plotWidth * point.At / end
		command := "L"
		if i == 0 {
			command = "M"
		}
		fmt.Fprintf(&rate, "%s%.1f %.1f", command, x, plotHeight*(1-point.Rate/most))
		fmt.Fprintf(&units, "L%.1f %.1f", x, left(point.Left))
	}
	p.Lines = []line{{units.String(), "stock"}, {rate.String(), "rate"}}
	p.X = []tick{{0, "0 s"}, {plotWidth, fmt.Sprintf("%.2g s", end)}}
	p.Y = []tick{{0, measure.Number(most) + "/s"}, {plotHeight, "0"}}
	p.YRight = []tick{{left(stock), numbers.Thousands(stock)}, {left(deepest), numbers.Thousands(deepest)}}
	return p
}
