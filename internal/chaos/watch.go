package chaos

import (
	"slices"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

// A Point is a tenth of a second of the first part.
type Point struct {
	At      float64 `json:"at"`      // seconds after the buyers came
	Sold    int     `json:"sold"`    // requests so far that were told sold
	Trouble int     `json:"trouble"` // so far without a certain answer, or with an error
}

// A watch writes down how a sale goes. It is called from one goroutine.
type watch struct {
	began  time.Time
	course []Point
}

func (w *watch) begin() { w.began = time.Now() }

func (w *watch) see(p loadtest.Progress) {
	if p.Settling || w.began.IsZero() {
		return
	}
	w.course = append(w.course, Point{At: time.Since(w.began).Seconds(), Sold: p.Counts[ledger.OutcomeSold],
		Trouble: p.Counts[ledger.OutcomeUnknown] + p.Counts[ledger.OutcomeError]})
}

// until is the course while buyers come: after that, a pause means nothing.
func (w *watch) until(d time.Duration) []Point {
	i := slices.IndexFunc(w.course, func(p Point) bool { return p.At > d.Seconds() })
	if i < 0 {
		return w.course
	}
	return w.course[:i]
}

// firstSale is when the first sale was seen, after the beginning.
func (w *watch) firstSale() (time.Duration, bool) {
	for _, p := range w.course {
		if p.Sold > 0 {
			return time.Duration(p.At * float64(time.Second)), true
		}
	}
	return 0, false
}
