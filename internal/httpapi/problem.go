package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/internal/judge"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

// retryAfter is the value of the header Retry-After, in seconds, for the codes busy and in_progress. A
// purchase rarely takes longer, and a full queue is rarely empty sooner.
const retryAfter = 1

// newProblem returns err as a problem whose detail is sent to the caller. The text of err itself may hold secrets, so
// the service logs it and does not send it.
func newProblem(err error, detail string) *web.Problem {
	r := judge.CodeOf(err)
	p := &web.Problem{Status: r.Status, Code: r.Code, Detail: detail, Err: err}
	if r.Outcome == judge.OutcomeBusy || r.Outcome == judge.OutcomeInProgress {
		p.RetryAfter = retryAfter
	}
	return p
}

// hungUp reports whether the caller has closed the connection, or at least the half of it on which the caller sends.
func hungUp(c *gin.Context) bool { return errors.Is(c.Request.Context().Err(), context.Canceled) }

// invalid returns the refusal of a call with an error in one field of its body, its query or its headers.
func invalid(field, detail string) error { return web.Invalid(field, "", nil, detail) }

func codeOf(err error) string {
	var p *web.Problem
	if errors.As(err, &p) {
		return p.Code
	}
	return judge.CodeOf(err).Code
}

func (s *Server) writeProblem(c *gin.Context, err error) {
	var p *web.Problem
	switch {
	case errors.As(err, &p):
	case hungUp(c) && seckill.NothingTaken(err) &&
		(errors.Is(err, seckill.ErrUnavailable) || errors.Is(err, seckill.ErrBusy)):
		// A caller who closed only the sending half of the connection can still read the answer.
		p = web.BadRequest("The connection was closed on your side before the answer was ready. Nothing was taken: " +
			"keep it open until you have the answer.")
	default:
		p = newProblem(err, judge.CodeOf(err).Detail)
		// If the caller has hung up, the error may be a consequence of this, so it is not logged.
		if p.Status >= http.StatusInternalServerError && !hungUp(c) {
			level := slog.LevelWarn
			if p.Status == http.StatusInternalServerError {
				level = slog.LevelError
			}
			s.log(c, level, p.Code, "error", p.Err)
		}
	}
	p.Write(c.Writer)
	c.Abort()
}

func notFound(c *gin.Context) error {
	return newProblem(judge.ErrNotFound, "There is nothing at "+c.Request.URL.Path+". /openapi.json lists what there is.")
}

func methodNotAllowed(c *gin.Context) error {
	return newProblem(judge.ErrMethod, c.Request.Method+" does not work here; the header Allow says what does.")
}
