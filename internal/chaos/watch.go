package chaos

import (
	"slices"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

// A point is a tenth of a second of the first part.
type point struct {
	at            float64 // seconds after the buyers came
	sold, trouble int     // requests so far that were told sold; without a certain answer, or with an error
}

// A watch writes down how a sale goes. It is called from one goroutine.
type watch struct {
	began  time.Time
	course []point
}

func (w *watch) begin() { w.began = time.Now() }

func (w *watch) see(p loadtest.Progress) {
	if p.Settling || w.began.IsZero() {
		return
	}
	w.course = append(w.course, point{time.Since(w.began).Seconds(), p.Counts[ledger.OutcomeSold],
		p.Counts[ledger.OutcomeUnknown] + p.Counts[ledger.OutcomeError]})
}

// until is the course while buyers come: after that, a pause means nothing.
func (w *watch) until(d time.Duration) []point {
	i := slices.IndexFunc(w.course, func(p point) bool { return p.at > d.Seconds() })
	if i < 0 {
		return w.course
	}
	return w.course[:i]
}
