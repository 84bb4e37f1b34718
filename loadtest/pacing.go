package loadtest

import (
	"math"
	"time"
)

// A pacing says when each request is due, counted from the start of the run. In
// a closed loop no request has a time: a worker sends it when it is free.
type pacing struct {
	requests int
	from, to float64 // requests a second, at the start and at the end
	seconds  float64 // 0: all are due at once
}

func (s Scenario) pacing() pacing {
	p := pacing{from: s.Rate, to: s.Rate, seconds: s.Duration.Seconds()}
	switch s.Profile {
	case Ramp:
		p.to = s.ToRate
	case Constant:
	default:
		return pacing{requests: s.Buyers}
	}
	// A product such as 0.1 × 30 must not lose its last request to rounding.
	n := math.Ceil((p.from+p.to)/2*p.seconds - 1e-9)
	p.requests = int(min(n, maxRequests+1)) // more is refused
	return p
}

// due is when request i should be sent. While the rate grows from r to s within d
// seconds, r·t + (s−r)·t²/2d requests are due up to t.
func (p *pacing) due(i int) time.Duration {
	if p.seconds == 0 {
		return 0
	}
	n, growth := float64(i), (p.to-p.from)/p.seconds
	// The growing root, in the form that does not cancel, and also holds without growth.
	t := 2 * n / (p.from + math.Sqrt(max(0, p.from*p.from+2*growth*n)))
	return time.Duration(t * float64(time.Second))
}
