package compare

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/tables"
)

// A baseline is a bare HTTP handler that is measured in addition to the strategies. It reads the same request
// as a service and writes the same answer with gin. Between reading and writing it does nothing, or one thing
// that the strategies also do.
type baseline struct {
	name, title string
	do          func(*baselineWork, context.Context, baselinePurchase) (left int64, err error)
	needs       []backend.Capability
}

var baselines = []baseline{
	{"noop", "a gin handler that does nothing", (*baselineWork).doNothing, nil},
	{"script", "gin and one Redis script", (*baselineWork).runScript, needsRedis},
	{"insert", "gin, DECR in Redis and an INSERT of the order", (*baselineWork).decrementAndInsert,
		slices.Concat(needsRedis, needsMySQL)},
	{"update", "gin and an UPDATE of one row", (*baselineWork).updateRow, needsMySQL},
	{"transaction", "gin and an UPDATE and an INSERT in one transaction", (*baselineWork).sellInTransaction,
		needsMySQL},
}

var needsRedis, needsMySQL = []backend.Capability{backend.Redis}, []backend.Capability{backend.RowLocks}

// BaselineNames returns the names that Settings.Baselines may have besides All.
func BaselineNames() []string {
	return tables.Map(baselines, func(b baseline) string { return b.name })
}

const (
	baselineStrategy = "bare"
	baselineConns    = 64 // the maximum number of connections to the database: as many as two services have
	// endlessStock is more units than any run sells.
	endlessStock = int64(1) << 52
)

// baselineWork has the data on which the baselines work: a Redis key of their own, and empty copies of two
// tables of the ledger. So the baselines do not change the ledger.
type baselineWork struct {
	*backend.Instance
	db                 *sql.DB
	key, stock, orders string       // the names of the key in Redis and of the two tables
	users              atomic.Int64 // the number of the last user; each user buys once
	closers            []func(context.Context) error
}

// openBaselines serves the baselines that o names on a loopback port of this process, and adds them to
// o.Candidates. If a baseline needs a database or a Redis that is missing, it is added to o.NotRun.
func (w *baselineWork) openBaselines(ctx context.Context, o *Options) error {
	config := o.Servers.Only(backend.SQL, backend.Redis)
	config.MaxSQLConns = baselineConns
	var err error
	if w.Instance, err = backend.Open(ctx, config); err != nil {
		return err
	}
	w.closers = append(w.closers, func(context.Context) error { return w.Instance.Close() })
	suffix := rand.Text()
	w.key, w.stock, w.orders = "seckill:compare:"+suffix, "compare_stock_"+suffix, "compare_orders_"+suffix
	if w.Redis != nil {
		w.closers = append(w.closers, func(ctx context.Context) error { return w.Redis.Del(ctx, w.key).Err() })
		err = w.Redis.Set(ctx, w.key, endlessStock, 0).Err()
	}
	if rows, _ := config.Has(backend.RowLocks); err == nil && rows {
		w.db, err = w.DB.DB()
		w.closers = append(w.closers, func(ctx context.Context) error {
			_, err := w.db.ExecContext(ctx, "DROP TABLE IF EXISTS "+w.stock+", "+w.orders)
			return err
		})
		for _, statement := range []string{
			"CREATE TABLE " + w.stock + " LIKE stock",
			"CREATE TABLE " + w.orders + " LIKE orders",
			fmt.Sprintf("INSERT INTO %s (id, name, initial, num, run) VALUES (1, 'bare', %d, %[2]d, 1)",
				w.stock, endlessStock),
		} {
			if err == nil {
				_, err = w.db.ExecContext(ctx, statement)
			}
		}
	}
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	server := &http.Server{Handler: g, ReadHeaderTimeout: 5 * time.Second}
	w.closers = append(w.closers, func(context.Context) error { return server.Close() })
	go func() { _ = server.Serve(listener) }() // closeBaselines ends this goroutine.
	for _, b := range baselines {
		if !slices.Contains(o.Baselines, b.name) && !slices.Contains(o.Baselines, All) {
			continue
		}
		lacks := func(need backend.Capability) bool { ok, _ := config.Has(need); return !ok }
		if i := slices.IndexFunc(b.needs, lacks); i >= 0 {
			_, why := config.Has(b.needs[i])
			o.NotRun = append(o.NotRun, NotRun{b.name, why})
			continue
		}
		work := func(ctx context.Context, p baselinePurchase) (int64, error) { return b.do(w, ctx, p) }
		g.POST("/"+b.name+"/api/v1/seckill", baselineHandler(work))
		o.Candidates = append(o.Candidates, Candidate{Strategy: b.name, Title: b.title, Baseline: true,
			target: "http://" + listener.Addr().String() + "/" + b.name})
	}
	return nil
}

