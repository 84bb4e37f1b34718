// Package httpapi serves the API over HTTP: purchases, orders, SKUs, the audit, the
// catalog, health and metrics. It gets strategies from the catalog and imports none.
package httpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/singleflight"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/point"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

// A Config has the backends, the strategies and the options of a Server.
type Config struct {
	Instance *backend.Instance
	Infos    []catalog.Info
	Default  string // the strategy for purchases that name no strategy
	Settings catalog.Settings

	// Token is the secret that a caller must send with every admin call to Handler. If Token is empty, only
	// AdminHandler takes admin calls.
	Token string

	Points *point.Points    // the points at which admin calls can stop a purchase; may be nil
	Now    func() time.Time // the clock for strategies (catalog.Deps.Now); nil means time.Now

	PurchaseTimeout time.Duration // how long a purchase may take; 0 means 10 s
	ShutdownTimeout time.Duration // how long Serve waits in the end for requests in flight; 0 means 15 s
	Log             *slog.Logger
}

// A Server answers the requests of the API. The caller of New opens and closes Config.Instance.
type Server struct {
	Config
	ledger *ledger.Store
	// Handler answers all calls, and its admin calls need the token. AdminHandler is for the admin listener, where
	// callers need no token.
	Handler, AdminHandler http.Handler

	metrics *metrics
	strategies
	sales
	auditing chan struct{} // holds an element for each audit that reads the orders, at most two
	refusals *ledger.Refusals
	inFlight atomic.Int64 // the number of purchases that have no answer yet
}

type strategies struct {
	sellers    []*seller        // all strategies, in the order of the catalog
	catalogued []catalog.Seller // the same sellers in the form that the audit reads
	byName     map[string]*seller
	standard   *seller // the default strategy
}

// sales has what this process knows about sales, and about the requests that it works on.
type sales struct {
	open     sync.Map           // maps a SKU to its run, if this process has read that the sale has started
	starts   singleflight.Group // lets buyers of a SKU share one read of the start of its sale
	underWay sync.Map           // the requests on which this process works now (see sell)
	// A reset of SKU id locks resets[id%16], so resets of one SKU run one at a time.
	resets [16]sync.Mutex
	stale  chan struct{} // holds a token if sweep must look for orders of earlier runs
}

// New builds every strategy whose backends the instance has. It returns an error if the default strategy is
// not one of them.
func New(c Config) (*Server, error) {
	if c.Instance == nil || c.Instance.DB == nil {
		return nil, errors.New("no SQL database is configured for the ledger: give --mysql-dsn or --sqlite-path")
	}
	c.PurchaseTimeout = cmp.Or(c.PurchaseTimeout, 10*time.Second)
	c.ShutdownTimeout = cmp.Or(c.ShutdownTimeout, 15*time.Second)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{Config: c, ledger: ledger.NewStore(c.Instance.DB), auditing: make(chan struct{}, 2)}
	s.byName, s.stale = map[string]*seller{}, make(chan struct{}, 1)
	s.refusals = &ledger.Refusals{Store: s.ledger}
	s.metrics = newMetrics(s)
	for _, info := range c.Infos {
		s.byName[info.Name] = s.newSeller(info)
		s.sellers = append(s.sellers, s.byName[info.Name])
		s.catalogued = append(s.catalogued, catalog.Seller{Info: info, Strategy: s.byName[info.Name].strategy})
	}
	for need, why := range c.Instance.Lacks {
		names := strings.Join(catalog.Needing(c.Infos, need), ", ")
		s.Log.Warn("strategies are not available", "why", why, "strategies", names)
	}
	var err error
	if s.standard, err = s.available(c.Default); err != nil {
		return nil, fmt.Errorf("the default strategy: %w", err)
	}
	s.Handler, s.AdminHandler = s.route(), s.route(s.handle(s.asAdmin))
	return s, nil
}

// Serve answers requests on l until ctx ends, and then waits for the requests in flight. If some of them take longer
// than ShutdownTimeout, Serve closes their connections and returns an error with their number. Until the last request
// has ended, Serve also removes old orders, and runs the strategies that are seckill.Workers, because the last buyers
// may leave work for them.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	working, endWork := context.WithCancel(context.WithoutCancel(ctx))
	var background sync.WaitGroup
	background.Go(func() { s.sweep(working) })
	for _, sl := range s.sellers {
		if w, ok := sl.strategy.(seckill.Worker); ok {
			background.Go(func() { w.Work(working) })
		}
	}
	err := s.serve(ctx, l, s.Handler)
	endWork()
	background.Wait()
	return err
}

// ServeAdmin does what Serve does, for the admin listener. The address of l must have passed CheckAdminAddr.
func (s *Server) ServeAdmin(ctx context.Context, l net.Listener) error {
	return s.serve(ctx, l, s.AdminHandler)
}

func (s *Server) serve(ctx context.Context, l net.Listener, h http.Handler) error {
	maxAnswer := max(s.PurchaseTimeout, resetTimeout, auditTimeout) + lookTimeout
	headless := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, web.HeadAsGet(r)) })
	server := web.NewServer(headless, maxAnswer+web.BodyTime, s.Log, slog.LevelWarn)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	s.Log.Info("shutting down", "purchases_in_flight", s.inFlight.Load())
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.ShutdownTimeout)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		cut := s.inFlight.Load()
		server.Close()
		return fmt.Errorf("cut off after %s with %d purchases in flight: %w", s.ShutdownTimeout, cut, err)
	}
	return nil
}

