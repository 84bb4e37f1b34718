// Package labapi is the server of `seckill up`: the page, the lab's own calls
// under /api/lab/v1, and a way through to the service processes under
// /api/v1, all at one address.
package labapi

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/fault"
	"seckill/internal/game"
	"seckill/internal/lab"
	"seckill/internal/web"
	"seckill/loadtest"
	"seckill/loadtest/compare"
	"seckill/web/course"
)

// A Config says what the server shows, and drives.
type Config struct {
	Page fs.FS // index.html and what it loads
	// Guarantees are the matrix of `seckill prove` and its counterexamples.
	Guarantees fs.FS
	Strategies []catalog.Info
	// Strategy is how the shop sells until the operator says otherwise.
	Strategy string
	// History outlives the lab; "": nothing does.
	History History

	// Addr is the address that is listened on; requests must be addressed to
	// it or to this machine.
	Addr string
	// Token, if not empty, must come with every call that changes something and is
	// not a buyer's.
	// Without one only this machine may make such calls.
	Token   string
	Version string // of this program
	Log     *slog.Logger

	Behind
}

// Behind is what the server drives. The servers of a lab take seconds to start: Open
// gives it to a server that was made without.
type Behind struct {
	Lab Lab
	// Missing says why a strategy cannot run here; nil if it can.
	Missing func(catalog.Info) []string
	// Load performs a run: loadtest.Run, but for tests.
	Load   func(context.Context, loadtest.Config) (*loadtest.Result, error)
	Ledger loadtest.Ledger // where verdicts come from
	// Compare holds the sale of the options with each of the chosen strategies,
	// beside baselines: compare.Run on the lab's servers, but for tests.
	Compare func(ctx context.Context, chosen []catalog.Info, o compare.Options) *compare.Result
	// Trace records one purchase, or two that race: explore.RecordTrace, but for tests.
	Trace func(ctx context.Context, info catalog.Info, buyers int) (*explore.Trace, error)
	// Games keeps the games of those who are the scheduler; Close ends them.
	Games *game.Games
	// ServiceToken goes with admin calls to the service processes.
	ServiceToken string
}

// A Server is the http.Handler of a lab. It serves the page's files from the start;
// a call waits for the lab.
type Server struct {
	Config
	opened      chan struct{} // closed once Behind is set
	id          string        // of this process, so that a page sees that it was restarted
	router      *gin.Engine
	bell        *bell        // rung at all that is new to the pages
	changes     atomic.Int64 // of what the lab runs on
	runs        *store[Run, *Run]
	comparisons *store[Comparison, *Comparison]
	traces      *store[LiveTrace, *LiveTrace]
	shop        shop
	notice      time.Duration // of rivals
	turn        turn          // at driving the lab
	turns       atomic.Uint64 // of the service processes, to be asked

	beginning sync.Mutex     // held while something begins that outlives its request,
	ongoing   sync.WaitGroup // for which Close waits
	closing   context.Context
	close     func() // ends closing
}

// New makes the server. Close must be called when its listener ends.
func New(c Config) *Server {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	closing, end := context.WithCancel(context.Background())
	s := &Server{Config: c, opened: make(chan struct{}), id: rand.Text(), router: web.NewRouter(), closing: closing, close: end, notice: usualNotice}
	s.bell = newBell()
	s.runs = openStore[Run](s, kindRun)
	s.comparisons = openStore[Comparison](s, kindComparison)
	s.traces = openStore[LiveTrace](s, kindTrace)
	if len(s.Strategies) > 0 {
		i := slices.IndexFunc(s.Strategies, func(i catalog.Info) bool { return i.Name == s.Strategy })
		s.shop.strategy = s.Strategies[max(0, i)]
	}
	s.addRoutes()
	if c.Lab != nil {
		close(s.opened)
	}
	return s
}

// Open lets calls go on to what is behind the page.
func (s *Server) Open(b Behind) {
	s.Behind = b
	close(s.opened)
}

// waitForLab lets a call wait for what is behind the page.
func (s *Server) waitForLab(c *gin.Context) {
	select {
	case <-s.opened:
	case <-c.Request.Context().Done():
		c.Abort()
	}
}

