package loadtest

import (
	"fmt"

	"seckill/internal/ledger"
	"seckill/internal/numbers"
)

// Signs are the two questions in a verdict, apart: is the ledger right, and were
// the buyers served? A sale can be right to the last unit and stand still, or
// answer at once and sell too much.
type Signs struct {
	// Right is yes if nothing was oversold, lost or invented.
	Right Sign `json:"right"`
	// Served is yes if all of this is so:
	//
	//   - The sale never stood still for longer than it may (ledger.Served).
	//   - 99 of 100 answers came within Limits.LateMs of when the request was due.
	//   - At most Limits.Uncertain of the buyers ended with an error or without a
	//     certain answer.
	//   - At least Limits.Sold of the units were sold that were there and asked for.
	//     Only where that number is known: one SKU, nothing cancelled or
	//     expired.
	//
	// It is not known if the run is not valid, or if nothing says whether the sale
	// stood still and it fell short of nothing else.
	Served Sign        `json:"served"`
	Short  []Shortfall `json:"short"` // what Served fell short of
	Limits Limits      `json:"limits"`
}

// A Sign answers one question of a verdict.
type Sign string

const (
	Yes      Sign = "yes"
	No       Sign = "no"
	NotKnown Sign = "not_known"
)

// Limits of what counts as served.
type Limits struct {
	LateMs    float64 `json:"late_ms"`
	Uncertain float64 `json:"uncertain"`
	Sold      float64 `json:"sold"`
}

var served = Limits{LateMs: 2000, Uncertain: 0.01, Sold: 0.99}

// A Shortfall is one thing that buyers were not given, with its figures.
type Shortfall struct {
	Code   string             `json:"code"`
	Params map[string]float64 `json:"params"`
}

// Codes of shortfalls, with their parameters.
const (
	ShortStood     = "stood"     // ms, allowed_ms
	ShortLate      = "late"      // p99_ms
	ShortUncertain = "uncertain" // errors, unknown, of
	ShortUnsold    = "unsold"    // sold, of
)

// signs gives both signs of a run that has its verdict.
func (r *Result) signs() Signs {
	s := Signs{Right: NotKnown, Served: NotKnown, Short: []Shortfall{}, Limits: served}
	switch r.Verdict {
	case ledger.Held, Blocked:
		s.Right = Yes
	case ledger.Oversold, ledger.Lost:
		s.Right = No
	default:
		return s
	}
	s.Short = r.shortfalls()
	switch stood := r.Audit.Served; {
	case len(s.Short) > 0:
		s.Served = No
	case stood != nil && stood.State == ledger.ServedYes:
		s.Served = Yes
	}
	return s
}

func (r *Result) shortfalls() []Shortfall {
	short := []Shortfall{}
	add := func(code string, params map[string]float64) { short = append(short, Shortfall{code, params}) }
	if stood := r.Audit.Served; stood.Blocked() {
		add(ShortStood, map[string]float64{"ms": stood.LongestMs, "allowed_ms": stood.PatienceMs})
	}
	if late := float64(r.Latency.P99) / 1000; late > served.LateMs {
		add(ShortLate, map[string]float64{"p99_ms": late})
	}
	errs := r.Counts[ledger.OutcomeError]
	failed, unknown := errs+r.Reservations.Refused, r.Uncertain()-errs+r.Reservations.Unknown
	if float64(failed+unknown) > served.Uncertain*float64(r.Requests) {
		add(ShortUncertain, map[string]float64{"errors": float64(failed), "unknown": float64(unknown), "of": float64(r.Requests)})
	}
	if wanted := r.wanted(); float64(r.Audit.Sold) < served.Sold*float64(wanted) {
		add(ShortUnsold, map[string]float64{"sold": float64(r.Audit.Sold), "of": float64(wanted)})
	}
	return short
}

// wanted is how many units could have been sold; 0: not known.
func (r *Result) wanted() int64 {
	q := r.Settings.Quantity
	if r.Settings.SKUs > 1 || r.Audit.Cancelled+r.Audit.Expired > 0 || q < 1 {
		return 0
	}
	return min(r.Audit.Initial/q, int64(r.Requests-r.Counts[ledger.OutcomeDuplicate])) * q
}

// String words it for the command line.
func (s Shortfall) String() string {
	p := s.Params
	took := func(name string) string { return numbers.Duration(int64(p[name] * 1000)) }
	switch s.Code {
	case ShortStood:
		return fmt.Sprintf("the sale stood still for %s", took("ms"))
	case ShortLate:
		return fmt.Sprintf("one answer in a hundred took longer than %s, and %s are allowed", took("p99_ms"), numbers.Duration(int64(served.LateMs*1000)))
	case ShortUncertain:
		return fmt.Sprintf("%s and %s of %s without a certain answer", numbers.Count(int64(p["errors"]), "error"), numbers.Thousands(int64(p["unknown"])), numbers.Count(int64(p["of"]), "buyer"))
	}
	return fmt.Sprintf("only %s of %s sold", numbers.Thousands(int64(p["sold"])), numbers.Count(int64(p["of"]), "unit"))
}