// closeBaselines removes everything that openBaselines made, even if openBaselines failed halfway or
// the comparison was interrupted.
func (w *baselineWork) closeBaselines() error {
	var err error
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, closeOne := range slices.Backward(w.closers) {
		err = errors.Join(err, closeOne(ctx))
	}
	return err
}

func (w *baselineWork) doNothing(context.Context, baselinePurchase) (int64, error) { return 7, nil }

// takeUnit does only what every script for a sale must do: it takes the units if enough of them are left.
var takeUnit = redis.NewScript(`
local left = redis.call('DECRBY', KEYS[1], ARGV[1])
if left < 0 then
  redis.call('INCRBY', KEYS[1], ARGV[1])
  return -1
end
return left`)

func (w *baselineWork) runScript(ctx context.Context, p baselinePurchase) (int64, error) {
	return takeUnit.Run(ctx, w.Redis, []string{w.key}, p.Quantity).Int64()
}

type executor interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

func (w *baselineWork) insertOrder(ctx context.Context, db executor, p baselinePurchase, left int64) error {
	user := w.users.Add(1) // Each user buys once, so the number of the user can also be the id of the order.
	_, err := db.ExecContext(ctx, "INSERT INTO "+w.orders+
		" (id, public_id, request_id, user_id, sku_id, quantity, remaining, strategy, run, status) "+
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?)",
		user, rand.Text(), rand.Text(), user, p.SKU, p.Quantity, left, baselineStrategy, "active")
	return err
}

func (w *baselineWork) decrementAndInsert(ctx context.Context, p baselinePurchase) (int64, error) {
	left, err := w.Redis.DecrBy(ctx, w.key, p.Quantity).Result()
	if err != nil {
		return 0, err
	}
	return left, w.insertOrder(ctx, w.db, p, left)
}

func (w *baselineWork) updateRow(ctx context.Context, p baselinePurchase) (int64, error) {
	return w.takeUnits(ctx, w.db, p)
}

func (w *baselineWork) takeUnits(ctx context.Context, db executor, p baselinePurchase) (int64, error) {
	result, err := db.ExecContext(ctx,
		"UPDATE "+w.stock+" SET num = LAST_INSERT_ID(num - ?) WHERE id = 1 AND num - ? >= 0", p.Quantity, p.Quantity)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

func (w *baselineWork) sellInTransaction(ctx context.Context, p baselinePurchase) (int64, error) {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // Rollback has no effect after a commit.
	left, err := w.takeUnits(ctx, tx, p)
	if err == nil {
		err = w.insertOrder(ctx, tx, p, left)
	}
	if err != nil {
		return 0, err
	}
	return left, tx.Commit()
}

type baselinePurchase struct {
	SKU      int64 `json:"sku_id"`
	Quantity int64 `json:"quantity"`
}

// baselineHandler returns a handler that reads a request, calls work, and writes the answer as a service does.
func baselineHandler(work func(context.Context, baselinePurchase) (int64, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		var p baselinePurchase
		if err := json.NewDecoder(c.Request.Body).Decode(&p); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		left, err := work(c.Request.Context(), p)
		if err != nil {
			c.JSON(http.StatusInternalServerError, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, gin.H{"order_id": "order-1", "sku_id": p.SKU, "quantity": p.Quantity, "remaining": left,
			"strategy": baselineStrategy})
	}
}
