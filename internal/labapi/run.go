package labapi

import (
	"time"

	"seckill/loadtest"
)

// Settings are what a run is started with.
type Settings struct {
	Strategy    string `json:"strategy"`
	Stock       int64  `json:"stock"`
	Buyers      int    `json:"buyers"`
	Concurrency int    `json:"concurrency"`
	Quantity    int64  `json:"quantity"`
}

// A State of a run. A run that was stopped is audited like any other, so that
// it ends as Done too.
type State string

const (
	Running  State = "running"
	Stopping State = "stopping" // somebody asked it to; buyers under way are waited for
	Done     State = "done"     // it has a result
	Failed   State = "failed"   // it has none, and Error says why
)

// Ended reports whether nothing more will happen.
func (s State) Ended() bool { return s == Done || s == Failed }

// A Run is one load run as it stands now.
type Run struct {
	ID       string    `json:"id"`
	Settings Settings  `json:"settings"`
	State    State     `json:"state"`
	Stopped  bool      `json:"stopped"` // it ended early because somebody asked it to
	Started  time.Time `json:"started"`

	Progress *loadtest.Progress `json:"progress,omitempty"` // the latest
	Result   *loadtest.Result   `json:"result,omitempty"`
	Error    string             `json:"error,omitempty"`

	// Points are what the charts draw; summaries leave them out.
	Points []Point `json:"points,omitempty"`
}

// A Point of a run's course.
type Point struct {
	At   float64 `json:"at"`   // seconds since the start
	Rate float64 `json:"rate"` // answers a second
	P50  float64 `json:"p50_ms"`
	P99  float64 `json:"p99_ms"`
}

// maxPoints bounds what a long run keeps and sends to a page that opens late;
// a chart has about as many pixels.
const maxPoints = 1200

// shortest is how many seconds two points are apart at least: the last report
// of a run may come right after the one before it, and its rate means nothing.
const shortest = 0.03

// add takes the next progress. Past maxPoints every second point goes, which
// it reports, because indexes into Points have changed then.
func (r *Run) add(p loadtest.Progress) (thinned bool) {
	r.Progress = &p
	at := p.Elapsed.Seconds()
	if n := len(r.Points); n > 0 && at-r.Points[n-1].At < shortest {
		return false
	}
	r.Points = append(r.Points, Point{at, p.Rate, p.P50, p.P99})
	if len(r.Points) <= maxPoints {
		return false
	}
	kept := make([]Point, 0, maxPoints)
	for i := 1; i < len(r.Points); i += 2 {
		kept = append(kept, r.Points[i])
	}
	r.Points = kept
	return true
}

// summary is r without its course.
func (r Run) summary() Run {
	r.Points = nil
	return r
}
