package labapi

import (
	"crypto/rand"
	"sync/atomic"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

// A Series is several runs of one sale, one after the other, each with a reset and
// buyers of its own, as `seckill load --repeats`. This is what a run says of it.
type Series struct {
	ID     string `json:"id"`
	Number int    `json:"number"` // of the run, from 1
	Of     int    `json:"of"`     // runs that were asked for
	// Shares are how often each verdict was given up to this run, by lane; nil
	// until it has ended.
	Shares [][]loadtest.VerdictShare `json:"shares,omitempty"`
	// Ended says why this run is the last; empty if it is not, or is still on.
	Ended SeriesEnd `json:"ended,omitempty"`
}

// A SeriesEnd is why a series has no further run.
type SeriesEnd string

const (
	SeriesDone    SeriesEnd = "done"
	SeriesStopped SeriesEnd = "stopped"
	SeriesTime    SeriesEnd = "time"   // seriesTime was over
	SeriesFailed  SeriesEnd = "failed" // a run had no result
)

// seriesTime is after how long a series begins no further run.
const seriesTime = 10 * time.Minute

// A series that is on.
type series struct {
	id       string
	wanted   Settings // the first run's
	began    time.Time
	number   int
	verdicts [][]ledger.Verdict // by lane
	stopped  atomic.Bool
	run      atomic.Pointer[string] // the latest
}

// latest is the id of its latest run.
func (s *series) latest() string { return *s.run.Load() }

func newSeries(wanted Settings) *series {
	return &series{id: rand.Text(), wanted: wanted, began: time.Now(), verdicts: make([][]ledger.Verdict, len(wanted.Strategies))}
}

// next is the settings of the next run, and what it says of the series: nothing
// if it is the only one.
func (s *series) next() (Settings, *Series) {
	w := s.wanted
	w.Seed = loadtest.RepeatSeed(s.wanted.Seed, s.number)
	s.number++
	if w.Repeats < 2 {
		return w, nil
	}
	return w, &Series{ID: s.id, Number: s.number, Of: w.Repeats}
}

// ended counts the verdicts of a run.
func (s *series) ended(r *Run) {
	if r.Series == nil {
		return
	}
	said := *r.Series // pages may be reading the other
	said.Ended = s.end(*r)
	for i, l := range r.Lanes {
		v := ledger.NotValid
		if l.Result != nil {
			v = l.Result.Verdict
		}
		s.verdicts[i] = append(s.verdicts[i], v)
		said.Shares = append(said.Shares, loadtest.Shares(s.verdicts[i]))
	}
	r.Series = &said
}

func (s *series) end(r Run) SeriesEnd {
	switch {
	case s.number >= s.wanted.Repeats:
		return SeriesDone
	case r.Stopped || s.stopped.Load():
		return SeriesStopped
	case !r.measured():
		return SeriesFailed
	case time.Since(s.began) > seriesTime:
		return SeriesTime
	}
	return ""
}
