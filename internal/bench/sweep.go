package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
)

// Sweeps is the choice of E's two numbers, measured with one lock that polls:
// how long to pause between two attempts, and how long a lease to take.
type Sweeps struct {
	Backends   backend.Config
	Info       catalog.Info
	Contenders int
	Hold       time.Duration // a task; in the sweep of leases, its mean
	For        time.Duration
	Rounds     int
	Progress   func(done, total int, what string)
}

// A Setting is what one value did.
type Setting struct {
	Poll     float64 `json:"poll_ms"`
	Lease    float64 `json:"lease_ms"`
	Rate     Spread  `json:"locks_per_second"`
	WaitP99  Spread  `json:"wait_p99_ms"`
	Fairness Spread  `json:"fairness"`
	Commands float64 `json:"commands_per_acquisition"`
	// Of those who held the lock: how many found it gone at the end, and how
	// many updates were lost because two held it. In percent.
	Gone Spread `json:"gone_percent"`
	Lost Spread `json:"lost_percent"`
}

// Times the task. E: the pause in proportion to the task; the lease several
// times the task.
var (
	pollFactors  = []float64{0.2, 0.5, 1, 2, 4, 10}
	leaseFactors = []float64{0.5, 1, 2, 3, 5, 10}
)

// Polls goes through the pauses; every task takes the same time.
func (s Sweeps) Polls(ctx context.Context) ([]Setting, error) {
	return s.sweep(ctx, "poll", pollFactors, func(set *catalog.Settings, x float64) {
		set.LockPoll = times(s.Hold, x)
	}, func() time.Duration { return s.Hold })
}

// Leases goes through the leases, without renewal. Tasks take exponentially
// distributed time: most are short, a few take several times the mean. That
// is what the words "several times" are about.
func (s Sweeps) Leases(ctx context.Context) ([]Setting, error) {
	return s.sweep(ctx, "lease", leaseFactors, func(set *catalog.Settings, x float64) {
		set.LockPoll, set.NoRenewal = max(time.Millisecond, s.Hold/5), true
		set.LockLease = max(time.Millisecond, times(s.Hold, x))
	}, func() time.Duration { return times(s.Hold, rand.ExpFloat64()) })
}

func times(d time.Duration, x float64) time.Duration { return time.Duration(float64(d) * x) }

func (s Sweeps) sweep(
	ctx context.Context, what string, factors []float64,
	set func(*catalog.Settings, float64), hold func() time.Duration,
) ([]Setting, error) {
	settings := make([]Setting, len(factors))
	passes := make([][]Pass, len(factors))
	order := ascending(len(factors))
	done, total := 0, len(factors)*(s.Rounds+1)
	for round := range s.Rounds + 1 {
		for _, i := range order {
			chosen := catalog.DefaultSettings()
			set(&chosen, factors[i])
			s.Progress(done, total, fmt.Sprintf("%s: %s %v times the task", s.Info.Name, what, factors[i]))
			done++
			c, o := Ours(s.Info, chosen), Options{Backends: s.Backends}
			sh := shape{contenders: s.Contenders, instances: 1, hold: hold, warm: s.For / 10, measured: s.For}
			settings[i].Poll, settings[i].Lease = milliseconds(chosen.LockPoll), milliseconds(chosen.LockLease)
			var err error
			if round < s.Rounds {
				var p Pass
				p, err = c.pass(ctx, o, sh)
				passes[i] = append(passes[i], p)
			} else {
				sh.measured /= 2
				settings[i].Commands, err = c.commands(ctx, o, sh)
			}
			if err != nil {
				return nil, err
			}
		}
		slices.Reverse(order)
	}
	for i, all := range passes {
		scene := Scene{Passes: all}
		settings[i].Rate, settings[i].WaitP99 = scene.spread(rate), scene.spread(waitP99)
		settings[i].Fairness = scene.spread(fairness)
		settings[i].Gone = scene.spread(measure{"gone", func(p Pass) float64 { return percent(p.Gone, p.Taken) }})
		settings[i].Lost = scene.spread(measure{"lost", func(p Pass) float64 { return percent(p.Lost, p.Taken) }})
	}
	return settings, nil
}

func percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
