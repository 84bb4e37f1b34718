package httpapi

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/internal/judge"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

// askAgain is when a buyer who was told busy or in progress may ask again, in seconds.
// It is a guess: a queue that was full for as long as a buyer may wait is rarely empty
// at once, and a purchase rarely takes longer.
const askAgain = 1

// refused is err with words for the caller. All other errors may hold secrets:
// they are logged, and not shown.
func refused(err error, detail string) *web.Problem {
	r := judge.CodeOf(err)
	p := &web.Problem{Status: r.Status, Code: r.Code, Detail: detail, Err: err}
	if r.Outcome == judge.OutcomeBusy || r.Outcome == judge.OutcomeInProgress {
		p.RetryAfter = askAgain
	}
	return p
}

// invalid blames a field of the body, the query or the header.
func invalid(field, detail string) error { return web.Invalid(field, "", nil, detail) }

// codeOf is the problem's code that err comes to.
func codeOf(err error) string {
	var p *web.Problem
	if errors.As(err, &p) {
		return p.Code
	}
	return judge.CodeOf(err).Code
}

func (s *Server) refuse(c *gin.Context, err error) {
	var p *web.Problem
	switch {
	case errors.As(err, &p):
	case hungUp(c) && seckill.NothingTaken(err) &&
		(errors.Is(err, seckill.ErrUnavailable) || errors.Is(err, seckill.ErrBusy)): // a caller who closed only their half reads the answer
		p = web.BadRequest("The connection was closed on your side before the answer was ready. Nothing was taken: " +
			"keep it open until you have the answer.")
	default:
		p = refused(err, judge.CodeOf(err).Detail)
		s.logFailure(c, p)
	}
	p.Write(c.Writer)
	c.Abort()
}

// logFailure does not log that the caller hung up.
func (s *Server) logFailure(c *gin.Context, p *web.Problem) {
	switch {
	case hungUp(c):
	case p.Status == http.StatusInternalServerError:
		s.log(c, slog.LevelError, p.Code, "error", p.Err)
	case p.Status > http.StatusInternalServerError:
		s.log(c, slog.LevelWarn, p.Code, "error", p.Err)
	}
}

func notFound(c *gin.Context) error {
	return refused(judge.ErrNotFound, "There is nothing at "+c.Request.URL.Path+". /openapi.json lists what there is.")
}

func methodNotAllowed(c *gin.Context) error {
	return refused(judge.ErrMethod, c.Request.Method+" does not work here; the header Allow says what does.")
}
