package loadtest

import (
	"time"

	"seckill/internal/ledger"
)

// Progress is a run as it stands now.
type Progress struct {
	Elapsed  time.Duration          `json:"elapsed_ns"`
	Settling bool                   `json:"settling"` // the storm is over, the audit waits for purchases without an answer
	Requests int                    `json:"requests"` // answered or given up
	Buyers   int                    `json:"buyers"`   // in all
	Counts   map[ledger.Outcome]int `json:"counts"`
	Units    int64                  `json:"units"` // told sold, so far
	Left     int64                  `json:"left"`  // stock as last told
	Late     int                    `json:"late"`  // sent more than 1 ms after they were due
	Rate     float64                `json:"rate"`  // requests a second, over the last interval
	P50      float64                `json:"p50_ms"`
	P99      float64                `json:"p99_ms"`
}

const progressEvery = 100 * time.Millisecond

// mostPoints bounds what a long run keeps of its course; a chart has about as
// many pixels.
const mostPoints = 1200

// report watches the run from a goroutine of its own and tells OnProgress.
// finish tells it once more and returns the course.
func (r *run) report() (finish func() []Point) {
	start := time.Now()
	last, lastAt := 0, start
	course := []Point{}
	show := func() {
		p, p50, p99 := r.tally.progress()
		now := time.Now()
		p.Buyers, p.Elapsed = r.plan.requests, now.Sub(start)
		if since := now.Sub(lastAt).Seconds(); since > 0 {
			p.Rate = float64(p.Requests-last) / since
		}
		last, lastAt = p.Requests, now
		if !p.Settling {
			course = thin(append(course, Point{At: p.Elapsed.Seconds(), Requests: p.Requests, Rate: p.Rate, Left: p.Left, P50: p50, P99: p99,
				Troubled: p.Counts[ledger.OutcomeUnknown] + p.Counts[ledger.OutcomeError]}))
		}
		if r.OnProgress != nil {
			r.OnProgress(p)
		}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				show()
			case <-stop:
				show()
				return
			}
		}
	}()
	return func() []Point {
		close(stop)
		<-stopped
		return course
	}
}

// thin joins points two by two when there are too many.
func thin(course []Point) []Point {
	if len(course) <= mostPoints {
		return course
	}
	kept := course[:0]
	for i := 1; i < len(course); i += 2 {
		a, b := course[i-1], course[i]
		b.Rate, b.P50, b.P99 = (a.Rate+b.Rate)/2, max(a.P50, b.P50), max(a.P99, b.P99)
		kept = append(kept, b)
	}
	return kept
}
