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
	"seckill/internal/measure"
	"seckill/internal/web"
	"seckill/loadtest"
)

// A Run is the same sale with one strategy or several at once, as it stands
// now. It is Done when some lane has a result.
type Run struct {
	Record
	Settings Settings `json:"settings"`
	Error    string   `json:"error,omitempty"`
	// Version of this program, and Machine on which it ran.
	Version string          `json:"version,omitempty"`
	Machine measure.Machine `json:"machine,omitzero"`
	// Shop: its buyers join the shop's sale as it is, from ComesAt on, and no service
	// process is restarted for it.
	Shop    bool      `json:"shop,omitempty"`
	ComesAt time.Time `json:"comes_at,omitzero"`

	Lanes  []Lane            `json:"lanes"` // one for each strategy, in the order asked for
	Faults []fault.Happening `json:"faults"`

	injector *fault.Injector // nil: it was on in another process
}

type runEntry = entry[Run, *Run]

// A Lane is the sale with one strategy, on a SKU of its own.
type Lane struct {
	Strategy string `json:"strategy"`
	SKU      int64  `json:"sku"`
	Command  string `json:"command,omitempty"` // that holds the same sale on the command line, without faults

	Progress *loadtest.Progress `json:"progress,omitempty"` // the latest
	Result   *loadtest.Result   `json:"result,omitempty"`
	Error    string             `json:"error,omitempty"` // why it has none

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

// sku is what comparisons and the first lane of a run sell; the other lanes sell the
// next ones.
const (
	sku       = 1
	mostLanes = 4
)

func lanesOf(w Settings) (lanes []Lane) {
	for i, strategy := range w.Strategies {
		lanes = append(lanes, Lane{Strategy: strategy, SKU: sku + int64(i), Command: w.laneScenario(i).Command()})
	}
	return lanes
}

const (
	// shortest is the least time between two points, in seconds: the last report of
	// a run may come right after the one before, and its rate means nothing.
	shortest = 0.03
	// mostPoints of a lane, all of which every event of the run carries.
	mostPoints = 400
)

// addProgress takes the next progress.
func (l *Lane) addProgress(p loadtest.Progress) {
	l.Progress = &p
	at := p.Elapsed.Seconds()
	if n := len(l.Points); n > 0 && at-l.Points[n-1].At < shortest {
		return
	}
	if len(l.Points) == mostPoints {
		var fewer []Point
		for i := 0; i < mostPoints; i += 2 {
			fewer = append(fewer, l.Points[i])
		}
		l.Points = fewer
	}
	l.Points = append(l.Points, Point{at, p.Rate, p.P50, p.P99})
}

// editLane is one to be changed: older copies of r keep theirs.
func (r *Run) editLane(i int) *Lane {
	r.Lanes = slices.Clone(r.Lanes)
	return &r.Lanes[i]
}

// summary copies r without its course, which is most of it.
func (r Run) summary() Run {
	r.Lanes = slices.Clone(r.Lanes)
	for i := range r.Lanes {
		r.Lanes[i].Points = nil
	}
	return r
}

func (r *Run) isWhole() bool {
	var sold []string
	for _, l := range r.Lanes {
		sold = append(sold, l.Strategy)
		if len(l.Points) > mostPoints {
			return false
		}
	}
	return len(sold) > 0 && len(sold) <= mostLanes && slices.Equal(sold, r.Settings.Strategies) &&
		r.Settings.Beyond(limits) == nil
}

func (s *Server) startRun(c *gin.Context) error {
	wanted, err := s.readSettings(c)
	if err != nil {
		return err
	}
	_, err = s.beginRun(c, wanted, "a run of "+strings.Join(wanted.Strategies, ", "), nil)
	return err
}

// beginRun starts a run, unless something else drives the lab; what says what it is.
// joins, if not nil, makes it one that joins the shop's sale.
func (s *Server) beginRun(c *gin.Context, wanted Settings, what string, joins func(*Run)) (*runEntry, error) {
	release, err := s.turn.takeTurn(what)
	if err != nil {
		return nil, err
	}
	begun := Run{Record: Record{ID: rand.Text(), State: Running, Started: time.Now()}, Settings: wanted, Lanes: lanesOf(wanted),
		Faults: []fault.Happening{}, Version: s.Version, Machine: measure.ThisMachine()}
	if joins != nil {
		joins(&begun)
	} else if !s.servesAlready(wanted.ServiceSettings) {
		begun.State = Preparing
	}
	var sales []fault.Sale
	for _, l := range begun.Lanes {
		sales = append(sales, fault.Sale{Strategy: l.Strategy, SKU: l.SKU})
	}
	return begin(s, c, s.runs, release, func(ctx context.Context, e *runEntry) {
		begun.injector = fault.NewInjector(ctx, s.Lab.Inject, sales, func(i int, f fault.Happening) { s.faultChanged(e, i, f) })
		e.value = begun
	}, s.performRun)
}

// addFault injects a fault into a run that is on: at a time of its sale, or at once if
// that is over.
func (s *Server) addFault(c *gin.Context) error {
	e, err := s.runs.entryAt(c)
	if err != nil {
		return err
	}
	var wanted fault.Planned
	if err := web.ReadJSON(c.Writer, c.Request, &wanted); err != nil {
		return err
	}
	run, p := s.runs.readEntry(e), web.BadRequest("")
	s.checkFault(&wanted, run.Settings, p)
	if err := anyWrong(p); err != nil {
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
	// buyerTimeout is how long a buyer of the lab waits for an answer.
	buyerTimeout = 15 * time.Second
	// restarting bounds how long the service processes may take to end with
	// their purchases and to start again.
	restarting = time.Minute
)

// performRun runs all lanes concurrently, and reverts the faults.
func (s *Server) performRun(ctx context.Context, e *runEntry) Run {
	begun := s.runs.readEntry(e)
	var err error
	if !begun.Shop {
		err = s.prepareServices(ctx, e, begun.Settings)
	}
	if err == nil {
		s.sellLanes(ctx, e, begun)
	}
	begun.injector.End()
	ended := s.runs.readEntry(e)
	ended.State = Done
	if !slices.ContainsFunc(ended.Lanes, func(l Lane) bool { return l.Result != nil }) {
		ended.State, ended.Error = Failed, ended.Lanes[0].Error
		if err != nil {
			ended.Error = err.Error()
		}
	}
	s.Log.Info("run ended", "run", ended.ID, "strategies", ended.Settings.Strategies, "state", ended.State, "error", ended.Error)
	return ended
}

// servesAlready reports whether the service processes run, and as they should.
func (s *Server) servesAlready(w lab.ServiceSettings) bool {
	return s.Lab.ServiceSettings() == w &&
		!slices.ContainsFunc(s.Lab.Services(), func(service lab.Service) bool { return !service.Up })
}

// haveServing starts the service processes with these settings, if they do not
// run so already. It ignores that ctx ends: a stopped run leaves a lab that
// works.
func (s *Server) haveServing(ctx context.Context, w lab.ServiceSettings) error {
	if s.servesAlready(w) {
		return nil
	}
	starting, cancel := context.WithTimeout(context.WithoutCancel(ctx), restarting)
	defer cancel()
	defer s.labChanged()
	return s.Lab.Serve(starting, w)
}

// prepareServices makes the service processes what the run wants.
func (s *Server) prepareServices(ctx context.Context, e *runEntry, w Settings) error {
	if err := s.haveServing(ctx, w.ServiceSettings); err != nil {
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

// sellLanes runs all lanes; their buyers come, and their results are taken, together.
func (s *Server) sellLanes(ctx context.Context, e *runEntry, begun Run) {
	targets, lanes := s.liveServices(), len(begun.Lanes)
	var come, gone, all sync.WaitGroup // a lane that fails has come and gone
	come.Add(lanes)
	gone.Add(lanes)
	for i := range lanes {
		all.Go(func() {
			comes, goes := sync.OnceFunc(come.Done), sync.OnceFunc(gone.Done)
			defer goes()
			defer comes() // the others do not wait for a lane that failed before
			scenario := begun.Settings.laneScenario(i)
			scenario.SKU = begun.Lanes[i].SKU
			result, err := s.Load(ctx, loadtest.Config{
				Scenario: scenario, Targets: targets, AdminToken: s.ServiceToken, Ledger: s.Ledger,
				Joins: begun.Shop, Outage: begun.injector.Outage,
				Faulty: func() bool { return len(begun.injector.Faults()) > 0 },
				OnProgress: func(p loadtest.Progress) {
					s.runs.changeEntry(e, func(r *Run) { r.editLane(i).addProgress(p) })
				},
				Begin: func() {
					comes()
					come.Wait()
					begun.awaitAudience(ctx)
					begun.injector.Begin()
				},
				End: func() {
					goes()
					gone.Wait()
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
	all.Wait()
}

// awaitAudience waits until the buyers of a run that joins the shop's sale come, or it is stopped.
func (r Run) awaitAudience(ctx context.Context) {
	timer := time.NewTimer(time.Until(r.ComesAt))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// faultChanged writes down how far a fault of a run has come.
func (s *Server) faultChanged(e *runEntry, i int, f fault.Happening) {
	var id string
	s.runs.changeEntry(e, func(r *Run) {
		id = r.ID
		if r.Faults = slices.Clone(r.Faults); i == len(r.Faults) {
			r.Faults = append(r.Faults, f)
		}
		r.Faults[i] = f
	})
	if f.State != fault.IsPlanned {
		s.labChanged()
	}
	if f.State == fault.HasFailed {
		s.Log.Warn("a fault failed", "run", id, "kind", f.Kind, "service", f.Service, "error", f.Error)
	}
}