// HTTP is a server for s, whose Shutdown ends event streams.
func (s *Server) HTTP() *http.Server {
	h := web.NewServer(s, answerTime, s.Log, slog.LevelDebug)
	h.RegisterOnShutdown(s.close) // it need not wait for pages that are open
	return h
}

func (s *Server) addRoutes() {
	r := s.router
	r.Use(web.Recover(s.Log, s.writeProblem), setHeaders, s.handlerOf(s.checkHost), s.handlerOf(checkOrigin))
	r.GET("/", s.serveFile(s.Page, "index.html"))
	r.GET("/shop", s.serveFile(s.Page, "shop/index.html"))
	r.GET("/shop/", s.serveFile(s.Page, "shop/index.html"))
	r.GET("/static/*path", s.serveFile(s.Page, ""))
	r.GET("/guarantees/*path", s.serveFile(s.Guarantees, ""))
	r.Use(s.waitForLab, s.handlerOf(s.checkAdmin))
	r.NoRoute(s.handlerOf(notFound))
	r.NoMethod(s.handlerOf(func(c *gin.Context) error {
		return &web.Problem{Code: "method_not_allowed", Status: http.StatusMethodNotAllowed,
			Detail: c.Request.Method + " does not work here; the header Allow says what does."}
	}))
	r.GET("/healthz", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"status": "ok"}) })
	lab := r.Group("/api/lab/v1")
	lab.GET("/status", s.getStatus)
	lab.GET("/events", s.handlerOf(s.streamEvents))
	lab.GET("/course", s.serveCourse)
	lab.POST("/traces", s.handlerOf(s.makeTrace))
	lab.GET("/traces/:id", s.handlerOf(s.traces.answerEntry))
	lab.GET("/shop", s.showShop)
	lab.PUT("/shop", s.handlerOf(s.setShop))
	lab.POST("/shop/rivals", s.handlerOf(s.startRivals))
	lab.GET("/shop/ledger", s.handlerOf(s.shopLedger))
	lab.GET("/runs", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"runs": s.runs.listEntries()}) })
	lab.POST("/runs", s.handlerOf(s.startRun))
	lab.GET("/runs/:id", s.handlerOf(s.runs.answerEntry))
	lab.DELETE("/runs/:id", s.handlerOf(s.runs.stopOne))
	lab.POST("/runs/:id/faults", s.handlerOf(s.addFault))
	lab.GET("/comparisons", s.listComparisons)
	lab.POST("/comparisons", s.handlerOf(s.startComparison))
	lab.GET("/comparisons/:id", s.handlerOf(s.comparisons.answerEntry))
	lab.DELETE("/comparisons/:id", s.handlerOf(s.comparisons.stopOne))
	s.routeGames(lab)

	r.GET("/readyz", s.handlerOf(s.forwardCall))
	r.GET("/openapi.json", s.handlerOf(s.forwardCall))
	r.Any("/api/v1/*path", s.handlerOf(s.forwardCall))
}

func (s *Server) handlerOf(h func(*gin.Context) error) gin.HandlerFunc {
	return web.Handle(s.writeProblem, h)
}

func (s *Server) writeProblem(c *gin.Context, err error) {
	var p *web.Problem
	if !errors.As(err, &p) {
		s.Log.Error("internal error", "path", c.Request.URL.Path, "error", err)
		p = &web.Problem{Code: "internal", Status: http.StatusInternalServerError,
			Detail: "Something is wrong in the lab itself; its log has more."}
	}
	p.Write(c.Writer)
	c.Abort()
}

func notFound(c *gin.Context) error {
	return &web.Problem{Code: "not_found", Status: http.StatusNotFound, Detail: "There is nothing at " + c.Request.URL.Path + "."}
}

// noService has the code by which the service itself says that provably
// nothing was taken.
var noService = &web.Problem{Code: "backend_unavailable", Status: http.StatusServiceUnavailable,
	Detail: "No service process answers, so nothing was sent. The lab's status says where their logs are."}

