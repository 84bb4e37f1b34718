package loadtest

import (
	"context"
	"math"
	"slices"

	"seckill/internal/ledger"
)

// Repeats are several runs of one sale, each with a reset and buyers of its own.
// One run proves little: n runs give a rate with an interval. The JSON form is
// stable: fields are added, never renamed.
type Repeats struct {
	Asked    int            `json:"asked"`
	Runs     []*Result      `json:"runs"`
	Verdicts []VerdictShare `json:"verdicts"` // all five, in the order held, oversold, lost, blocked, not_valid
	Exit     int            `json:"exit_status"`
}

// A VerdictShare is how often a verdict was given, and between what shares (0
// to 1) its true rate lies with a confidence of 95 %. Runs that are not valid
// prove nothing, so the shares of the others are among the valid ones.
type VerdictShare struct {
	Verdict ledger.Verdict `json:"verdict"`
	Runs    int            `json:"runs"`
	Of      int            `json:"of"`
	Low     float64        `json:"low"`
	High    float64        `json:"high"`
}

var verdicts = []ledger.Verdict{ledger.Held, ledger.Oversold, ledger.Lost, Blocked, ledger.NotValid}

// exitOrder ranks exit statuses: the first found counts. What is proven stays so,
// whatever became of other runs.
var exitOrder = []int{ExitOversold, ExitLost, ExitNotValid, ExitBlocked, ExitUnmet, ExitHeld}

// Repeat runs the sale n times. Seeds follow from c.Seed, which is the first
// run's. It ends early with ctx, or when a run is not started at all; that
// error is Run's.
func Repeat(ctx context.Context, c Config, n int, each func(i int, r *Result)) (*Repeats, error) {
	all := &Repeats{Asked: n}
	first := c.Seed
	for i := range n {
		c.Seed = RepeatSeed(first, i)
		r, err := Run(ctx, c)
		if err != nil {
			return nil, err
		}
		all.Runs = append(all.Runs, r)
		if each != nil {
			each(i, r)
		}
		if ctx.Err() != nil {
			break
		}
	}
	all.conclude()
	return all, nil
}

// RepeatSeed is the seed of the i-th repeat, counted from 0; the first has its own.
func RepeatSeed(first uint64, i int) uint64 {
	if i == 0 {
		return first
	}
	p := plan{Scenario: Scenario{Seed: first}}
	return p.draw(i, drawRun)
}

func (a *Repeats) conclude() {
	given := make([]ledger.Verdict, len(a.Runs))
	a.Exit = ExitHeld
	if len(a.Runs) < a.Asked { // interrupted
		a.Exit = ExitNotValid
	}
	for i, r := range a.Runs {
		given[i] = r.Verdict
		if status := r.ExitStatus(); slices.Index(exitOrder, status) < slices.Index(exitOrder, a.Exit) {
			a.Exit = status
		}
	}
	a.Verdicts = Shares(given)
}

// Shares says how often each verdict was given.
func Shares(given []ledger.Verdict) (shares []VerdictShare) {
	counted := map[ledger.Verdict]int{}
	for _, v := range given {
		counted[v]++
	}
	for _, v := range verdicts {
		of := len(given)
		if v != ledger.NotValid {
			of -= counted[ledger.NotValid]
		}
		low, high := wilson(counted[v], of)
		shares = append(shares, VerdictShare{v, counted[v], of, low, high})
	}
	return shares
}

// wilson is the score interval of k successes in n trials with a confidence of
// 95 % (E. B. Wilson, "Probable Inference, the Law of Succession, and
// Statistical Inference", Journal of the American Statistical Association 22,
// 1927, pages 209 to 212). Of 0 successes it has an upper bound, too: z²/(n+z²),
// which is 28 % for 10 runs and 3.7 % for 100. n = 0: anything, 0 to 1.
func wilson(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959963984540054 // 97.5 % of a normal distribution lie below
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	if low = middle - half; k == 0 {
		low = 0
	}
	if high = middle + half; k == n {
		high = 1
	}
	return low, high
}
