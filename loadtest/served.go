package loadtest

import (
	"fmt"
	"time"

	"seckill/internal/ledger"
)

// Blocked is the verdict on a run in which nothing was oversold, lost or
// invented, and the sale stood still: units were left, buyers asked for them,
// and for longer than Served.PatienceMs none was sold. Right and served are two
// questions; the audit's own verdict is about the first.
const Blocked ledger.Verdict = "blocked"

// longestStand is for how long a sale may stand still: as long as a buyer waits
// for a lock and a dead holder keeps it, as the slowest of the services says,
// and while faults last. 0: no service says.
func (r *run) longestStand() time.Duration {
	if r.Patience > 0 {
		return r.Patience + r.outage()
	}
	longest := time.Duration(0)
	for _, l := range r.locks {
		longest = max(longest, time.Duration(l.Lease+l.Wait)*time.Millisecond)
	}
	if longest == 0 {
		return 0
	}
	return longest + r.outage()
}

func (r *run) outage() time.Duration {
	if r.Outage == nil {
		return 0
	}
	return r.Outage()
}

// lockTimes are how a service says that its locks behave.
type lockTimes struct {
	Lease int64 `json:"lease_ms"` // how long one lives unrenewed
	Wait  int64 `json:"wait_ms"`  // how long a buyer waits for one
}

// right says what the run showed of the first axis, in figures.
func (r *Result) right() string {
	what := count(r.Requests, "request")
	if r.Copies > 0 {
		what += ", " + countOf(r.Copies, "copy", "copies")
	}
	if r.Retries > 0 {
		what += ", " + countOf(r.Retries, "retry", "retries")
	}
	if c := r.Cancellations.Done + r.Cancellations.Unknown; c > 0 {
		what += ", " + count(c, "cancellation")
	}
	return "right: nothing oversold, lost or invented in " + what
}

// served says what it showed of the second.
func (r *Result) served() string {
	a := r.Audit
	said := fmt.Sprintf("served: %s of %s in %s", thousands(a.Sold), count(a.Initial, "unit"), millis(int64(r.SellingSeconds*1e6)))
	switch s := a.Served; {
	case s == nil || s.State == ledger.ServedNotKnown:
		said += ", longest pause with units left not known"
	default:
		said += ", longest pause with units left " + millis(int64(s.LongestMs*1000))
	}
	if a.Remaining > 0 {
		said += fmt.Sprintf("; %s left: %s", thousands(a.Remaining), r.refusals())
	}
	return said
}

// blocked says how the sale stood still.
func (r *Result) blocked() string {
	return fmt.Sprintf("%s, but not served: %s. %s of %s sold: %s",
		r.right(), r.Stood(), thousands(r.Audit.Sold), count(r.Audit.Initial, "unit"), r.refusals())
}

// Stood says how long the sale stood still; "" if it is not known.
func (r *Result) Stood() string {
	if r.Audit == nil || r.Audit.Served == nil {
		return ""
	}
	s := r.Audit.Served
	return fmt.Sprintf("from %s on no sale for %s, with at least %s left and %s made; allowed are %s", millis(int64(s.FromMs*1000)),
		millis(int64(s.LongestMs*1000)), count(s.Left, "unit"), count(s.Asked, "call"), millis(int64(s.PatienceMs*1000)))
}
