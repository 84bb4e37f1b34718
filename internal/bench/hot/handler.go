package hot

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
)

// Baselines over HTTP: a bare gin handler that reads the same body and writes
// the same answer, with as little behind it as can be.
const (
	Noop   = "gin, no-op"
	Script = "gin + one Redis script"
	Insert = "gin + DECR + bare INSERT"
)

// handled are the baselines that Handler serves, by path.
var handled = []struct{ name, path string }{
	{Noop, "/noop"}, {Script, "/script"}, {Insert, "/insert"}, {Frozen, "/frozen"},
}

const bareStrategy = "bare"

// sale is a purchase and its answer, as the service has them.
type purchase struct {
	SKU      int64 `json:"sku_id"`
	User     int64 `json:"user_id"`
	Quantity int64 `json:"quantity"`
}

type sale struct {
	OrderID   string `json:"order_id"`
	SKU       int64  `json:"sku_id"`
	Quantity  int64  `json:"quantity"`
	Remaining int64  `json:"remaining"`
	Strategy  string `json:"strategy"`
}

// A Handler serves the baselines on its own tables and keys; Close removes them.
type Handler struct {
	http.Handler
	frozen *frozen
	redis  redis.UniversalClient
	key    string
	orders string // a copy of the ledger's table
	users  atomic.Int64
	db     *sql.DB
}

// take is the least that a script can do for a sale.
var take = redis.NewScript(`
local left = redis.call('DECRBY', KEYS[1], ARGV[1])
if left < 0 then
  redis.call('INCRBY', KEYS[1], ARGV[1])
  return -1
end
return left`)

// NewHandler needs MySQL, with the ledger's tables, and Redis.
func NewHandler(ctx context.Context, in *backend.Instance) (*Handler, error) {
	db, err := in.DB.DB()
	if err != nil {
		return nil, err
	}
	h := &Handler{db: db, redis: in.Redis, key: "seckill:hot:" + rand.Text(), orders: "hot_bare_" + rand.Text()}
	if h.frozen, err = openFrozen(ctx, db); err == nil {
		err = execAll(ctx, db, "the baselines' table", "CREATE TABLE "+h.orders+" LIKE orders")
	}
	if err == nil {
		err = h.redis.Set(ctx, h.key, endless, 0).Err()
	}
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	works := map[string]func(context.Context, purchase) (int64, error){
		Noop: func(context.Context, purchase) (int64, error) { return 7, nil }, Script: h.script, Insert: h.insert,
		Frozen: func(ctx context.Context, p purchase) (int64, error) { return h.frozen.sell(ctx, p.Quantity) },
	}
	for _, x := range handled {
		g.POST(x.path+"/api/v1/seckill", answer(works[x.name]))
	}
	h.Handler = g
	return h, nil
}

func answer(work func(context.Context, purchase) (left int64, err error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		var p purchase
		if err := json.NewDecoder(c.Request.Body).Decode(&p); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		left, err := work(c.Request.Context(), p)
		if err != nil {
			c.JSON(http.StatusInternalServerError, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, sale{"order-1", p.SKU, p.Quantity, left, bareStrategy})
	}
}

func (h *Handler) script(ctx context.Context, p purchase) (int64, error) {
	return take.Run(ctx, h.redis, []string{h.key}, p.Quantity).Int64()
}

// insert is the order of a counter in Redis, in one statement.
func (h *Handler) insert(ctx context.Context, p purchase) (int64, error) {
	left, err := h.redis.DecrBy(ctx, h.key, p.Quantity).Result()
	if err != nil {
		return 0, err
	}
	user := h.users.Add(1)
	_, err = h.db.ExecContext(ctx, "INSERT INTO "+h.orders+
		" (id, public_id, request_id, user_id, sku_id, quantity, remaining, strategy, run, status) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?)",
		user, rand.Text(), rand.Text(), user, p.SKU, p.Quantity, left, bareStrategy, "active")
	return left, err
}

// Close removes what NewHandler made.
func (h *Handler) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	errs := []error{h.redis.Del(ctx, h.key).Err(), execAll(ctx, h.db, "drop the baselines' table", "DROP TABLE IF EXISTS "+h.orders)}
	if h.frozen != nil {
		errs = append(errs, h.frozen.drop(ctx))
	}
	return errors.Join(errs...)
}
