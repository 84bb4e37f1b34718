package httpapi_test

import (
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/strategies"
)

// pause is what a buyer who is told to try again waits. A crowd that does not
// wait takes the processor from the one they wait for.
const pause = 20 * time.Millisecond

// A product is what the SKU says of itself.
type product struct {
	ledger.Stock
	Now         ledger.Moment               `json:"now"`
	StockStores map[ledger.StockStore]int64 `json:"homes"`
}

const ahead = time.Hour

func scheduled(stock int, start time.Time) string {
	return fmt.Sprintf(`{"stock":%d,"starts_at":%q}`, stock, start.Format(time.RFC3339Nano))
}

// everything is every backend there is, for one more process.
func everything(t *testing.T) *backend.Instance {
	in := labtest.Instance(t, backend.SQL, backend.RowLocks, backend.Redis, backend.RedisQuorum,
		backend.ZooKeeper, backend.Etcd)
	migrate(t, in)
	return in
}

// Two processes. One has just sold and believes that the sale is on when the
// other sets a start: no one buys early, by any strategy, at either of them.
func TestNobodyBuysEarlyAtAnotherProcess(t *testing.T) {
	here, there := everything(t), everything(t)
	for n, i := range strategies.All() {
		t.Run(i.Name, func(t *testing.T) {
			only := httpapi.Config{Infos: []catalog.Info{i}, Default: i.Name, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
			only.Instance = here
			first := serverWith(t, nil, only)
			only.Instance = there
			second := serverWith(t, nil, only)
			buy, sku := "/api/v1/seckill?strategy="+i.Name, n+1 // one of which nobody has an old word
			path := fmt.Sprintf("/api/v1/skus/%d", sku)
			wants := func(user int) string { return fmt.Sprintf(`{"sku_id":%d,"user_id":%d}`, sku, user) }
			ask(t, first, "PUT", path, `{"stock":100}`).want(t, "opening the sale", 200, "")
			ask(t, second, "POST", buy, wants(1)).want(t, "buying while it is on", 200, "")
			ask(t, first, "PUT", path, scheduled(100, time.Now().Add(ahead))).want(t, "setting a start", 200, "")

			var early sync.WaitGroup
			for user := range 8 {
				s := []*httpapi.Server{first, second}[user%2]
				early.Go(func() {
					r := ask(t, s, "POST", buy, wants(2+user))
					for r.Code == "busy" || r.Code == "conflict" { // who slipped past an old word queues with the others
						time.Sleep(pause)
						r = ask(t, s, "POST", buy, wants(2+user))
					}
					r.want(t, "buying an hour early", 409, "not_started")
					if after, _ := strconv.Atoi(r.header.Get("Retry-After")); after < int(ahead.Seconds())/2 {
						t.Errorf("a buyer who is an hour early is to come back in %d s", after) // by the old word
					}
				})
			}
			early.Wait()
			var p product
			var o orders
			ask(t, second, "GET", path, "").into(t, &p)
			ask(t, second, "GET", fmt.Sprintf("/api/v1/orders?sku_id=%d", sku), "").into(t, &o)
			if len(o.Orders) > 0 {
				t.Errorf("%d orders before the start", len(o.Orders))
			}
			if left := left(p, i.Stock); left != 100 && !i.Broken() {
				t.Errorf("%d units are left before the start, want 100", left)
			}
		})
	}
}

// The crowd before the start stays away from the strategy, and from what it locks.
func TestAnEarlyBuyerDoesNotReachTheStrategy(t *testing.T) {
	s := serverWith(t, sells(), httpapi.Config{}) // which would sell to anyone
	ask(t, s, "PUT", "/api/v1/skus/1", scheduled(100, time.Now().Add(ahead))).want(t, "setting a start", 200, "")
	ask(t, s, "POST", "/api/v1/seckill", good).want(t, "buying an hour early", 409, "not_started")
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":100}`).want(t, "opening the sale", 200, "")
	ask(t, s, "POST", "/api/v1/seckill", good).want(t, "buying while it is on", 200, "")
}

func left(p product, stockStore ledger.StockStore) int64 {
	if n, ok := p.StockStores[stockStore.Counter()]; ok {
		return n
	}
	return p.Num
}
