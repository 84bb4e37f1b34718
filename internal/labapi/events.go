package labapi

import (
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	heartbeat = 10 * time.Second
	// slowest bounds one write to a page, and so how long one that reads nothing
	// holds up the end of the lab.
	slowest = 2 * time.Second
	// pace is the shortest time between two events.
	pace = 100 * time.Millisecond
)

// streamEvents is the one stream of a page: `hello` with all runs, `run` with a run that
// changed, as a whole, `comparison` with a summary, `lab` when the status should be
// asked for again. A page that opens late is told the same as one that was there all
// along.
func (s *Server) streamEvents(c *gin.Context) error {
	c.Header("Content-Type", "text/event-stream")
	c.Header("Cache-Control", "no-store")
	c.Header("X-Accel-Buffering", "no")
	out := &stream{Context: c, control: http.NewResponseController(c.Writer)}
	_ = out.control.SetReadDeadline(time.Time{}) // the server's would end it
	news := &news{server: s, changes: s.changes.Load(), runs: s.runs.clockBeforeLast(), comparisons: s.comparisons.clockBeforeLast()}
	_, _ = io.WriteString(c.Writer, "retry: 1000\n\n")
	out.writeEvent("hello", gin.H{"lab": s.id, "runs": s.runs.listEntries()})

	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		rung := s.bell.nextRing()
		news.sendNews(out)
		if out.err != nil {
			return nil
		}
		select {
		case <-rung:
		case <-beat.C:
			out.writeEvent("lab", gin.H{}) // a service may have died
		case <-c.Request.Context().Done():
			return nil
		case <-s.closing.Done():
			return nil
		}
		select { // news that come meanwhile come together
		case <-time.After(pace):
		case <-c.Request.Context().Done():
			return nil
		case <-s.closing.Done():
			return nil
		}
	}
}

// news remembers what one page has been told.
type news struct {
	server            *Server
	changes           int64
	runs, comparisons int // clocks of their stores
}

// sendNews tells the page what is new, from copies, so that a slow page holds up
// nothing.
func (n *news) sendNews(out *stream) {
	if changes := n.server.changes.Load(); changes > n.changes {
		n.changes = changes
		out.writeEvent("lab", gin.H{})
	}
	var runs []Run
	runs, n.runs = n.server.runs.changedSince(n.runs)
	for _, r := range runs {
		out.writeEvent("run", r)
	}
	var comparisons []Comparison
	comparisons, n.comparisons = n.server.comparisons.changedSince(n.comparisons)
	for _, c := range comparisons {
		out.writeEvent("comparison", c.summary())
	}
}

// A stream writes events until the first write fails.
type stream struct {
	*gin.Context
	control *http.ResponseController
	err     error
}

func (s *stream) writeEvent(name string, data any) {
	if s.err != nil {
		return
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(slowest))
	s.SSEvent(name, data)
	s.err = s.control.Flush()
}
