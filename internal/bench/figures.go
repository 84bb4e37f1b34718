package bench

import (
	"strings"

	"seckill/internal/measure"
)

// LockFigures are what the lessons read of a run of locks; those that failed are
// left out.
type LockFigures struct {
	measure.Run
	HoldMS float64                 `json:"hold_ms"`
	Locks  map[string]CrowdFigures `json:"locks"`
}

// CrowdFigures are those of one lock by the number of contenders; a single one
// acquires and releases without a pause.
type CrowdFigures struct {
	Foreign bool                     `json:"foreign,omitempty"`
	Crowds  map[int]ContenderFigures `json:"crowds"`
}

// ContenderFigures are medians with the lowest and the highest round.
type ContenderFigures struct {
	Rate     [3]float64 `json:"locks_per_second"`
	P50      [3]float64 `json:"p50_ms"` // of waiting
	P99      [3]float64 `json:"p99_ms"`
	Fairness [3]float64 `json:"fairness"` // fewest/most locks per contender
	Sent     float64    `json:"commands"`
}

// Figures extracts them.
func (r *Report) Figures() LockFigures {
	f := LockFigures{Run: r.run(), HoldMS: r.HoldMS, Locks: map[string]CrowdFigures{}}
	for _, l := range r.Locks {
		of := CrowdFigures{l.Foreign, map[int]ContenderFigures{}}
		for _, s := range l.Scenes {
			if s.valid() {
				of.Crowds[s.Contenders] = ContenderFigures{s.spread(rate).Short(), s.spread(waitP50).Short(), s.spread(waitP99).Short(),
					s.spread(fairness).Short(), measure.Digits(s.Commands)}
			}
		}
		if len(of.Crowds) > 0 {
			f.Locks[l.Name] = of
		}
	}
	return f
}

func (r *Report) run() measure.Run { return measure.RunOf(r.Command, r.Began, r.Machine, r.Servers) }

// ClaimFigures are what the lessons read of the articles' claims: the sweeps.
type ClaimFigures struct {
	measure.Run
	Lock    string         `json:"lock"` // that was swept
	TaskMS  float64        `json:"task_ms"`
	Central [3]float64     `json:"central_over_segmented"`
	Polls   []SweepFigures `json:"polls"`
	Leases  []SweepFigures `json:"leases"`
}

// SweepFigures are those of one value of the pause or the lease.
type SweepFigures struct {
	MS   float64    `json:"ms"`
	Rate [3]float64 `json:"locks_per_second"`
	P99  [3]float64 `json:"p99_ms"`
	Sent float64    `json:"commands"`
	Lost [3]float64 `json:"lost_percent"`
}

// Figures extracts them.
func (c *Claims) Figures() ClaimFigures {
	f := ClaimFigures{Run: c.Report.run(), TaskMS: c.Report.HoldMS, Central: c.Tables.Short()}
	f.Lock, _, _ = strings.Cut(c.Swept, ",")
	figures := func(ms float64, p SweepPoint) SweepFigures {
		return SweepFigures{measure.Digits(ms), p.Rate.Short(), p.WaitP99.Short(), measure.Digits(p.Commands), p.Lost.Short()}
	}
	for _, p := range c.Polls {
		f.Polls = append(f.Polls, figures(p.Poll, p))
	}
	for _, p := range c.Leases {
		f.Leases = append(f.Leases, figures(p.Lease, p))
	}
	return f
}
