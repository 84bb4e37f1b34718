package labapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	heartbeat = 10 * time.Second
	// slowest is how long one write to a page may take before it is given up.
	slowest = 5 * time.Second
	// pace is the shortest time between two events, however fast a run goes.
	pace = 100 * time.Millisecond
)

// events is the one stream of a page: `hello` with what there is, `run` with
// a whole run whenever its state changes, `snapshot` with its progress,
// `comparison` with the summary of one that has come further, `lab` when the
// status should be asked for again. A new page is told the same as
// one that was there all along.
func (s *Server) events(c *gin.Context) {
	c.Header("Content-Type", "text/event-stream")
	c.Header("Cache-Control", "no-store")
	c.Header("X-Accel-Buffering", "no")
	out := &stream{w: c.Writer, control: http.NewResponseController(c.Writer)}
	runs, reader := s.book.open()
	compared := s.comparisons.open()
	out.send("retry: 1000\n\n")
	out.event("hello", gin.H{"lab": s.id, "runs": runs})

	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		n := s.book.next(&reader)
		if n.lab {
			out.event("lab", gin.H{})
		}
		for _, r := range n.runs {
			out.event("run", r)
		}
		if n.snapshot != nil {
			out.event("snapshot", n.snapshot)
		}
		for _, c := range s.comparisons.next(&compared) {
			out.event("comparison", c)
		}
		if out.err != nil {
			return
		}
		select {
		case <-n.changed:
		case <-beat.C:
			out.send(": still here\n\n")
		case <-c.Request.Context().Done():
			return
		case <-s.closing:
			return
		}
		select { // news that come meanwhile come together
		case <-time.After(pace):
		case <-c.Request.Context().Done():
			return
		case <-s.closing:
			return
		}
	}
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
	s.control.SetWriteDeadline(time.Now().Add(slowest))
	if _, s.err = fmt.Fprintf(s.w, format, args...); s.err == nil {
		s.err = s.control.Flush()
	}
}
