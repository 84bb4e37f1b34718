package labapi

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	heartbeatInterval = 10 * time.Second
	// writeTimeout bounds one write to a page, because the end of the lab waits for it.
	writeTimeout = 2 * time.Second
	// minEventGap is the minimum time between two groups of events to a page.
	minEventGap = 100 * time.Millisecond
)

// streamEvents sends events to a page. The event `hello` lists all runs. `run` is a whole run that
// changed. `comparison` is the summary of a comparison that changed. After `lab` the page asks for
// the lab's status. A page that opens late gets the same state as one that was open.
func (s *Server) streamEvents(c *gin.Context) error {
	c.Header("Content-Type", "text/event-stream")
	c.Header("Cache-Control", "no-store")
	c.Header("X-Accel-Buffering", "no")
	out := &stream{Context: c, control: http.NewResponseController(c.Writer)}
	_ = out.control.SetReadDeadline(time.Time{}) // without this, the server's read deadline would end the stream
	sent := &sentState{lab: s.notifier.labChanges.Load(), runs: s.runs.revisionBeforeNewest(),
		comparisons: s.comparisons.revisionBeforeNewest()}
	_, _ = io.WriteString(c.Writer, "retry: 1000\n\n")
	out.writeEvent("hello", gin.H{"lab": s.id, "runs": s.runs.listEntries()})

	heartbeat := time.NewTicker(heartbeatInterval)
	defer heartbeat.Stop()
	ctx, end := context.WithCancel(c.Request.Context())
	defer end()
	defer context.AfterFunc(s.background.closing, end)()
	for out.err == nil && ctx.Err() == nil {
		changed := s.notifier.nextChange()
		s.sendChanges(sent, out)
		select {
		case <-changed:
		case <-heartbeat.C:
			out.writeEvent("lab", gin.H{}) // the page asks for the status, as a service process may have died
		case <-ctx.Done():
		}
		select {
		case <-time.After(minEventGap):
		case <-ctx.Done():
		}
	}
	return nil
}

// sentState holds the revisions up to which one page has received the changes.
type sentState struct {
	lab               int64
	runs, comparisons int
}

// sendChanges sends what has changed since its last call. While it sends, it holds no lock.
func (s *Server) sendChanges(sent *sentState, out *stream) {
	if n := s.notifier.labChanges.Load(); n > sent.lab {
		sent.lab = n
		out.writeEvent("lab", gin.H{})
	}
	var runs []Run
	runs, sent.runs = s.runs.changedSince(sent.runs)
	for _, r := range runs {
		out.writeEvent("run", r)
	}
	var comparisons []Comparison
	comparisons, sent.comparisons = s.comparisons.changedSince(sent.comparisons)
	for _, c := range comparisons {
		out.writeEvent("comparison", c.summary())
	}
}

// A stream writes events until a write fails.
type stream struct {
	*gin.Context
	control *http.ResponseController
	err     error
}

func (s *stream) writeEvent(name string, data any) {
	if s.err != nil {
		return
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	s.SSEvent(name, data)
	s.err = s.control.Flush()
}
