package labapi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/tables"
	"seckill/internal/web"
	"seckill/loadtest"
)

// A Run is a sale with one strategy, or the same sale with several strategies at the same time. Each strategy's sale is
// a lane of the Run. When all lanes have ended, the Run is Done if at least one lane has a result; otherwise Failed.
type Run struct {
	Record
	Settings Settings       `json:"settings"`
	Error    string         `json:"error,omitempty"`
	Version  string         `json:"version,omitempty"` // version of this program
	Machine  tables.Machine `json:"machine,omitzero"`
	// Shop is true if the buyers join the shop's sale. They buy from ComesAt on. Such a run restarts no service.
	Shop    bool      `json:"shop,omitempty"`
	ComesAt time.Time `json:"comes_at,omitzero"`

	Lanes  []Lane            `json:"lanes"` // one lane for each strategy, in the order of Settings.Strategies
	Faults []fault.Happening `json:"faults"`

	injector *fault.Injector // injects the faults; nil for a run from the history
}

var runType = entryType[Run]{kind: "run", record: (*Run).record, summary: Run.summary, isComplete: (*Run).isComplete}

// summary returns a copy of r without the chart points of its lanes, which take most of a run's memory.
func (r Run) summary() Run {
	r.Lanes = slices.Clone(r.Lanes)
	for i := range r.Lanes {
		r.Lanes[i].Points = nil
	}
	return r
}

func (r *Run) isComplete() bool {
	var sold []string
	for _, l := range r.Lanes {
		sold = append(sold, l.Strategy)
		if len(l.Points) > maxPoints {
			return false
		}
	}
	return len(sold) > 0 && len(sold) <= maxLanes && slices.Equal(sold, r.Settings.Strategies) &&
		r.Settings.CheckRanges(limits) == nil
}

func (s *Server) startRun(c *gin.Context) error {
	wanted, err := s.readSettings(c)
	if err != nil {
		return err
	}
	_, err = s.beginRun(c, s.newRun(wanted), "a run of "+strings.Join(wanted.Strategies, ", "))
	return err
}

func (s *Server) newRun(w Settings) Run {
	r := Run{Record: Record{ID: rand.Text(), State: Running, Started: time.Now()}, Settings: w,
		Faults: []fault.Happening{}, Version: s.Version, Machine: tables.ThisMachine()}
	for i, strategy := range w.Strategies {
		r.Lanes = append(r.Lanes, Lane{Strategy: strategy, SKU: sku + int64(i), Command: w.laneScenario(i).Command()})
	}
	return r
}

// beginRun begins a run and answers the call. While the run lasts, the lab refuses other work with an error that
// contains the parameter description, such as "a run of naive".
func (s *Server) beginRun(c *gin.Context, begun Run, description string) (*entry[Run], error) {
	if err := s.labLock.acquire(description); err != nil {
		return nil, err
	}
	if !begun.Shop && !s.isServing(begun.Settings.ServiceSettings) {
		begun.State = Preparing
	}
	ctx, stop := context.WithCancel(s.labLock.closing)
	e := &entry[Run]{value: begun, stop: stop}
	e.value.injector = fault.NewInjector(ctx, s.Lab.Inject,
		tables.Map(begun.Lanes, func(l Lane) fault.Sale { return fault.Sale{Strategy: l.Strategy, SKU: l.SKU} }),
		func(i int, f fault.Happening) { s.faultChanged(e, i, f) })
	s.runs.perform(c, e, func() Run { return s.performRun(ctx, e) })
	return e, nil
}

// addFault plans a fault for a run under way. If the planned time is past, the fault happens at once.
func (s *Server) addFault(c *gin.Context) error {
	e, err := s.runs.findEntry(c)
	if err != nil {
		return err
	}
	var wanted fault.Planned
	if err := web.ReadJSON(c.Writer, c.Request, &wanted); err != nil {
		return err
	}
	run, p := s.runs.readEntry(e), web.BadRequest("")
	s.checkFault(&wanted, run.Settings, p)
	if err := asError(p); err != nil {
		return err
	}
	planned, err := fault.Happening{}, fault.ErrEnded
	if run.injector != nil {
		planned, err = run.injector.Add(wanted)
	}
	if err != nil {
		return &web.Problem{Code: "run_ended", Status: http.StatusConflict,
			Detail: "The run has ended, or is about to."}
	}
	c.JSON(http.StatusCreated, planned)
	return nil
}

const (
	buyerTimeout = 15 * time.Second
	// restartTimeout bounds how long all service processes may take to finish their purchases and restart.
	restartTimeout = time.Minute
)

