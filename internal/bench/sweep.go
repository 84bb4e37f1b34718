package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/measure"
)

// Sweeps measure the two numbers that article E leaves to choose, with one lock
// that polls: the pause between two attempts, and the lease.
type Sweeps struct {
	Backends   backend.Config
	Info       catalog.Info
	Contenders int
	Hold       time.Duration // a task; its mean in the sweep of leases
	For        time.Duration
	Rounds     int
	Progress   func(done, total int, what string)
}

// A SweepPoint is what one value of the pause or the lease came to.
type SweepPoint struct {
	Poll     float64        `json:"poll_ms"`
	Lease    float64        `json:"lease_ms"`
	Rate     measure.Spread `json:"locks_per_second"`
	WaitP99  measure.Spread `json:"wait_p99_ms"`
	Fairness measure.Spread `json:"fairness"`
	Commands float64        `json:"commands_per_acquisition"`
	// Percent of acquisitions whose lock was gone at release, and of updates
	// lost because two held the lock.
	Gone measure.Spread `json:"gone_percent"`
	Lost measure.Spread `json:"lost_percent"`
}

// Multiples of the task. Article E: the pause in proportion to the task; the
// lease several times the task.
var (
	pollFactors  = []float64{0.2, 0.5, 1, 2, 4, 10}
	leaseFactors = []float64{0.5, 1, 2, 3, 5, 10}
)

// Polls varies the pause; every task takes the same time.
func (s Sweeps) Polls(ctx context.Context) ([]SweepPoint, error) {
	return s.sweep(ctx, "poll", pollFactors, func(set *catalog.Settings, x float64) {
		set.LockPoll = times(s.Hold, x)
	}, func() time.Duration { return s.Hold })
}

// Leases varies the lease, without renewal. Tasks take exponentially distributed
// time, because a few that take several times the mean are what a lease must
// cover.
func (s Sweeps) Leases(ctx context.Context) ([]SweepPoint, error) {
	return s.sweep(ctx, "lease", leaseFactors, func(set *catalog.Settings, x float64) {
		set.LockPoll, set.NoRenewal = max(time.Millisecond, s.Hold/5), true
		set.LockLease = max(time.Millisecond, times(s.Hold, x))
	}, func() time.Duration { return times(s.Hold, rand.ExpFloat64()) })
}

func times(d time.Duration, x float64) time.Duration { return time.Duration(float64(d) * x) }

func (s Sweeps) sweep(
	ctx context.Context, what string, factors []float64,
	set func(*catalog.Settings, float64), hold func() time.Duration,
) ([]SweepPoint, error) {
	points := make([]SweepPoint, len(factors))
	scenes := make([]Scene, len(factors))
	for turn := range measure.Turns(s.Rounds+1, len(factors)) { // the last round counts commands
		i := turn.Subject
		chosen := catalog.DefaultSettings()
		set(&chosen, factors[i])
		s.Progress(turn.Done, turn.Total, fmt.Sprintf("%s: %s %v times the task", s.Info.Name, what, factors[i]))
		c := Ours(s.Info, chosen)
		sh := shape{contenders: s.Contenders, instances: 1, hold: hold, warm: s.For / 10, measured: s.For}
		points[i].Poll, points[i].Lease = measure.Milliseconds(chosen.LockPoll), measure.Milliseconds(chosen.LockLease)
		count := turn.Round > s.Rounds
		if count {
			sh.measured *= 2 // at the longest pause there are few acquisitions to count
		}
		if err := c.turn(ctx, s.Backends, sh, turn.Round, count, &scenes[i]); err != nil {
			return nil, err
		}
	}
	for i, s := range scenes {
		p := &points[i]
		p.Commands = s.Commands
		p.Rate, p.WaitP99, p.Fairness = s.spread(rate), s.spread(waitP99), s.spread(fairness)
		p.Gone = s.spread(figure{"gone", func(p Pass) float64 { return percent(p.Gone, p.Taken) }})
		p.Lost = s.spread(figure{"lost", func(p Pass) float64 { return percent(p.Lost, p.Taken) }})
	}
	return points, nil
}

func percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}
