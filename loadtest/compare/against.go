package compare

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"seckill/internal/measure"
	"seckill/loadtest"
)

// Against is what changed since an older result.
type Against struct {
	Command string   `json:"command"` // of the older one
	Limit   float64  `json:"limit_percent"`
	Changes []Change `json:"changes"`
	Gone    []string `json:"gone"`  // strategies of the older result that this one lacks
	Added   []string `json:"added"` // strategies that the older one lacks
}

// A Change of one strategy. It compares ratios to a baseline, which cancels out
// the speed of the machine on that day; without a baseline in both results it
// compares sales per second.
type Change struct {
	Strategy string  `json:"strategy"`
	By       string  `json:"by"` // the baseline's id, or sales_per_second
	Was      float64 `json:"was"`
	Is       float64 `json:"is"`
	Percent  float64 `json:"percent"` // below 0: slower
	Verdict  string  `json:"verdict,omitempty"`
	Failed   bool    `json:"failed"`
}

// Failed reports whether a strategy is slower by more than the limit, has another
// verdict, or is gone.
func (a *Against) Failed() bool {
	return len(a.Gone) > 0 || slices.ContainsFunc(a.Changes, func(c Change) bool { return c.Failed })
}

// Read reads what WriteJSON wrote.
func Read(r io.Reader) (*Result, error) {
	var result Result
	if err := measure.ReadJSON(r, &result); err != nil {
		return nil, fmt.Errorf("this is no result of seckill compare --json: %w", err)
	}
	if err := result.Check(); err != nil {
		return nil, err
	}
	return &result, nil
}

// Check tells a result from other JSON that was read into one.
func (r *Result) Check() error {
	switch {
	case r.Format == 0 || r.Strategies == nil:
		return errors.New("this is no result of seckill compare --json: it has no format and strategies")
	case r.Format != Format:
		return fmt.Errorf("the result has format %d, this program knows %d", r.Format, Format)
	case slices.Contains(r.entries(), nil):
		return errors.New("this is no result of seckill compare --json: a strategy is null")
	}
	return nil
}

// A Difference of two sales is why they cannot be compared.
type Difference struct {
	Setting string // as flags and JSON name it
	Was, Is int64
}

func (d Difference) Error() string {
	switch d.Setting { // as the flags have them
	case "async":
		if d.Is == 1 {
			return "the older result is of a comparison without --async: leave it out to compare like with like"
		}
		return "the older result is of a comparison with --async: give it, to compare like with like"
	case "reserve":
		return fmt.Sprintf("the older result is of --reserve %ds, not %ds: give the same to compare like with like (0s: none)", d.Was, d.Is)
	case "forget", "pay-late":
		return fmt.Sprintf("the older result is of --%s %d%%, not %d%%: give the same to compare like with like", d.Setting, d.Was, d.Is)
	}
	return fmt.Sprintf("the older result is of --%s %d, not %d: give --%[1]s %[2]d to compare like with like",
		d.Setting, d.Was, d.Is)
}

// Differences of r, the older result, to another sale. The seed may differ: it
// decides which buyers come first, not how much work they are.
func (r *Result) Differences(is loadtest.Scenario) (all []Difference) {
	was := r.Settings
	percent := func(share loadtest.Fraction) int64 { return int64(math.Round(100 * float64(share))) }
	seconds := func(d time.Duration) int64 { return int64(d.Seconds()) }
	for _, d := range []Difference{{"stock", was.Stock, is.Stock}, {"buyers", int64(was.Buyers), int64(is.Buyers)},
		{"concurrency", int64(was.Concurrency), int64(is.Concurrency)}, {"quantity", was.Quantity, is.Quantity},
		{"async", one(was.Async), one(is.Async)}, {"reserve", seconds(was.Reserve), seconds(is.Reserve)},
		{"forget", percent(was.Forget), percent(is.Forget)}, {"pay-late", percent(was.PayLate), percent(is.PayLate)}} {
		if d.Was != d.Is {
			all = append(all, d)
		}
	}
	return all
}

func one(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// CompareWith sets Against to the changes since old; limit is in percent.
func (r *Result) CompareWith(old *Result, limit float64) {
	a := &Against{Command: old.Command, Limit: limit, Changes: []Change{}, Gone: []string{}, Added: []string{}}
	for _, was := range old.Strategies {
		is := r.Entry(was.Strategy)
		if is == nil {
			a.Gone = append(a.Gone, was.Strategy)
			continue
		}
		a.Changes = append(a.Changes, change(was, is, limit))
	}
	for _, is := range r.Strategies {
		if old.Entry(is.Strategy) == nil {
			a.Added = append(a.Added, is.Strategy)
		}
	}
	r.Against = a
}

func change(was, is *Entry, limit float64) Change {
	c := Change{Strategy: is.Strategy, By: "sales_per_second", Was: was.Sales.Median, Is: is.Sales.Median}
	for _, baseline := range []string{BaselineTransaction, BaselineUpdate, BaselineHTTP} {
		if then, now := was.Ratios[baseline].Median, is.Ratios[baseline].Median; then > 0 && now > 0 {
			c.By, c.Was, c.Is = baseline, then, now
			break
		}
	}
	if c.Was > 0 {
		c.Percent = 100 * (c.Is/c.Was - 1)
	}
	c.Failed = c.Percent < -limit
	// Which rule a broken strategy breaks is chance; that it breaks is not.
	if was.Broken() != is.Broken() || was.Verdict != is.Verdict && !is.Broken() {
		c.Verdict = fmt.Sprintf("%s, was %s", is.Verdict, was.Verdict)
		c.Failed = true
	}
	return c
}

// Entry is the strategy at the comparison's own concurrency; nil if it was not
// run.
func (r *Result) Entry(strategy string) *Entry { return entry(r.Strategies, strategy) }

func entry(all []*Entry, strategy string) *Entry {
	i := slices.IndexFunc(all, func(e *Entry) bool { return e.Strategy == strategy })
	if i < 0 {
		return nil
	}
	return all[i]
}
