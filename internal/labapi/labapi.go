// Package labapi is the HTTP server of `seckill up`. At one address it serves the page, the calls of the lab
// under /api/lab/v1, and a proxy to the service processes under /api/v1.
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
	"strings"
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

// A Config configures a Server.
type Config struct {
	Page       fs.FS // index.html and the files that it loads
	Guarantees fs.FS // the files that `seckill prove` has written: the matrix and its counterexamples
	Strategies []catalog.Info
	Strategy   string  // the name of the shop's first strategy; the operator can choose another later
	History    History // the folder for results; if it is "", the results are lost when the lab ends

	// Addr is the listener's address. The Host of a request must be this address or this machine.
	Addr string
	// If Token is not empty, each call that changes something must contain it, except calls of buyers. If Token is
	// empty, only this machine may make such calls.
	Token   string
	Version string // version of this program
	Log     *slog.Logger

	Backing
}

// Backing is the part of a Config that needs a running lab. The servers of a lab take seconds to start. So a Server can
// start without a Backing and get it later from Server.Open.
type Backing struct {
	Lab Lab
	// Missing returns the reasons why a strategy cannot run here, or nil if it can run.
	Missing func(catalog.Info) []string
	Ledger  loadtest.Ledger // the stock and the orders by which sales are judged
	// Load runs and judges one sale. It is loadtest.Run; tests replace it.
	Load func(context.Context, loadtest.Config) (*loadtest.Result, error)
	// Compare is compare.Run on the lab's servers; tests replace it.
	Compare func(ctx context.Context, chosen []catalog.Info, o compare.Options) *compare.Result
	// Trace is explore.RecordTrace; tests replace it. It records one purchase, or two concurrent purchases.
	Trace func(ctx context.Context, info catalog.Info, buyers int) (*explore.Trace, error)
	// Games holds the games in which people schedule commands. Server.Close ends them.
	Games *game.Games
	// ServiceToken is sent with admin calls to the service processes.
	ServiceToken string
}

// A Server is the http.Handler of a lab. It serves files at once. Other calls wait until Open is called.
type Server struct {
	Config
	opened      chan struct{} // closed by Open
	id          string        // id of this process; a new id tells a page that the lab was restarted
	router      *gin.Engine
	notifier    *notifier
	runs        *store[Run]
	comparisons *store[Comparison]
	traces      *store[LiveTrace]
	shop        shop
	labLock     labLock
	nextService atomic.Uint64 // counts the calls to services, to spread them over the service processes
}

// New returns a server. The caller must call Close after the HTTP listener was closed.
func New(c Config) *Server {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{Config: c, opened: make(chan struct{}), id: rand.Text(), router: web.NewRouter(),
		notifier: &notifier{changed: make(chan struct{})}, shop: shop{notice: defaultNotice},
		labLock: labLock{taken: make(chan struct{}, 1)}}
	s.labLock.closing, s.labLock.close = context.WithCancel(context.Background())
	s.labLock.what.Store(new("other work"))
	// Open the runs last. A new page gets every change from the newest run on, which should include no comparison.
	s.comparisons, s.traces, s.runs = openStore(s, comparisonType), openStore(s, traceType), openStore(s, runType)
	s.shop.strategy, _ = catalog.Find(s.Strategies, s.Strategy)
	s.addRoutes()
	if c.Lab != nil {
		close(s.opened)
	}
	return s
}

// Open adds a lab to a server that was made without a lab. Calls that waited for the lab then continue.
func (s *Server) Open(b Backing) {
	s.Backing = b
	close(s.opened)
}

func (s *Server) waitForLab(c *gin.Context) {
	select {
	case <-s.opened:
	case <-c.Request.Context().Done():
		c.Abort()
	}
}

// HTTP returns an HTTP server for s. Its Shutdown ends the event streams of open pages.
func (s *Server) HTTP() *http.Server {
	h := web.NewServer(s, answerTime, s.Log, slog.LevelDebug)
	h.RegisterOnShutdown(s.labLock.close)
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
	// The answer has all chapters in all languages, so that the page needs no call for the next chapter.
	lab.GET("/course", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"chapters": course.Chapters()}) })
	lab.POST("/traces", s.handlerOf(s.makeTrace))
	lab.GET("/traces/:id", s.handlerOf(s.traces.answerEntry))
	lab.GET("/shop", s.showShop)
	lab.PUT("/shop", s.handlerOf(s.setShop))
	lab.POST("/shop/rivals", s.handlerOf(s.startRivals))
	lab.GET("/shop/ledger", s.handlerOf(s.shopLedger))
	lab.GET("/runs", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"runs": s.runs.listEntries()}) })
	lab.POST("/runs", s.handlerOf(s.startRun))
	lab.GET("/runs/:id", s.handlerOf(s.runs.answerEntry))
	lab.DELETE("/runs/:id", s.handlerOf(s.runs.answerStop))
	lab.POST("/runs/:id/faults", s.handlerOf(s.addFault))
	lab.GET("/comparisons", s.listComparisons)
	lab.POST("/comparisons", s.handlerOf(s.startComparison))
	lab.GET("/comparisons/:id", s.handlerOf(s.comparisons.answerEntry))
	lab.DELETE("/comparisons/:id", s.handlerOf(s.comparisons.answerStop))
	s.routeGames(lab)

	r.GET("/readyz", s.handlerOf(s.forwardCall))
	r.GET("/openapi.json", s.handlerOf(s.forwardCall))
	r.Any("/api/v1/*path", s.handlerOf(s.forwardCall))
}

