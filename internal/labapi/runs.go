package labapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/web"
)

// sku is what a run of one strategy sells, and a comparison.
const sku = 1

func (s *Server) listRuns(c *gin.Context) {
	c.JSON(http.StatusOK, gin.H{"runs": s.book.list()})
}

func (s *Server) showRun(c *gin.Context) error {
	e, err := s.findRun(c)
	if err == nil {
		c.JSON(http.StatusOK, s.book.read(e))
	}
	return err
}

// stopRun lets no more buyers in. What happened so far is audited, so the run
// ends a moment later.
func (s *Server) stopRun(c *gin.Context) error {
	e, err := s.findRun(c)
	if err == nil {
		s.book.stop(e)
		c.JSON(http.StatusAccepted, s.book.read(e).summary())
	}
	return err
}

func (s *Server) findRun(c *gin.Context) (*entry, error) {
	e := s.book.find(c.Param("id"))
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
	s.beginning.Lock()
	defer s.beginning.Unlock()
	if s.isClosing() {
		return labCloses
	}
	release, err := s.turn.take("a run of " + strings.Join(wanted.Strategies, ", "))
	if err != nil {
		return err
	}
	// The run outlives this request.
	ctx, stop := context.WithCancel(context.Background())
	begun := Run{ID: rand.Text(), Settings: wanted, State: Running, Started: time.Now(), Lanes: lanesOf(wanted)}
	if !s.serves(wanted.ServiceSettings) {
		begun.State = Preparing
	}
	e := s.book.begin(begun, stop)
	m := newMishaps(ctx, s.Lab, wanted, func(i int, f Fault) { s.mishap(e, i, f) })
	s.book.let(e, m)
	for _, f := range wanted.Faults {
		m.add(f)
	}
	s.runs.Go(func() {
		defer stop()
		s.perform(ctx, e, m, release)
	})
	c.Header("Location", "/api/lab/v1/runs/"+e.ID)
	c.JSON(http.StatusCreated, s.book.read(e).summary())
	return nil
}

// addFault injects a fault into a run that is on: at once, or when its buyers
// come.
func (s *Server) addFault(c *gin.Context) error {
	e, err := s.findRun(c)
	if err != nil {
		return err
	}
	wanted := PlannedFault{Service: anyService}
	if err := web.ReadJSON(c.Writer, c.Request, wanted.fields()...); err != nil {
		return err
	}
	p := web.BadRequest("")
	s.checkFault("", &wanted, e.Settings, p)
	if err := anyWrong(p); err != nil {
		return err
	}
	fault, ok := Fault{}, false
	if m := s.book.mishapsOf(e); m != nil {
		fault, ok = m.add(wanted)
	}
	if !ok {
		return &web.Problem{Code: "run_ended", Status: http.StatusConflict,
			Detail: "The run has ended, or is about to, or enough has gone wrong in it already."}
	}
	c.JSON(http.StatusCreated, fault)
	return nil
}
