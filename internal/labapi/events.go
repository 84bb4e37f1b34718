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
	// writeTimeout bounds one write to a page, because the lab waits for this write before it ends.
	writeTimeout = 2 * time.Second
	// minEventGap is the minimum time between two groups of events to a page.
	minEventGap = 100 * time.Millisecond
)

// streamEvents sends events to a page. The event `hello` contains the summaries of all runs. The event `run` contains a
// whole run after a change, and `comparison` the summary of a comparison after a change. The event `lab` tells the page
// to ask for the lab's status. A page that is opened during a run gets the same state as other pages.
func (s *Server) streamEvents(c *gin.Context) error {
	c.Header("Content-Type", "text/event-stream")
	c.Header("Cache-Control", "no-store")
	c.Header("X-Accel-Buffering", "no")
	out := &stream{Context: c, control: http.NewResponseController(c.Writer)}
	_ = out.control.SetReadDeadline(time.Time{}) // the server's read deadline would end the stream, so remove it
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
			out.writeEvent("lab", gin.H{}) // a service process may have died, so the page must ask for the status
		case <-ctx.Done():
		}
		select {
		case <-time.After(minEventGap):
		case <-ctx.Done():
		}
	}
	return nil
}

// sentState holds the revisions of the lab's state that one page has received. The page needs only later changes.
type sentState struct {
	lab               int64
	runs, comparisons int
}

// sendChanges sends all changes since its last call to a page. While it sends, it holds no lock.
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