func (s *Server) handlerOf(h func(*gin.Context) error) gin.HandlerFunc {
	return web.Handle(s.writeProblem, h)
}

func answerJSON(c *gin.Context, status int, value any, err error) error {
	if err == nil {
		c.JSON(status, value)
	}
	return err
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
	// The caller is a browser, so a person has opened this address. Show the page, which lists all screens.
	if strings.Contains(c.GetHeader("Accept"), "text/html") {
		c.Redirect(http.StatusFound, "/#"+c.Request.URL.EscapedPath())
		return nil
	}
	return &web.Problem{Code: "not_found", Status: http.StatusNotFound,
		Detail: "There is nothing at " + c.Request.URL.Path + "."}
}

// noService is the answer to calls while no service process answers. Its code means that the call has certainly taken
// no unit. Service processes use the code with the same meaning.
var noService = &web.Problem{Code: "backend_unavailable", Status: http.StatusServiceUnavailable,
	Detail: "No service process answers, so nothing was sent. The lab's status says where their logs are."}

// answerTime bounds the time of a call. It is longer than any call to the lab or to a service takes.
const answerTime = 90 * time.Second

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/api/lab/v1/events" { // answer HEAD like GET, except for the event stream, which never ends
		r = web.HeadAsGet(r)
	}
	s.router.ServeHTTP(w, r)
}

// Close ends the event streams. If a run, a comparison or a trace is under way, Close stops it and waits, at most until
// ctx ends, for its verdict.
func (s *Server) Close(ctx context.Context) error {
	s.labLock.close()
	games := s.Games.Close(ctx)
	select {
	case s.labLock.taken <- struct{}{}: // the work has ended
		s.labLock.release()
		return games
	case <-ctx.Done():
		return errors.Join(games, errors.New("a run or a comparison did not end in time; its verdict is lost"))
	}
}

// A Lab runs servers and service processes, and injects faults. fault.Lab implements it.
type Lab interface {
	Backends() []backend.Status
	Services() []lab.Service
	Topology() string
	// ServiceSettings returns the settings of the service processes. Serve changes them.
	ServiceSettings() lab.ServiceSettings
	Serve(context.Context, lab.ServiceSettings) error
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

func (s *Server) liveServices() []string {
	var urls []string
	for _, service := range s.Lab.Services() {
		if service.Up {
			urls = append(urls, service.URL)
		}
	}
	return urls
}

// A labLock lets only one run, comparison or trace at a time use the lab. Two of them at the same time would share the
// processors and falsify each other's figures.
type labLock struct {
	taken   chan struct{}          // holds one element while work has the lock
	what    atomic.Pointer[string] // describes the work that took the lock last, as in "a run of naive"
	closing context.Context        // ends when the lab closes; all work ends with it, and no other work begins
	close   func()                 // cancels closing
}

// acquire takes the lock for the work that the text describes. If other work has the lock, the error describes that
// other work. After Server.Close, the error is game.LabCloses.
func (l *labLock) acquire(text string) error {
	select {
	case l.taken <- struct{}{}:
		l.what.Store(&text)
		if l.closing.Err() != nil { // checked under the lock, which Server.Close takes after it has cancelled closing
			l.release()
			return game.LabCloses
		}
		return nil
	default:
		return &web.Problem{Code: "run_in_progress", Status: http.StatusConflict,
			Detail: fmt.Sprintf("The lab is busy with %s. Stop it, or wait for its end.", *l.what.Load())}
	}
}

func (l *labLock) release() { <-l.taken }

// serveFile serves a file of dir. If name is "", the call's path names the file. A browser that has the file already
// gets the file again only if it has changed.
func (s *Server) serveFile(dir fs.FS, name string) gin.HandlerFunc {
	return s.handlerOf(func(c *gin.Context) error {
		name := cmp.Or(name, strings.TrimPrefix(c.Param("path"), "/"))
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return notFound(c)
		}
		sum := sha256.Sum256(text)
		c.Header("Cache-Control", "no-cache") // the browser must ask whether the file has changed
		c.Header("ETag", `"`+base64.RawURLEncoding.EncodeToString(sum[:12])+`"`)
		http.ServeContent(c.Writer, c.Request, name, time.Time{}, bytes.NewReader(text))
		return nil
	})
}
