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
	Rate     float64                `json:"rate"`  // requests a second, over the last interval
	P50      float64                `json:"p50_ms"`
	P99      float64                `json:"p99_ms"`
}

const progressEvery = 100 * time.Millisecond

// report calls on with the run's progress from a goroutine of its own. finish
// reports once more and ends it.
func report(t *tally, buyers int, on func(Progress)) (finish func()) {
	if on == nil {
		return func() {}
	}
	start := time.Now()
	last, lastAt := 0, start
	show := func() {
		p, now := t.progress(), time.Now()
		p.Buyers, p.Elapsed = buyers, now.Sub(start)
		if since := now.Sub(lastAt).Seconds(); since > 0 {
			p.Rate = float64(p.Requests-last) / since
		}
		last, lastAt = p.Requests, now
		on(p)
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
	return func() {
		close(stop)
		<-stopped
	}
}
