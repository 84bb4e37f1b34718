package labapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/web"
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
func (s *Server) events(c *gin.Context) error {
	c.Header("Content-Type", "text/event-stream")
	c.Header("Cache-Control", "no-store")
	c.Header("X-Accel-Buffering", "no")
	out := &stream{w: c.Writer, control: http.NewResponseController(c.Writer)}
	if !s.streams.add(out) {
		return &web.Problem{Code: "too_many_streams", Status: http.StatusServiceUnavailable, RetryAfter: 10,
			Detail: fmt.Sprintf("%d pages have this lab open already: close some of them.", maxStreams)}
	}
	defer s.streams.remove(out)
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
			return nil
		}
		select {
		case <-n.changed:
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

// A stream writes events until the first write fails.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	err     error

	mu    sync.Mutex // guards ended, and the deadline with it
	ended bool
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
	if s.err = s.mayWrite(); s.err != nil {
		return
	}
	if _, s.err = fmt.Fprintf(s.w, format, args...); s.err == nil {
		s.err = s.control.Flush()
	}
}

// mayWrite gives the next write its time, unless the stream is being ended.
func (s *stream) mayWrite() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return http.ErrServerClosed
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(slowest))
	return nil
}

// end has a write that is under way fail.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	_ = s.control.SetWriteDeadline(time.Now())
}

// maxStreams is how many pages may be open at a time. Each costs a connection,
// a goroutine and a copy of what is new.
const maxStreams = 64

// streams are those that are open.
type streams struct {
	mu   sync.Mutex
	open map[*stream]bool
}

// add fails when there are too many.
func (s *streams) add(one *stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= maxStreams {
		return false
	}
	if s.open == nil {
		s.open = map[*stream]bool{}
	}
	s.open[one] = true
	return true
}

// remove must come before the handler returns: afterwards the connection is
// another request's.
func (s *streams) remove(one *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, one)
}

func (s *streams) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.open {
		one.end()
	}
}
