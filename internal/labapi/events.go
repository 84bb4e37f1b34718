package labapi

import (
	"context"
	"io"
	"net/http"
	"sync"
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

// A notifier counts the changes that pages see, and wakes the event streams of all pages. The streams then read the
// changes. A slow page may miss intermediate states, but does not delay a run.
type notifier struct {
	mu          sync.Mutex
	revision    int           // number of changes so far
	labRevision int           // the revision after the last change of the lab's processes and settings
	changed     chan struct{} // closed at the next change
}

// nextRevision counts a change and wakes the event streams. The caller holds mu.
func (n *notifier) nextRevision() int {
	close(n.changed)
	n.changed = make(chan struct{})
	n.revision++
	return n.revision
}

// notifyLabChange tells the pages to ask for the status again.
func (n *notifier) notifyLabChange() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.labRevision = n.nextRevision()
}

// streamEvents sends events to a page. The event `hello` contains the summaries of all runs. The event `run` contains a
// whole run after a change, and `comparison` the summary of a comparison after a change. The event `lab` tells the page
// to ask for the lab's status. A page that is opened during a run gets the same state as other pages.
func (s *Server) streamEvents(c *gin.Context) error {
	c.Header("Content-Type", "text/event-stream")
	c.Header("Cache-Control", "no-store")
	c.Header("X-Accel-Buffering", "no")
	out := &stream{Context: c, control: http.NewResponseController(c.Writer)}
	_ = out.control.SetReadDeadline(time.Time{}) // the server's read deadline would end the stream, so remove it
	// The page gets the summaries of all runs, so it needs only the newest run as a whole.
	sent := s.runs.revisionBeforeNewest()
	_, _ = io.WriteString(c.Writer, "retry: 1000\n\n")
	out.writeEvent("hello", gin.H{"lab": s.id, "runs": s.runs.listEntries()})

	heartbeat := time.Tick(heartbeatInterval)
	ctx, end := context.WithCancel(c.Request.Context())
	defer end()
	defer context.AfterFunc(s.labLock.closing, end)()
	for out.err == nil && ctx.Err() == nil {
		var changed <-chan struct{}
		sent, changed = s.sendChanges(sent, out)
		select {
		case <-changed:
		case <-heartbeat:
			out.writeEvent("lab", gin.H{}) // a service process may have died, so the page must ask for the status
		case <-ctx.Done():
		}
		time.Sleep(minEventGap)
	}
	return nil
}

// sendChanges sends the changes after a revision to a page. It returns the revision that the page has then, and a
// channel that is closed at the next change. While it sends, it holds no lock.
func (s *Server) sendChanges(since int, out *stream) (sent int, changed <-chan struct{}) {
	s.notifier.mu.Lock()
	sent, changed, lab := s.notifier.revision, s.notifier.changed, s.notifier.labRevision
	s.notifier.mu.Unlock()
	if lab > since {
		out.writeEvent("lab", gin.H{})
	}
	for _, r := range s.runs.changedSince(since) {
		out.writeEvent("run", r)
	}
	for _, c := range s.comparisons.changedSince(since) {
		out.writeEvent("comparison", c.summary())
	}
	return sent, changed
}

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
