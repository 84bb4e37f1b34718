package chaos

import (
	"slices"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

// A watch writes down how a sale goes. It is called from one goroutine.
type watch struct {
	began  time.Time
	course [][3]int // Cell.Course
}

func (w *watch) begin() { w.began = time.Now() }

func (w *watch) see(p loadtest.Progress) {
	if p.Settling || w.began.IsZero() {
		return
	}
	w.course = append(w.course, [3]int{tenths(time.Since(w.began)), p.Counts[ledger.OutcomeSold],
		p.Counts[ledger.OutcomeUnknown] + p.Counts[ledger.OutcomeError]})
}

// until is the course while buyers come: after that, a pause means nothing.
func (w *watch) until(d time.Duration) [][3]int {
	i := slices.IndexFunc(w.course, func(p [3]int) bool { return p[0] > tenths(d) })
	if i < 0 {
		return w.course
	}
	return w.course[:i]
}

func tenths(d time.Duration) int {
	return int(d.Round(100*time.Millisecond) / (100 * time.Millisecond))
}
