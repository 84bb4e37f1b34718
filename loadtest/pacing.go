package loadtest

import (
	"math"
	"time"
)

// A pacing says when each request is due, counted from the start of the run. In
// a closed loop no request has a time: a worker sends it when it is free.
type pacing struct {
	requests int
	segments []segment
}

// A segment changes evenly from one rate to another.
type segment struct {
	first    int     // index of its first request
	begin    float64 // seconds
	length   float64
	from, to float64 // requests a second
}

func (s Scenario) pacing() pacing {
	steps := s.Steps
	switch s.Profile {
	case Constant, Ramp:
		steps = []Step{{s.Rate, s.Duration}}
	case Stepped:
	default:
		return pacing{requests: s.Buyers}
	}
	var p pacing
	begin := 0.0
	for _, step := range steps {
		g := segment{first: p.requests, begin: begin, length: step.For.Seconds(), from: step.Rate, to: step.Rate}
		if s.Profile == Ramp {
			g.to = s.ToRate
		}
		begin += g.length
		// A product such as 0.1 × 30 must not lose its last request to rounding.
		n := math.Ceil((g.from+g.to)/2*g.length - 1e-9)
		p.requests += int(min(n, maxRequests+1)) // more is refused
		p.segments = append(p.segments, g)
	}
	return p
}

// due is when request i should be sent. In a segment whose rate grows from r
// to s within d seconds, r·t + (s−r)·t²/2d requests are due up to t.
func (p *pacing) due(i int) time.Duration {
	if len(p.segments) == 0 {
		return 0
	}
	last := len(p.segments) - 1
	for last > 0 && p.segments[last].first > i {
		last--
	}
	g := p.segments[last]
	n := float64(i - g.first)
	var t float64
	if growth := (g.to - g.from) / g.length; growth == 0 {
		t = n / g.from
	} else {
		// The growing root, in the form that does not cancel.
		t = 2 * n / (g.from + math.Sqrt(max(0, g.from*g.from+2*growth*n)))
	}
	return time.Duration((g.begin + t) * float64(time.Second))
}
