package labapi

import (
	"context"
	"crypto/rand"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/explore"
	"seckill/internal/web"
	"seckill/loadtest"
)

// A LiveTrace is the record of one purchase, or of two purchases that raced.
type LiveTrace struct {
	Record
	*explore.Trace
}

var traceType = entryType[LiveTrace]{kind: "trace", record: (*LiveTrace).record,
	isComplete: func(t *LiveTrace) bool { return t.Trace != nil && t.Strategy != "" }}

// traceTimeout bounds the time of a trace. It is longer than any wait for a lock.
const traceTimeout = 20 * time.Second

// makeTrace makes one purchase, or two at the same time, and answers with every command that was sent. The purchases
// run in this process and on a SKU of their own. makeTrace takes the labLock, because a run at the same time would
// distort the times of the commands.
func (s *Server) makeTrace(c *gin.Context) error {
	var body struct {
		Strategy string `json:"strategy"`
		Buyers   int    `json:"buyers"`
	}
	if err := web.ReadJSON(c.Writer, c.Request, &body); err != nil {
		return err
	}
	buyers, p := body.Buyers, web.BadRequest("")
	info := s.findStrategy("strategy", body.Strategy, p)
	blameFields(p, loadtest.Range{Min: 1, Max: 2}.Check("buyers", float64(buyers)))
	if err := asError(p); err != nil {
		return err
	}
	if err := s.labLock.acquire("a trace of " + info.Name); err != nil {
		return err
	}
	defer s.labLock.release()
	ctx, cancel := context.WithTimeout(c.Request.Context(), traceTimeout)
	defer cancel()
	defer context.AfterFunc(s.labLock.closing, cancel)()
	made, err := s.Trace(ctx, info, buyers)
	if err != nil {
		s.Log.Warn("trace", "strategy", body.Strategy, "error", err)
		return &web.Problem{Code: "trace_failed", Status: http.StatusServiceUnavailable,
			Detail: "The trace could not be made: " + err.Error()}
	}
	t := LiveTrace{Record{ID: rand.Text(), State: Done, Started: time.Now()}, made}
	s.traces.addEntry(&entry[LiveTrace]{value: t})
	s.traces.saveEntry(t)
	c.JSON(http.StatusOK, t)
	return nil
}