// answerTime is longer than any call takes, and than a service's answer that is
// passed on.
const answerTime = 90 * time.Second

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/api/lab/v1/events" { // a stream does not end, and HEAD would read nothing of it
		r = web.HeadAsGet(r)
	}
	s.router.ServeHTTP(w, r)
}

// Close ends the streams, stops a run or a comparison that is on, and waits
// until its audit is done or ctx ends.
func (s *Server) Close(ctx context.Context) error {
	s.beginning.Lock() // what is beginning is stopped, too; nothing begins afterwards
	s.close()
	s.beginning.Unlock()
	s.runs.stopEntry(nil)
	s.comparisons.stopEntry(nil)
	var games error // that did not end: a run's audit is waited for all the same
	if s.Games != nil {
		games = s.Games.Close(ctx)
	}
	done := make(chan struct{})
	go func() {
		s.ongoing.Wait()
		close(done)
	}()
	select {
	case <-done:
		return games
	case <-ctx.Done():
		return errors.Join(games, errors.New("a run or a comparison did not end in time; its verdict is lost"))
	}
}

// A Lab is what runs behind the page; fault.Lab is one.
type Lab interface {
	Backends() []backend.Status
	Services() []lab.Service
	Topology() string
	// Serve restarts the service processes with these settings;
	// ServiceSettings are those they run with.
	ServiceSettings() lab.ServiceSettings
	Serve(context.Context, lab.ServiceSettings) error
	// Inject injects one of Faults.
	Faults() []fault.Status
	Inject(context.Context, fault.Name, fault.Aim) (*fault.Injection, error)
}

func (s *Server) getStatus(c *gin.Context) {
	c.JSON(http.StatusOK, gin.H{
		"lab": s.id, "version": s.Version, "limits": limits, "token_needed": s.Token != "",
		"backends": s.Lab.Backends(), "services": s.Lab.Services(),
		"services_settings": s.Lab.ServiceSettings(), "faults": s.Lab.Faults(), "topology": s.Lab.Topology(),
	})
}

// liveServices are the addresses of the service processes that have not ended.
func (s *Server) liveServices() []string {
	var urls []string
	for _, service := range s.Lab.Services() {
		if service.Up {
			urls = append(urls, service.URL)
		}
	}
	return urls
}

// labChanged tells the pages to ask for the status again.
func (s *Server) labChanged() {
	s.changes.Add(1)
	s.bell.ringBell()
}

// A turn at driving the lab belongs to one run, comparison or trace at a time:
// two at once would share processors and disturb each other's figures.
type turn struct {
	mu   sync.Mutex
	what string // as people say it; empty: nothing is on
}

// takeTurn gives the turn to what, named as in "a run of naive", until release is
// called; a second call does nothing. The error says what has the turn.
func (t *turn) takeTurn(what string) (release func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.what != "" {
		return nil, &web.Problem{Code: "run_in_progress", Status: http.StatusConflict,
			Detail: fmt.Sprintf("The lab is busy with %s. Stop that, or wait for its end.", t.what)}
	}
	t.what = what
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.what = ""
	}), nil
}

// serveFile serves a file of a folder, the one that the path names if name is "". It is sent
// again only when it changed.
func (s *Server) serveFile(dir fs.FS, name string) gin.HandlerFunc {
	return s.handlerOf(func(c *gin.Context) error {
		name := cmp.Or(name, strings.TrimPrefix(c.Param("path"), "/"))
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return notFound(c)
		}
		sum := sha256.Sum256(text)
		c.Header("Cache-Control", "no-cache") // ask whether it changed
		c.Header("ETag", `"`+base64.RawURLEncoding.EncodeToString(sum[:12])+`"`)
		http.ServeContent(c.Writer, c.Request, name, time.Time{}, bytes.NewReader(text))
		return nil
	})
}

// serveCourse answers with all chapters in all languages, so that turning a page or
// switching the language asks nothing more.
func (s *Server) serveCourse(c *gin.Context) {
	chapters, err := course.Chapters()
	if err != nil { // embedded, and checked by the tests of the course
		panic(err)
	}
	c.JSON(http.StatusOK, gin.H{"chapters": chapters})
}