func (s *Server) performRun(ctx context.Context, e *entry[Run]) Run {
	begun := s.runs.readEntry(e)
	var err error
	if !begun.Shop {
		err = s.prepareServices(ctx, e, begun.Settings)
	}
	if err == nil {
		s.sellLanes(ctx, e, begun)
	}
	begun.injector.End()
	final := s.runs.readEntry(e)
	final.State = Done
	if !slices.ContainsFunc(final.Lanes, func(l Lane) bool { return l.Result != nil }) {
		final.State, final.Error = Failed, final.Lanes[0].Error
		if err != nil {
			final.Error = err.Error()
		}
	}
	return final
}

func (s *Server) isServing(w lab.ServiceSettings) bool {
	return s.Lab.ServiceSettings() == w &&
		!slices.ContainsFunc(s.Lab.Services(), func(service lab.Service) bool { return !service.Up })
}

// ensureServing restarts the service processes with the settings w, unless they already run with w. It finishes the
// restart even if ctx ends, because the lab must also work after a run was stopped.
func (s *Server) ensureServing(ctx context.Context, w lab.ServiceSettings) error {
	if s.isServing(w) {
		return nil
	}
	restarting, cancel := context.WithTimeout(context.WithoutCancel(ctx), restartTimeout)
	defer cancel()
	defer s.notifier.notifyLabChange()
	return s.Lab.Serve(restarting, w)
}

func (s *Server) prepareServices(ctx context.Context, e *entry[Run], w Settings) error {
	if err := s.ensureServing(ctx, w.ServiceSettings); err != nil {
		return fmt.Errorf("the service processes could not be started: %w", err)
	}
	if ctx.Err() != nil {
		return errors.New("it was stopped before the sale began")
	}
	s.runs.changeEntry(e, func(r *Run) {
		if r.State == Preparing {
			r.State = Running
		}
	})
	return nil
}

// A Lane is the sale with one strategy in a run. Each lane sells a SKU of its own, unless the run joins the shop's
// sale.
type Lane struct {
	Strategy string `json:"strategy"`
	SKU      int64  `json:"sku"`
	Command  string `json:"command,omitempty"` // the command line that runs the same sale, without the faults

	Progress *loadtest.Progress `json:"progress,omitempty"` // the latest progress
	Result   *loadtest.Result   `json:"result,omitempty"`
	Error    string             `json:"error,omitempty"` // why the lane has no result

	// Points are the figures that the charts show. Summaries omit them.
	Points []Point `json:"points,omitempty"`
}

// A Point has the figures of a lane (the sale with one of the run's strategies) at one time.
type Point struct {
	At   float64 `json:"at"`   // seconds since the start of the sale
	Rate float64 `json:"rate"` // answers per second
	P50  float64 `json:"p50_ms"`
	P99  float64 `json:"p99_ms"`
}

const (
	// sku is the SKU that comparisons and the first strategy of a run sell. The other strategies sell the next SKUs.
	sku      = 1
	maxLanes = 4
	// minPointGap is the minimum time between two points, in seconds. The last progress of a run may be reported
	// right after the one before it. A rate that is measured over such a short time means nothing.
	minPointGap = 0.03
	// maxPoints bounds the points of each strategy (lane), because every event of the run carries all of them.
	maxPoints = 400
)

// addProgress sets the latest progress and adds a point. If the lane has maxPoints points, addProgress first drops
// every second point.
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

// editLane returns the i-th lane, which the caller may change. The lanes of earlier copies of the run do not change.
func (r *Run) editLane(i int) *Lane {
	r.Lanes = slices.Clone(r.Lanes)
	return &r.Lanes[i]
}

// sellLanes runs the sales of all strategies (lanes) at the same time. Every lane begins when all lanes are ready.
// Every lane is judged when the buyers of all lanes have their answers. No lane waits for a lane that has failed.
func (s *Server) sellLanes(ctx context.Context, e *entry[Run], begun Run) {
	targets := s.liveServices()
	var beginning, ending, lanes sync.WaitGroup
	beginning.Add(len(begun.Lanes))
	ending.Add(len(begun.Lanes))
	for i := range begun.Lanes {
		lanes.Go(func() {
			ready, ended := sync.OnceFunc(beginning.Done), sync.OnceFunc(ending.Done)
			defer ended()
			defer ready()
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
						ready()
						beginning.Wait()
						select {
						case <-time.After(time.Until(begun.ComesAt)): // if Shop is false, ComesAt is zero: no wait
						case <-ctx.Done():
						}
						begun.injector.Begin()
					},
					End: func() {
						ended()
						ending.Wait()
					},
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

func (s *Server) faultChanged(e *entry[Run], i int, f fault.Happening) {
	s.runs.changeEntry(e, func(r *Run) {
		if r.Faults = slices.Clone(r.Faults); i == len(r.Faults) {
			r.Faults = append(r.Faults, f)
		}
		r.Faults[i] = f
	})
	if f.State != fault.IsPlanned {
		s.notifier.notifyLabChange()
	}
	if f.State == fault.HasFailed {
		s.Log.Warn("a fault failed", "run", s.runs.readEntry(e).ID, "kind", f.Kind, "service", f.Service,
			"error", f.Error)
	}
}
