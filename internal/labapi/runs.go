package labapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// sku is what a run of one strategy sells, and a comparison.
const sku = 1

func (s *Server) listRuns(c *gin.Context) {
	c.JSON(http.StatusOK, gin.H{"runs": s.book.list()})
}

func (s *Server) showRun(c *gin.Context) {
	if e := s.find(c); e != nil {
		c.JSON(http.StatusOK, s.book.read(e))
	}
}

// stopRun lets no more buyers in. What happened so far is audited, so the run
// ends a moment later.
func (s *Server) stopRun(c *gin.Context) {
	if e := s.find(c); e != nil {
		s.book.stop(e)
		c.JSON(http.StatusAccepted, s.book.read(e).summary())
	}
}

func (s *Server) find(c *gin.Context) *entry {
	e := s.book.find(c.Param("id"))
	if e == nil {
		refuse(c, problem{Code: "unknown_run", Status: http.StatusNotFound,
			Detail: fmt.Sprintf("There is no such run; the last %d are kept.", maxRuns)})
	}
	return e
}

func (s *Server) startRun(c *gin.Context) {
	wanted, p := s.readSettings(c)
	if p != nil {
		refuse(c, *p)
		return
	}
	s.beginning.Lock()
	defer s.beginning.Unlock()
	if s.isClosing() {
		refuse(c, labCloses)
		return
	}
	release, other := s.turn.take("a run of " + strings.Join(wanted.Strategies, ", "))
	if release == nil {
		refuse(c, inProgress(other))
		return
	}
	// The run lives in this process, not in this request.
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
}

// addFault injects a fault into a run that is on, at once, or when its storm
// begins.
func (s *Server) addFault(c *gin.Context) {
	e := s.find(c)
	if e == nil {
		return
	}
	wanted := PlannedFault{Service: anyService}
	given := wanted.fields()
	delete(given, "at_ms") // now
	p := decode(c, given)
	if p == nil {
		p = &problem{Code: "invalid", Status: http.StatusBadRequest}
		s.checkFault("", &wanted, e.Settings, p)
	}
	if len(p.Errors) > 0 || p.Detail != "" {
		refuse(c, *p)
		return
	}
	fault, ok := Fault{}, false
	if m := s.book.mishapsOf(e); m != nil {
		fault, ok = m.add(wanted)
	}
	if !ok {
		refuse(c, problem{Code: "run_ended", Status: http.StatusConflict,
			Detail: "The run has ended, or is about to, or enough has gone wrong in it already."})
		return
	}
	c.JSON(http.StatusCreated, fault)
}
