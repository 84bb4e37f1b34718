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
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
)

// bareWork is what the baselines do, on a key of its own in Redis and on copies of
// the ledger's tables, so that its orders stay as they are.
type bareWork struct {
	redis          redis.UniversalClient
	db             *sql.DB
	noRedis, noSQL string // why there is none
	key            string
	stock, orders  string       // tables
	users          atomic.Int64 // each buys once
}

// endless is a stock that no run sells out.
const endless = int64(1) << 52

func (w *bareWork) open(ctx context.Context, in *backend.Instance) {
	if in.Redis != nil {
		w.redis, w.key, w.noRedis = in.Redis, "seckill:compare:"+rand.Text(), ""
		if err := w.redis.Set(ctx, w.key, endless, 0).Err(); err != nil {
			w.noRedis = err.Error()
		}
	}
	if in.DB == nil || in.Config.MySQLDSN == "" {
		return
	}
	w.stock, w.orders, w.noSQL = "compare_stock_"+rand.Text(), "compare_orders_"+rand.Text(), ""
	db, err := in.DB.DB()
	if err == nil {
		w.db = db
		err = w.create(ctx)
	}
	if err != nil {
		w.noSQL = err.Error()
	}
}

func (w *bareWork) create(ctx context.Context) error {
	for _, statement := range []string{
		"CREATE TABLE " + w.stock + " LIKE stock",
		"CREATE TABLE " + w.orders + " LIKE orders",
		fmt.Sprintf("INSERT INTO %s (id, name, initial, num, run) VALUES (1, 'baseline', %d, %[2]d, 1)", w.stock, endless),
	} {
		if _, err := w.db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("the tables of the baselines: %w", err)
		}
	}
	return nil
}

func (w *bareWork) drop(ctx context.Context) (err error) {
	if w.redis != nil {
		err = w.redis.Del(ctx, w.key).Err()
	}
	if w.db != nil {
		_, dropped := w.db.ExecContext(ctx, "DROP TABLE IF EXISTS "+w.stock+", "+w.orders)
		err = errors.Join(err, dropped)
	}
	return err
}

func (w *bareWork) incr(ctx context.Context) error { return w.redis.Incr(ctx, w.key).Err() }

func (w *bareWork) update(ctx context.Context) error {
	_, err := w.db.ExecContext(ctx, "UPDATE "+w.stock+" SET num = num - 1 WHERE id = 1 AND num - 1 >= 0")
	return err
}

// sell repeats the strategy conditional statement by statement.
func (w *bareWork) sell(ctx context.Context) error {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	result, err := tx.ExecContext(ctx,
		"UPDATE "+w.stock+" SET num = LAST_INSERT_ID(num - ?) WHERE id = ? AND num - ? >= 0", 1, 1, 1)
	if err != nil {
		return err
	}
	left, err := result.LastInsertId()
	if err != nil {
		return err
	}
	user := w.users.Add(1) // buys once: their order has the same number
	_, err = tx.ExecContext(ctx, "INSERT INTO "+w.orders+
		" (id, public_id, request_id, user_id, sku_id, quantity, remaining, strategy, run, status) "+
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, (SELECT run FROM "+w.stock+" WHERE id = ?), (SELECT CASE WHEN starts_at IS NULL OR "+
		"starts_at <= (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000) THEN ? END "+
		"FROM "+w.stock+" WHERE id = ?))",
		user, rand.Text(), rand.Text(), user, 1, 1, left, bareStrategy, 1, "active", 1)
	if err != nil {
		return err
	}
	return tx.Commit()
}

// takeUnit is the least that a script can do for a sale.
var takeUnit = redis.NewScript(`
local left = redis.call('DECRBY', KEYS[1], ARGV[1])
if left < 0 then
  redis.call('INCRBY', KEYS[1], ARGV[1])
  return -1
end
return left`)

// insert is the order of a counter in Redis, in one statement.
func (w *bareWork) insert(ctx context.Context, p barePurchase) (int64, error) {
	left, err := w.redis.DecrBy(ctx, w.key, p.Quantity).Result()
	if err != nil {
		return 0, err
	}
	user := w.users.Add(1)
	_, err = w.db.ExecContext(ctx, "INSERT INTO "+w.orders+
		" (id, public_id, request_id, user_id, sku_id, quantity, remaining, strategy, run, status) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?)",
		user, rand.Text(), rand.Text(), user, p.SKU, p.Quantity, left, bareStrategy, "active")
	return left, err
}

const bareStrategy = "bare"

type barePurchase struct {
	SKU      int64 `json:"sku_id"`
	User     int64 `json:"user_id"`
	Quantity int64 `json:"quantity"`
}

type bareSale struct {
	OrderID   string `json:"order_id"`
	SKU       int64  `json:"sku_id"`
	Quantity  int64  `json:"quantity"`
	Remaining int64  `json:"remaining"`
	Strategy  string `json:"strategy"`
}

// serve serves bare handlers, each at a path of its own, on a loopback port of this
// process.
func (w *bareWork) serve() (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	for path, work := range map[string]func(context.Context, barePurchase) (int64, error){
		"/noop": func(context.Context, barePurchase) (int64, error) { return 7, nil },
		"/script": func(ctx context.Context, p barePurchase) (int64, error) {
			return takeUnit.Run(ctx, w.redis, []string{w.key}, p.Quantity).Int64()
		},
		"/insert": w.insert,
	} {
		g.POST(path+"/api/v1/seckill", bareHandler(work))
	}
	server := &http.Server{Handler: g, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with stop
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}

// bareHandler reads the same body and writes the same answer as the service, with
// work alone in between.
func bareHandler(work func(context.Context, barePurchase) (left int64, err error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		var p barePurchase
		if err := json.NewDecoder(c.Request.Body).Decode(&p); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		left, err := work(c.Request.Context(), p)
		if err != nil {
			c.JSON(http.StatusInternalServerError, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, bareSale{"order-1", p.SKU, p.Quantity, left, bareStrategy})
	}
}
