package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

// A Baseline is work that every strategy includes, measured alone. The ratio of a
// strategy to it shows what the strategy costs.
type Baseline struct {
	ID, Title string
	// Measure has so many buyers at a time repeat the work for d and returns how
	// often per second.
	Measure func(ctx context.Context, buyers int, d time.Duration) (perSecond float64, err error)
	Missing string // not empty: why it cannot be measured
}

// Ids of the baselines. Buyers send those of gin over HTTP, as they send a purchase;
// the others are without HTTP.
const (
	BaselineHTTP        = "gin"         // bare handler that decodes the same JSON
	BaselineScript      = "gin_script"  // the handler, and one Redis script that takes a unit
	BaselineInsert      = "gin_insert"  // the handler, DECR in Redis and the order
	BaselineRedis       = "redis_incr"  // INCR of one key
	BaselineUpdate      = "hot_row"     // UPDATE of one row, committed each
	BaselineTransaction = "transaction" // update and order in one transaction
)

// DefaultBaselines are measured unless others are named.
var DefaultBaselines = []string{BaselineHTTP, BaselineRedis, BaselineUpdate, BaselineTransaction}

// AllBaselines are the ids of all.
var AllBaselines = []string{BaselineHTTP, BaselineScript, BaselineInsert, BaselineRedis, BaselineUpdate, BaselineTransaction}

// CheckBaselines says what is wrong with a list of ids.
func CheckBaselines(ids []string) error {
	for i, id := range ids {
		if !slices.Contains(AllBaselines, id) {
			return fmt.Errorf("there is no baseline %q; there are: %s", id, strings.Join(AllBaselines, ", "))
		}
		if slices.Index(ids, id) < i {
			return fmt.Errorf("%s is named twice", id)
		}
	}
	return nil
}

// OpenBaselines makes the baselines of these ids ready: their handlers, and their
// tables on the servers of in, which is nil if none could be reached. A baseline
// without its server is Missing. stop removes what they made.
func OpenBaselines(ctx context.Context, ids []string, sale loadtest.Config, in *backend.Instance) (
	all []Baseline, stop func(context.Context) error, err error,
) {
	w := &bareWork{noRedis: "no Redis is known", noSQL: "no MySQL is known"}
	if in != nil {
		w.open(ctx, in)
	}
	url, stopServing, err := w.serve()
	if err != nil {
		return nil, nil, err
	}
	asked := func(path string) func(context.Context, int, time.Duration) (float64, error) {
		sale := sale
		sale.Targets, sale.Strategy = []string{url + path}, bareStrategy
		return func(ctx context.Context, buyers int, d time.Duration) (float64, error) {
			sale.Concurrency = buyers
			return request(ctx, sale, d)
		}
	}
	alone := func(work func(context.Context) error) func(context.Context, int, time.Duration) (float64, error) {
		return func(ctx context.Context, buyers int, d time.Duration) (float64, error) {
			return perSecond(ctx, buyers, d, work)
		}
	}
	for _, b := range []Baseline{
		{BaselineHTTP, "bare gin handler", asked("/noop"), ""},
		{BaselineScript, "gin + one Redis script", asked("/script"), w.noRedis},
		{BaselineInsert, "gin + DECR + bare INSERT", asked("/insert"), firstOf(w.noRedis, w.noSQL)},
		{BaselineRedis, "bare Redis INCR", alone(w.incr), w.noRedis},
		{BaselineUpdate, "bare hot-row UPDATE", alone(w.update), w.noSQL},
		{BaselineTransaction, "the same transaction without HTTP", alone(w.sell), w.noSQL},
	} {
		if slices.Contains(ids, b.ID) {
			all = append(all, b)
		}
	}
	return all, func(ctx context.Context) error { stopServing(); return w.drop(ctx) }, nil
}

func firstOf(texts ...string) string {
	i := slices.IndexFunc(texts, func(text string) bool { return text != "" })
	if i < 0 {
		return ""
	}
	return texts[i]
}

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

// request sends more and more purchases until they take at least d.
func request(ctx context.Context, sale loadtest.Config, d time.Duration) (float64, error) {
	sale.Stock, sale.Buyers = 1, max(1000, 2*sale.Concurrency)
	sale.Quantity = 1
	sale.Async, sale.Reserve, sale.Forget, sale.PayLate = false, 0, 0, 0 // a bare handler knows one call
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

const mostRequests = 2_000_000