func (s *Server) route(guards ...gin.HandlerFunc) *gin.Engine {
	r := web.NewRouter()
	r.Use(s.identify, web.Recover(s.Log, s.writeProblem))
	r.Use(guards...)
	r.NoRoute(s.handle(notFound))
	r.NoMethod(s.handle(methodNotAllowed))

	r.GET("/", s.handle(noQuery), s.handle(s.showCall))
	r.GET("/healthz", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"status": "ok"}) })
	r.GET("/readyz", s.ready)
	r.GET("/metrics", gin.WrapH(s.metrics.handler()))
	r.GET("/stats", s.stats)
	r.GET("/openapi.json", func(c *gin.Context) { c.Data(http.StatusOK, "application/json", openAPI) })

	v1 := r.Group("/api/v1")
	v1.POST("/seckill", s.buying(s.purchase))
	v1.GET("/strategies", s.plain(s.listStrategies))
	v1.GET("/strategies/:name", s.plain(s.showStrategy))
	v1.GET("/skus", s.plain(s.listSKUs))
	v1.GET("/skus/:id", s.plain(s.showSKU))
	v1.PUT("/skus/:id", s.handle(noQuery), s.handle(s.admin), s.answer(s.putSKU))
	v1.POST("/skus/:id/restock", s.handle(s.admin), s.answer(s.restock))
	v1.GET("/orders", s.answer(s.listOrders))
	v1.DELETE("/orders/:id", s.plain(s.cancelOrder))
	v1.POST("/reservations", s.buying(s.reserve))
	v1.GET("/reservations/:id", s.plain(s.showReservation))
	v1.POST("/reservations/:id/pay", s.plain(s.payReservation))
	v1.DELETE("/reservations/:id", s.plain(s.cancelReservation))
	v1.GET("/audit", s.handle(s.admin), s.answer(s.audit))
	s.routePoints(r)
	return r
}

func (s *Server) handle(h func(*gin.Context) error) gin.HandlerFunc {
	return web.Handle(s.writeProblem, h)
}

// An answerer returns the value that the answer to a call shows as JSON. Its context ends after
// PurchaseTimeout, or when the caller hangs up.
type answerer func(context.Context, *gin.Context) (any, error)

func (s *Server) answer(h answerer) gin.HandlerFunc {
	return s.handle(func(c *gin.Context) error {
		ctx, cancel := context.WithTimeout(c.Request.Context(), s.PurchaseTimeout)
		defer cancel()
		body, err := h(ctx, c)
		if err == nil {
			c.JSON(http.StatusOK, body)
		}
		return err
	})
}

// plain does what answer does, for a call that takes no query parameters.
func (s *Server) plain(h answerer) gin.HandlerFunc {
	return s.answer(func(ctx context.Context, c *gin.Context) (any, error) {
		if err := noQuery(c); err != nil {
			return nil, err
		}
		return h(ctx, c)
	})
}

// noQuery refuses a call with query parameters.
func noQuery(c *gin.Context) error {
	_, err := web.ReadQuery(c.Request)
	return err
}

func (s *Server) showCall(c *gin.Context) error {
	c.String(http.StatusOK, `A flash sale. Buy one unit of SKU 1 as user 42, with the strategy %s:

  curl http://%[2]s/api/v1/seckill -H 'Content-Type: application/json' -d '{"sku_id":1,"user_id":42}'

or with another one:

  curl 'http://%[2]s/api/v1/seckill?strategy=NAME' -H 'Content-Type: application/json' -d '{"sku_id":1,"user_id":42}'

GET /api/v1/strategies lists the strategies, GET /api/v1/skus what is for sale, GET /openapi.json every call.
`, s.standard.info.Name, c.Request.Host)
	return nil
}

//go:embed openapi.json
var openAPI []byte

// identify sets the X-Request-Id of every answer, and logs each request at debug level. The id is the printable
// part of the X-Request-Id that the caller sent, of at most 64 characters. If there is none, the id is random.
func (s *Server) identify(c *gin.Context) {
	id := web.Visible(c.GetHeader(web.HeaderRequestID), 64)
	if id == "" {
		id = rand.Text()
	}
	c.Writer.Header().Set(web.HeaderRequestID, id)
	if !s.Log.Enabled(c.Request.Context(), slog.LevelDebug) {
		c.Next()
		return
	}
	begun := time.Now()
	c.Next()
	s.log(c, slog.LevelDebug, "request", "status", c.Writer.Status(), "took", time.Since(begun))
}

func (s *Server) log(c *gin.Context, level slog.Level, message string, args ...any) {
	r, id := c.Request, c.Writer.Header().Get(web.HeaderRequestID)
	s.Log.With("method", r.Method, "path", r.URL.Path, "peer", r.RemoteAddr, "request_id", id).
		Log(r.Context(), level, message, args...)
}
