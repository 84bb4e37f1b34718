package labapi

import (
	"context"
	"slices"
	"sync"

	"seckill/internal/fault"
	"seckill/loadtest"
)

// A Lane is the sale of one strategy in a run, on a SKU of its own.
type Lane struct {
	Strategy string `json:"strategy"`
	SKU      int64  `json:"sku"`
	Command  string `json:"command,omitempty"` // holds the same sale on the command line, without faults

	Progress *loadtest.Progress `json:"progress,omitempty"` // the latest
	Result   *loadtest.Result   `json:"result,omitempty"`
	Error    string             `json:"error,omitempty"` // why there is no result

	// Points are drawn by the charts. Summaries omit them.
	Points []Point `json:"points,omitempty"`
}

// A Point of a lane's charts.
type Point struct {
	At   float64 `json:"at"`   // seconds since the start
	Rate float64 `json:"rate"` // answers per second
	P50  float64 `json:"p50_ms"`
	P99  float64 `json:"p99_ms"`
}

const (
	// sku is sold by comparisons and by the first lane of a run. The other lanes sell the following SKUs.
	sku      = 1
	maxLanes = 4
	// minPointGap is the minimum time between two points, in seconds. The last report of a run may come right
	// after the one before; its rate would mean nothing.
	minPointGap = 0.03
	// maxPoints bounds the points of a lane, because every event of the run carries all of them.
	maxPoints = 400
)

func newLanes(w Settings) []Lane {
	var lanes []Lane
	for i, strategy := range w.Strategies {
		lanes = append(lanes, Lane{Strategy: strategy, SKU: sku + int64(i), Command: w.laneScenario(i).Command()})
	}
	return lanes
}

// addProgress sets the latest progress and adds a point. It drops every second point when there are too many.
func (l *Lane) addProgress(p loadtest.Progress) {
	l.Progress = &p
	at := p.Elapsed.Seconds()
	if n := len(l.Points); n > 0 && at-l.Points[n-1].At < minPointGap {
		return
	}
	if len(l.Points) == maxPoints {
		var fewer []Point
		for i := 0; i < maxPoints; i += 2 {
			fewer = append(fewer, l.Points[i])
		}
		l.Points = fewer
	}
	l.Points = append(l.Points, Point{at, p.Rate, p.P50, p.P99})
}

// editLane returns the i-th lane for a change. It replaces the slice, which older copies of the run share.
func (r *Run) editLane(i int) *Lane {
	r.Lanes = slices.Clone(r.Lanes)
	return &r.Lanes[i]
}

// A laneGroup lets the lanes of a run begin together and end together.
type laneGroup struct{ beginning, ending sync.WaitGroup }

func newLaneGroup(lanes int) *laneGroup {
	g := new(laneGroup)
	g.beginning.Add(lanes)
	g.ending.Add(lanes)
	return g
}

// A laneMember is one lane of a group. Each lane is counted once, however often it calls its methods.
type laneMember struct {
	group        *laneGroup
	begun, ended sync.Once
}

// awaitBegin waits until every lane of the group is ready to begin, or has left.
func (m *laneMember) awaitBegin() {
	m.begun.Do(m.group.beginning.Done)
	m.group.beginning.Wait()
}

// awaitEnd waits until the buyers of every lane have their answers.
func (m *laneMember) awaitEnd() {
	m.ended.Do(m.group.ending.Done)
	m.group.ending.Wait()
}

// leave lets the others begin and end without this lane, which may have failed.
func (m *laneMember) leave() {
	m.begun.Do(m.group.beginning.Done)
	m.ended.Do(m.group.ending.Done)
}

// sellLanes holds the sales of all lanes at the same time.
func (s *Server) sellLanes(ctx context.Context, e *runEntry, begun Run) {
	targets, group := s.liveServices(), newLaneGroup(len(begun.Lanes))
	var lanes sync.WaitGroup
	for i := range begun.Lanes {
		lanes.Go(func() {
			member := &laneMember{group: group}
			defer member.leave()
			scenario := begun.Settings.laneScenario(i)
			scenario.SKU = begun.Lanes[i].SKU
			result, err := s.Load(ctx, loadtest.Config{
				Scenario: scenario, Targets: targets, AdminToken: s.ServiceToken, Ledger: s.Ledger,
				Joins: begun.Shop,
				Hooks: loadtest.Hooks{
					Outage: begun.injector.Outage,
					Faulty: func() bool { return len(begun.injector.Faults()) > 0 },
					OnProgress: func(p loadtest.Progress) {
						s.runs.changeEntry(e, func(r *Run) { r.editLane(i).addProgress(p) })
					},
					Begin: func() {
						member.awaitBegin()
						begun.awaitStart(ctx)
						begun.injector.Begin()
					},
					End: member.awaitEnd,
				},
			})
			s.runs.changeEntry(e, func(r *Run) {
				lane := r.editLane(i)
				lane.Result = result
				if err != nil {
					lane.Error = err.Error()
				}
			})
		})
	}
	lanes.Wait()
}

// faultChanged records the progress of the i-th fault of a run.
func (s *Server) faultChanged(e *runEntry, i int, f fault.Happening) {
	s.runs.changeEntry(e, func(r *Run) {
		if r.Faults = slices.Clone(r.Faults); i == len(r.Faults) {
			r.Faults = append(r.Faults, f)
		}
		r.Faults[i] = f
	})
	if f.State != fault.IsPlanned {
		s.notifyLabChange()
	}
	if f.State == fault.HasFailed {
		s.Log.Warn("a fault failed", "run", s.runs.readEntry(e).ID, "kind", f.Kind, "service", f.Service, "error", f.Error)
	}
}
