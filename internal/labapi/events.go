package labapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/web"
)

const (
	heartbeat = 10 * time.Second
	// slowest bounds one write to a page, and so how long one that reads nothing
	// holds up the end of the lab.
	slowest = 2 * time.Second
	// pace is the shortest time between two events.
	pace = 100 * time.Millisecond
)

// events is the one stream of a page: `hello` with all runs, `run` with a whole
// run whenever its state changes, `snapshot` with its progress, `comparison`
// with a summary, `lab` when the status should be asked for again. A page
// that opens late is told the same as one that was there all along.
func (s *Server) events(c *gin.Context) error {
	c.Header("Content-Type", "text/event-stream")
	c.Header("Cache-Control", "no-store")
	c.Header("X-Accel-Buffering", "no")
	out := &stream{w: c.Writer, control: http.NewResponseController(c.Writer)}
	defer s.streams.Add(-1)
	if s.streams.Add(1) > maxStreams {
		return &web.Problem{Code: "too_many_streams", Status: http.StatusServiceUnavailable, RetryAfter: 10,
			Detail: fmt.Sprintf("%d pages have this lab open already: close some of them.", maxStreams)}
	}
	news := s.openNews()
	out.send("retry: 1000\n\n")
	out.event("hello", gin.H{"lab": s.id, "runs": s.runs.list()})

	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		rung := s.bell.next()
		news.send(out)
		if out.err != nil {
			return nil
		}
		select {
		case <-rung:
		case <-beat.C:
			out.send(": still here\n\n")
		case <-c.Request.Context().Done():
			return nil
		case <-s.closing:
			return nil
		}
		select { // news that come meanwhile come together
		case <-time.After(pace):
		case <-c.Request.Context().Done():
			return nil
		case <-s.closing:
			return nil
		}
	}
}

// news remembers what one page has been told.
type news struct {
	server            *Server
	changes           int64
	runs, comparisons int              // clocks of their stores
	points            map[string][]int // of a run's lanes, by its id
}

func (s *Server) openNews() *news {
	return &news{server: s, changes: s.changes.Load(), runs: s.runs.open(true), comparisons: s.comparisons.open(false),
		points: map[string][]int{}}
}

// send tells the page what is new. It copies first, so that a slow page holds
// up nothing.
func (n *news) send(out *stream) {
	if changes := n.server.changes.Load(); changes > n.changes {
		n.changes = changes
		out.event("lab", gin.H{})
	}
	runs, progress := n.nextRuns()
	for _, r := range runs {
		out.event("run", r)
	}
	for _, r := range progress {
		out.event("snapshot", r)
	}
	var comparisons []Comparison
	n.server.comparisons.next(&n.comparisons, func(c *Comparison, _ bool) { comparisons = append(comparisons, c.summary()) })
	for _, c := range comparisons {
		out.event("comparison", c)
	}
}

// nextRuns copies whole runs whose state changed, and of others the points that
// the page does not have.
func (n *news) nextRuns() (whole, progress []Run) {
	n.server.runs.next(&n.runs, func(r *Run, changed bool) {
		points, known := n.points[r.ID]
		if changed || !known {
			whole = append(whole, r.whole())
		} else {
			progress = append(progress, r.since(points))
		}
		n.points[r.ID] = r.points()
	})
	return whole, progress
}

// A stream writes events until the first write fails.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	err     error
}

func (s *stream) event(name string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		s.err = err
		return
	}
	s.send("event: %s\ndata: %s\n\n", name, text)
}

func (s *stream) send(format string, args ...any) {
	if s.err != nil {
		return
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(slowest))
	if _, s.err = fmt.Fprintf(s.w, format, args...); s.err == nil {
		s.err = s.control.Flush()
	}
}

// maxStreams bounds the open pages: each costs a connection, a goroutine and
// copies of the news.
const maxStreams = 64
