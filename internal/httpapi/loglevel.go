package httpapi

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"seckill/internal/web"
)

// levels, as the log names them.
var levels = []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}

func nameOf(l slog.Level) string { return strings.ToLower(l.String()) }

func (s *Server) logLevel(c *gin.Context) error {
	if _, err := readQuery(c); err != nil {
		return err
	}
	if s.LogLevel == nil {
		return refused(errNotFound, "The log level of this process cannot be changed.")
	}
	c.JSON(http.StatusOK, gin.H{"level": nameOf(s.LogLevel.Level())})
	return nil
}

// setLogLevel counts until the process ends, or the next call.
func (s *Server) setLogLevel(c *gin.Context) error {
	if s.LogLevel == nil {
		return s.logLevel(c)
	}
	if _, err := readQuery(c); err != nil {
		return err
	}
	var to slog.Level
	err := web.ReadJSON(c.Writer, c.Request, web.Field{Name: "level", Required: true, Into: func(text string) error {
		for _, l := range levels {
			if text == nameOf(l) {
				to = l
				return nil
			}
		}
		return invalid("level", "must be debug, info, warn or error")
	}})
	if err != nil {
		return err
	}
	was := s.LogLevel.Level()
	s.LogLevel.Set(to)
	s.log(c, max(to, slog.LevelInfo), "the log level is changed", "from", nameOf(was), "to", nameOf(to))
	return s.logLevel(c)
}
