package labapi

import (
	"errors"
	"slices"
	"time"

	"seckill/internal/fault"
	"seckill/internal/history"
	"seckill/internal/measure"
	"seckill/loadtest"
)

// A Run is the same sale with one strategy or several at once, as it stands
// now. It is Done when some lane has a result.
type Run struct {
	Record
	Settings Settings `json:"settings"`
	Error    string   `json:"error,omitempty"`
	Series   *Series  `json:"series,omitempty"` // nil: it is the only run of its sale
	// Version of this program, and Machine on which it ran.
	Version string           `json:"version,omitempty"`
	Machine *measure.Machine `json:"machine,omitempty"`
	// Shop: its buyers join the shop's sale as it is, from ComesAt on, and no service
	// process is restarted for it.
	Shop    bool      `json:"shop,omitempty"`
	ComesAt time.Time `json:"comes_at,omitzero"`

	Lanes  []Lane            `json:"lanes"` // one for each strategy, in the order asked for
	Faults []fault.Happening `json:"faults"`

	injector *fault.Injector // nil: it was on in another process
	of       *series         // likewise
}

// maxRuns are kept.
const maxRuns = 50

type runEntry = entry[Run, *Run]

func (s *Server) openRuns() {
	s.runs = &store[Run, *Run]{kind: history.Run, most: maxRuns, folder: s.History, log: s.Log, bell: s.bell,
		light: func(r Run) Run { return r }}
	s.runs.load(Run.check)
}

// A Lane is the sale with one strategy, on a SKU of its own.
type Lane struct {
	Strategy string `json:"strategy"`
	SKU      int64  `json:"sku"`
	Command  string `json:"command,omitempty"` // that holds the same sale on the command line, without faults

	Progress *loadtest.Progress `json:"progress,omitempty"` // the latest
	Result   *loadtest.Result   `json:"result,omitempty"`
	Error    string             `json:"error,omitempty"` // why it has none
	// Known are schedules that break the strategy, though the run held.
	Known []loadtest.Known `json:"known,omitempty"`

	// From is the place of the first of Points in the lane's course, in news of
	// its progress; else 0.
	From int `json:"from"`
	// Points are what the charts draw; summaries leave them out.
	Points []Point `json:"points,omitempty"`
}

// A Point of a lane's course.
type Point struct {
	At   float64 `json:"at"`   // seconds since the start
	Rate float64 `json:"rate"` // answers a second
	P50  float64 `json:"p50_ms"`
	P99  float64 `json:"p99_ms"`
}

// laneSKUs are what the lab's runs sell; SKU 2 is the shop's.
var laneSKUs = []int64{sku, 3, 4, 5}

func lanesOf(w Settings) (lanes []Lane) {
	for i, strategy := range w.Strategies {
		lanes = append(lanes, Lane{Strategy: strategy, SKU: laneSKUs[i], Command: w.scenario(i).Command()})
	}
	return lanes
}

// maxPoints bounds what a long run keeps: a chart has about as many pixels.
const maxPoints = 1200

// shortest is the least time between two points, in seconds: the last report of
// a run may come right after the one before, and its rate means nothing.
const shortest = 0.03

// add takes the next progress. Past maxPoints every second point goes, which
// it reports, because indexes into Points have changed then.
func (l *Lane) add(p loadtest.Progress) (thinned bool) {
	l.Progress = &p
	at := p.Elapsed.Seconds()
	if n := len(l.Points); n > 0 && at-l.Points[n-1].At < shortest {
		return false
	}
	l.Points = append(l.Points, Point{at, p.Rate, p.P50, p.P99})
	if len(l.Points) <= maxPoints {
		return false
	}
	kept := make([]Point, 0, maxPoints)
	for i := 1; i < len(l.Points); i += 2 {
		kept = append(kept, l.Points[i])
	}
	l.Points = kept
	return true
}

// since copies r with the points of its lanes from these places on.
func (r Run) since(places []int) Run {
	lanes := make([]Lane, len(r.Lanes))
	for i, l := range r.Lanes {
		l.From = places[i]
		l.Points = append([]Point(nil), l.Points[places[i]:]...)
		lanes[i] = l
	}
	r.Lanes = lanes
	r.Faults = append([]fault.Happening{}, r.Faults...)
	return r
}

// measured: some lane has a result.
func (r Run) measured() bool {
	return slices.ContainsFunc(r.Lanes, func(l Lane) bool { return l.Result != nil })
}

// check refuses what was read and is no run that ended.
func (r Run) check() error {
	same := slices.EqualFunc(r.Lanes, r.Settings.Strategies, func(l Lane, name string) bool { return l.Strategy == name })
	switch {
	case !r.State.Ended() || len(r.Lanes) == 0:
		return errors.New("it has no run that ended")
	case !same:
		return errors.New("its lanes are not those of its settings")
	case r.measured() != (r.State == Done):
		return errors.New("its state is not that of its results")
	}
	return nil
}

// whole copies r.
func (r Run) whole() Run { return r.since(make([]int, len(r.Lanes))) }

// points are how many each lane has.
func (r Run) points() (n []int) {
	for _, l := range r.Lanes {
		n = append(n, len(l.Points))
	}
	return n
}

// summary copies r without its course and without the curves of its results,
// which are most of them.
func (r Run) summary() Run {
	r = r.since(r.points())
	for i := range r.Lanes {
		l := &r.Lanes[i]
		l.From, l.Points = 0, nil
		if l.Result != nil {
			result := *l.Result
			result.Course, result.LatencyCurve, result.ServiceCurve = nil, nil, nil
			l.Result = &result
		}
	}
	return r
}
