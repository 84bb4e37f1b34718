// Package labapi is the server of `seckill up`: the page, the lab's own calls
// under /api/lab/v1, and a way through to the service processes under
// /api/v1, all at one address.
package labapi

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/history"
	"seckill/internal/trace"
	"seckill/internal/web"
	"seckill/loadtest"
	"seckill/loadtest/compare"
)

// A Config says what the server shows and drives.
type Config struct {
	Lab        Lab
	Strategies []catalog.Info
	// Missing says why a strategy cannot run here; nil if it can.
	Missing func(catalog.Info) []string
	// Load performs a run: loadtest.Run, but for tests.
	Load   func(context.Context, loadtest.Config) (*loadtest.Result, error)
	Ledger loadtest.Ledger // where verdicts come from
	// Compare holds the sale of the options with each of the chosen strategies,
	// beside baselines: compare.Run on the lab's servers, but for tests.
	Compare func(ctx context.Context, chosen []catalog.Info, o compare.Options) *compare.Result
	// History outlives the lab. Nil: nothing does.
	History *history.Folder
	// Trace records one purchase, or two that race: trace.Run, but for tests.
	Trace func(ctx context.Context, info catalog.Info, buyers int) (*trace.Trace, error)
	// Left reads a SKU's stock row while a run is on. Nil: pages are shown
	// what buyers were told last, which answers that overtake each other blur.
	Left func(ctx context.Context, sku int64) (int64, error)
	Page fs.FS // index.html and what it loads
	// Guarantees are the matrix of `seckill prove` and its counterexamples.
	Guarantees fs.FS
	// Strategy is how the shop sells until the operator says otherwise.
	Strategy string

	// Addr is the address that is listened on; requests must be addressed to
	// it or to this machine.
	Addr string
	// Token, if not empty, must come with every call that changes something.
	// Without one only this machine may make such calls.
	Token string
	// ServiceToken is what the service processes want with admin calls.
	ServiceToken string
	Version      string // of this program
	Log          *slog.Logger
}

// A Server is the http.Handler of a lab.
type Server struct {
	Config
	id          string // of this process, so that a page sees that it was restarted
	router      *gin.Engine
	book        *book
	shop        shop
	turn        turn // at driving the lab
	comparisons *shelf
	streams     streams
	// counterexamples of the guarantee matrix.
	counterexamples fault.Counterexamples

	beginning sync.Mutex     // held while something begins that goes on after its request,
	runs      sync.WaitGroup // for which Close waits
	closing   chan struct{}
	close     func() // closes closing, once
}

// New makes the server. Close must be called when its listener ends.
func New(c Config) *Server {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	gin.SetMode(gin.ReleaseMode) // no chatter on standard output
	closing := make(chan struct{})
	s := &Server{Config: c, id: rand.Text(), router: gin.New(), closing: closing,
		close: sync.OnceFunc(func() { close(closing) })}
	if s.History == nil {
		s.History = history.Open("")
	}
	s.book = openBook(s.History, s.Log)
	s.comparisons = openShelf(s.History, s.book.nudge)
	for _, skipped := range s.comparisons.skipped {
		s.Log.Warn("a file of the history is left out", "why", skipped)
	}
	var err error
	if s.counterexamples, err = s.readKnown(); err != nil {
		s.Log.Warn("runs that held cannot say what order breaks them", "error", err)
	}
	s.openShop()
	s.route()
	return s
}

func (s *Server) route() {
	r := s.router
	r.HandleMethodNotAllowed = true
	r.RedirectTrailingSlash = false
	r.Use(s.recover, headers, s.checkHost, checkOrigin, s.checkAdmin)

	r.GET("/healthz", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"status": "ok"}) })
	r.GET("/readyz", s.ready)
	lab := r.Group("/api/lab/v1")
	lab.GET("/status", s.status)
	lab.GET("/events", s.events)
	lab.GET("/course", s.course)
	lab.POST("/traces", s.makeTrace)
	lab.GET("/shop", s.showShop)
	lab.PUT("/shop", s.setShop)
	lab.GET("/runs", s.listRuns)
	lab.POST("/runs", s.startRun)
	lab.GET("/runs/:id", s.showRun)
	lab.DELETE("/runs/:id", s.stopRun)
	lab.POST("/runs/:id/faults", s.addFault)
	s.routeComparisons(lab)

	r.Any("/api/v1/*path", gin.WrapH(s.proxy()))
	page := newPage(s.Page)
	r.GET("/static/*path", page.serve)
	r.HEAD("/static/*path", page.serve)
	for path := range entrances {
		r.GET(path, page.serve)
		r.HEAD(path, page.serve)
	}
	guarantees := newPage(s.Guarantees)
	r.GET("/guarantees/*path", guarantees.serve)
	r.HEAD("/guarantees/*path", guarantees.serve)
	r.NoRoute(notFound)
	r.NoMethod(func(c *gin.Context) {
		refuse(c, problem{Code: "method_not_allowed", Status: http.StatusMethodNotAllowed,
			Detail: c.Request.Method + " does not work here; Allow says what does."})
	})
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.router.ServeHTTP(w, r) }

const (
	headerTime = 5 * time.Second
	bodyTime   = 10 * time.Second
	// answerTime is longer than any call takes, and than a service's answer
	// that is passed on. Event streams have a limit for each write instead.
	answerTime  = 90 * time.Second
	idleTime    = 2 * time.Minute
	headerBytes = 32 << 10
)

// HTTPServer serves s, and waits for no caller without a limit. Its Shutdown
// ends the event streams.
func (s *Server) HTTPServer() *http.Server {
	server := &http.Server{
		Handler:           web.BoundBody(bodyTime, s),
		ReadHeaderTimeout: headerTime,
		WriteTimeout:      answerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	server.RegisterOnShutdown(s.EndStreams)
	return server
}

// EndStreams ends every event stream, so that a graceful shutdown of the HTTP
// server need not wait for pages that are open, nor for one that reads nothing.
func (s *Server) EndStreams() {
	s.close()
	s.streams.end()
}

// Close ends the streams, stops a run or a comparison that is on, and waits
// until its audit is done or ctx ends.
func (s *Server) Close(ctx context.Context) error {
	s.beginning.Lock() // what is beginning is stopped, too; nothing begins afterwards
	s.close()
	s.beginning.Unlock()
	s.book.stop(nil)
	s.comparisons.stop(nil)
	done := make(chan struct{})
	go func() {
		s.runs.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.New("a run or a comparison did not end in time; its verdict is lost")
	}
}

// isClosing: nothing may begin any more.
func (s *Server) isClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// recover turns a panic into an answer without a stack trace, which goes to
// the log.
func (s *Server) recover(c *gin.Context) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler: // an answer that broke off must not look whole
			panic(p)
		default:
			s.Log.Error("panic", "panic", p, "path", c.Request.URL.Path)
			refuse(c, problem{Code: "internal", Status: http.StatusInternalServerError, Detail: "Something is wrong in the lab itself; its log has more."})
		}
	}()
	c.Next()
}
