package labapi

import (
	"cmp"
	"log/slog"
	"net/http"
	"strings"

	"seckill/internal/web"
)

// A Front is the HTTP server of `seckill up` from its start on. The servers of the
// lab take seconds to start: until Open, the page's files are served, and a call
// waits.
type Front struct {
	*http.Server
	files  http.Handler
	opened chan struct{}
	lab    *Server // once opened is closed
}

// NewFront needs the Page, Guarantees, Addr and Log of c.
func NewFront(c Config) *Front {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	files := &Server{Config: c, router: web.NewRouter()}
	files.routeFiles()
	f := &Front{files: files.router, opened: make(chan struct{})}
	f.Server = web.NewServer(f, answerTime, c.Log, slog.LevelDebug)
	return f
}

// Open lets s answer. Shutdown then ends its event streams.
func (f *Front) Open(s *Server) {
	f.RegisterOnShutdown(s.close) // it need not wait for pages that are open
	f.lab = s
	close(f.opened)
}

func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, file := entrances[r.URL.Path]
	if !file && !strings.HasPrefix(r.URL.Path, staticPath) && !strings.HasPrefix(r.URL.Path, guaranteesPath) {
		select {
		case <-f.opened:
		case <-r.Context().Done():
			return
		}
	}
	select {
	case <-f.opened:
		f.lab.ServeHTTP(w, r)
	default:
		f.files.ServeHTTP(w, r)
	}
}
