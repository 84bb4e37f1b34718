package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

// A Baseline is work that every strategy includes, measured alone. The ratio of a
// strategy to it shows what the strategy costs.
type Baseline struct {
	ID, Title string
	// Measure repeats the work for d and returns how often per second.
	Measure func(ctx context.Context, d time.Duration) (perSecond float64, err error)
	Missing string // not empty: why it cannot be measured
}

// Ids of the baselines.
const (
	BaselineHTTP        = "gin"         // bare handler that decodes the same JSON
	BaselineRedis       = "redis_incr"  // INCR of one key
	BaselineUpdate      = "hot_row"     // UPDATE of one row, committed each
	BaselineTransaction = "transaction" // update and order in one transaction, without HTTP
)

// perSecond has workers repeat work for d.
func perSecond(ctx context.Context, workers int, d time.Duration, work func(context.Context) error) (float64, error) {
	var done atomic.Int64
	var first error
	var once sync.Once
	var all sync.WaitGroup
	begun := time.Now()
	for range workers {
		all.Go(func() {
			for time.Since(begun) < d && ctx.Err() == nil {
				if err := work(ctx); err != nil {
					once.Do(func() { first = err })
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	if first == nil {
		first = ctx.Err()
	}
	return float64(done.Load()) / time.Since(begun).Seconds(), first
}

// ServeHTTPBaseline serves the bare handler on a loopback port of this process.
func ServeHTTPBaseline(sale loadtest.Config) (f Baseline, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return Baseline{}, nil, err
	}
	server := &http.Server{Handler: bareHandler(), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with stop
	sale.Targets, sale.Strategy = []string{"http://" + listener.Addr().String()}, bareStrategy
	f = Baseline{ID: BaselineHTTP, Title: "bare gin handler"}
	f.Measure = func(ctx context.Context, d time.Duration) (float64, error) { return request(ctx, sale, d) }
	return f, func() { _ = server.Close() }, nil
}

// request sends more and more purchases until they take at least d.
func request(ctx context.Context, sale loadtest.Config, d time.Duration) (float64, error) {
	sale.Stock, sale.Buyers = 1, max(1000, 2*sale.Concurrency)
	sale.Quantity = 1
	sale.Async, sale.Reserve, sale.Forget, sale.PayLate = false, 0, 0, 0 // the bare handler knows one call
	for {
		r, err := loadtest.Send(ctx, sale)
		switch {
		case err != nil:
			return 0, err
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case r.Counts[ledger.OutcomeSold] < r.Requests:
			return 0, fmt.Errorf("the bare handler did not answer every request: %v", r.Answers)
		case r.Seconds >= d.Seconds() || sale.Buyers >= mostRequests:
			return r.RequestsPerSec, nil
		}
		sale.Buyers = min(mostRequests, int(1.2*r.RequestsPerSec*d.Seconds())+sale.Buyers)
	}
}

const (
	mostRequests = 2_000_000
	bareStrategy = "bare"
)

func bareHandler() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	g.POST("/api/v1/seckill", func(c *gin.Context) {
		var body struct {
			SKU      int64 `json:"sku_id"`
			User     int64 `json:"user_id"`
			Quantity int64 `json:"quantity"`
		}
		if err := json.NewDecoder(c.Request.Body).Decode(&body); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, bareSale{"order-1", body.SKU, body.Quantity, 7, bareStrategy})
	})
	return g
}

type bareSale struct {
	OrderID   string `json:"order_id"`
	SKU       int64  `json:"sku_id"`
	Quantity  int64  `json:"quantity"`
	Remaining int64  `json:"remaining"`
	Strategy  string `json:"strategy"`
}
