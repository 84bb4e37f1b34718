package labapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/fault"
	"seckill/internal/measure"
	"seckill/internal/web"
)

// sku is what comparisons and the first lane of a run sell.
const sku = 1

func (s *Server) listRuns(c *gin.Context) {
	c.JSON(http.StatusOK, gin.H{"runs": s.runs.list()})
}

func (s *Server) showRun(c *gin.Context) error {
	e, err := s.findRun(c)
	if err == nil {
		c.JSON(http.StatusOK, s.runs.read(e))
	}
	return err
}

// stopRun lets no more buyers in. What happened so far is audited, so the run
// ends a moment later.
func (s *Server) stopRun(c *gin.Context) error {
	e, err := s.findRun(c)
	if err != nil {
		return err
	}
	s.beginning.Lock() // the next run of a series has begun, or will not
	defer s.beginning.Unlock()
	if run := s.runs.read(e); run.of != nil {
		run.of.stopped.Store(true)
		e = cmp.Or(s.runs.find(run.of.latest()), e)
	}
	s.runs.stop(e)
	c.JSON(http.StatusAccepted, s.runs.read(e).summary())
	return nil
}

func (s *Server) findRun(c *gin.Context) (*runEntry, error) { return s.runNamed(c.Param("id")) }

func (s *Server) runNamed(id string) (*runEntry, error) {
	e := s.runs.find(id)
	if e == nil {
		return nil, &web.Problem{Code: "unknown_run", Status: http.StatusNotFound,
			Detail: fmt.Sprintf("There is no such run; the last %d are kept.", maxRuns)}
	}
	return e, nil
}

func (s *Server) startRun(c *gin.Context) error {
	wanted, err := s.readSettings(c)
	if err != nil {
		return err
	}
	_, err = s.begin(c, wanted, "a run of "+strings.Join(wanted.Strategies, ", "), nil)
	return err
}

// begin starts a run, unless something else drives the lab; what says what it is.
// joins, if not nil, makes it one that joins the shop's sale.
func (s *Server) begin(c *gin.Context, wanted Settings, what string, joins func(*Run)) (*runEntry, error) {
	s.beginning.Lock()
	defer s.beginning.Unlock()
	if s.isClosing() {
		return nil, labCloses
	}
	release, err := s.turn.take(what)
	if err != nil {
		return nil, err
	}
	e := s.beginRun(newSeries(wanted), release, joins)
	begun := s.runs.read(e)
	c.Header("Location", "/api/lab/v1/runs/"+begun.ID)
	c.JSON(http.StatusCreated, begun.summary())
	return e, nil
}

// beginRun begins the next run of a series, which outlives its request. It is
// called with s.beginning locked.
func (s *Server) beginRun(of *series, release func(), joins func(*Run)) *runEntry {
	wanted, said := of.next()
	machine := measure.ThisMachine()
	ctx, stop := context.WithCancel(context.Background())
	begun := Run{Record: Record{ID: rand.Text(), State: Running, Started: time.Now()}, Settings: wanted, Lanes: lanesOf(wanted), Series: said, of: of,
		Version: s.Version, Machine: &machine}
	if joins != nil {
		joins(&begun)
	} else if !s.serves(wanted.ServiceSettings) {
		begun.State = Preparing
	}
	var e *runEntry
	begun.injector = fault.NewInjector(ctx, s.Lab, sales(begun.Lanes), func(i int, f fault.Happening) { s.faultChanged(e, i, f) })
	e = s.runs.begin(begun, stop)
	of.run.Store(&begun.ID)
	for _, f := range wanted.Faults {
		begun.injector.Add(f)
	}
	begun = s.runs.read(e) // with its faults
	s.ongoing.Go(func() {
		defer stop()
		s.perform(ctx, e, begun, release)
	})
	return e
}

func sales(lanes []Lane) (of []fault.Sale) {
	for _, l := range lanes {
		of = append(of, fault.Sale{Strategy: l.Strategy, SKU: l.SKU})
	}
	return of
}

// goOn begins the next run of a series.
func (s *Server) goOn(of *series, release func()) {
	s.beginning.Lock()
	defer s.beginning.Unlock()
	if s.isClosing() || of.stopped.Load() {
		release()
		return
	}
	s.beginRun(of, release, nil)
}

// addFault injects a fault into a run that is on: at once, or when its buyers
// come.
func (s *Server) addFault(c *gin.Context) error {
	e, err := s.findRun(c)
	if err != nil {
		return err
	}
	var body wantedFault
	if err := web.ReadJSON(c.Writer, c.Request, &body); err != nil {
		return err
	}
	wanted := body.at(0)
	run, p := s.runs.read(e), web.BadRequest("")
	s.checkFault("", &wanted, run.Settings, p)
	if err := anyWrong(p); err != nil {
		return err
	}
	planned, ok := fault.Happening{}, false
	if run.injector != nil {
		planned, ok = run.injector.Add(wanted)
	}
	if !ok {
		return &web.Problem{Code: "run_ended", Status: http.StatusConflict,
			Detail: "The run has ended, or is about to, or enough has gone wrong in it already."}
	}
	c.JSON(http.StatusCreated, planned)
	return nil
}
