package loadtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
)

// A fake is a service in memory. It keeps the whole contract until a test plants a fault in it.
type fake struct {
	// purchase, if not nil, is called first for every purchase, with mu held. It returns true if it
	// has answered the purchase. n counts the purchases from 0.
	purchase func(n int, p asked, w http.ResponseWriter) (done bool)
	// outside is like purchase, but is called without mu. So it may take long.
	outside func(n int, w http.ResponseWriter, r *http.Request) (done bool)
	// giveBack is like purchase, but for cancellations.
	giveBack func(n int, w http.ResponseWriter) (done bool)
	// restocked, if not nil, is called after restock n, counted from 0, with mu held.
	restocked func(n int)
	// lookUp answers a question for a request's outcome, with mu held.
	lookUp func(key string, w http.ResponseWriter)

	read        func(*judge.Snapshot) // changes the snapshots that the ledger returns
	stockStores func() map[seckill.StockStore]int64
	token       string        // token that admin calls need; "" for none
	pretend     int64         // number of purchases in flight that the fake reports although there are none
	wait        time.Duration // lock times that the fake reports
	notReset    []string      // strategies that a reset reports as not reached

	mu        sync.Mutex
	stock     judge.Stock
	orders    []judge.Order
	seen      int
	cancelled int
	restocks  int
	inFlight  int64
}

// asked is a purchase as the fake has received it.
type asked struct {
	SKU      int64 `json:"sku_id"`
	User     int64 `json:"user_id"`
	Quantity int64 `json:"quantity"`
	key      string
	strategy string
}

const (
	testStrategy = "conditional"
	testStock    = 20
	testBuyers   = 60
)

func (f *fake) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/seckill", f.sell)
	mux.HandleFunc("DELETE /api/v1/orders/{id}", f.cancel)
	mux.HandleFunc("PUT /api/v1/skus/1", f.reset)
	mux.HandleFunc("POST /api/v1/skus/1/restock", f.restock)
	mux.HandleFunc("GET /api/v1/skus/1", func(w http.ResponseWriter, _ *http.Request) {
		product := struct {
			judge.Stock
			StockStores map[seckill.StockStore]int64 `json:"stock_stores,omitempty"`
		}{Stock: f.view().Stock}
		if f.stockStores != nil {
			product.StockStores = f.stockStores()
		}
		respond(w, product)
	})
	mux.HandleFunc("GET /api/v1/orders", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.lookUp(r.URL.Query().Get("request_id"), w)
	})
	mux.HandleFunc("GET /api/v1/strategies", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, map[string]any{"strategies": []any{
			map[string]any{"name": testStrategy, "title": "One conditional UPDATE", "stock": "row", "available": true},
			map[string]any{"name": "redis-lua", "stock": "redis", "available": true},
			map[string]any{"name": "zk", "stock": "row", "available": false,
				"missing": []string{"no ZooKeeper is configured"}},
		}, "locks": map[string]any{"lease_ms": f.wait.Milliseconds() / 2, "wait_ms": f.wait.Milliseconds() / 2}})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, map[string]any{"backends": []any{
			map[string]any{"name": "mysql", "tier": "private", "version": "MariaDB 10.11.6", "ok": true},
		}})
	})
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		respond(w, map[string]any{"purchases_in_flight": f.inFlight + f.pretend,
			"started_at": time.Unix(f.stock.Run, 0), // a reset is a new process, too
			"strategies": map[string]any{
				testStrategy: map[string]any{"purchases": f.seen,
					"commands": map[string]int{"sql": 3 * f.seen, "redis": 0}},
				"naive": map[string]any{"purchases": 33, "commands": map[string]int{"sql": 77}},
			}})
	})
	return mux
}

func (f *fake) sell(w http.ResponseWriter, r *http.Request) {
	p := asked{key: cmp.Or(r.Header.Get("Idempotency-Key"), rand.Text()), strategy: r.URL.Query().Get("strategy")}
	if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
		refuse(w, http.StatusBadRequest, "invalid")
		return
	}
	f.mu.Lock()
	n := f.seen
	f.seen++
	f.inFlight++
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.inFlight--
		f.mu.Unlock()
	}()
	if f.outside != nil && f.outside(n, w, r) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.purchase != nil && f.purchase(n, p, w) {
		return
	}
	if s, ok := f.sold(p); ok {
		respond(w, s)
		return
	}
	if f.stock.Num < p.Quantity {
		refuse(w, http.StatusConflict, "sold_out")
		return
	}
	respond(w, f.take(p))
}

// sold returns the order that the request already has, if any.
func (f *fake) sold(p asked) (o judge.Order, ok bool) {
	i := slices.IndexFunc(f.orders, func(o judge.Order) bool { return o.RequestID == p.key })
	if i < 0 {
		return o, false
	}
	return f.orders[i], true
}

// cancel cancels an order and gives its units back.
func (f *fake) cancel(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.cancelled
	f.cancelled++
	if f.giveBack != nil && f.giveBack(n, w) {
		return
	}
	for i := range f.orders {
		if o := &f.orders[i]; o.PublicID == r.PathValue("id") {
			if o.Status == judge.Active {
				o.Status = judge.Cancelled
				f.stock.Num += o.Quantity
			}
			respond(w, o)
			return
		}
	}
	refuse(w, http.StatusNotFound, "unknown_order")
}

// take sells without checking whether units are left.
func (f *fake) take(p asked) judge.Order {
	f.stock.Num -= p.Quantity
	o := judge.Order{ID: int64(len(f.orders) + 1), PublicID: fmt.Sprintf("order-%d", len(f.orders)+1), RequestID: p.key,
		Run: f.stock.Run, UserID: p.User, SKUID: p.SKU, Quantity: p.Quantity, Remaining: f.stock.Num,
		Status: judge.Active, Strategy: p.strategy, CreatedAt: time.Now()}
	f.orders = append(f.orders, o)
	return o
}

func (f *fake) reset(w http.ResponseWriter, r *http.Request) {
	if f.token != "" && r.Header.Get("Authorization") != "Bearer "+f.token {
		refuse(w, http.StatusForbidden, "forbidden")
		return
	}
	var body struct{ Stock int64 }
	_ = json.NewDecoder(r.Body).Decode(&body)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resetTo(body.Stock)
	respond(w, struct {
		judge.Stock
		NotReset []string `json:"not_reset"`
	}{f.stock, f.notReset})
}

// restock adds units. A repeated key adds nothing.
func (f *fake) restock(w http.ResponseWriter, r *http.Request) {
	var body struct{ Units int64 }
	_ = json.NewDecoder(r.Body).Decode(&body)
	p := asked{SKU: 1, Quantity: body.Units, key: r.Header.Get("Idempotency-Key"),
		strategy: r.URL.Query().Get("strategy")}
	p.User = judge.OperatorOf(p.key)
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, again := f.sold(p); !again {
		f.take(p)
		f.orders[len(f.orders)-1].Status = judge.Cancelled
		f.stock.Num += 2 * body.Units
		f.stock.Initial += body.Units
	}
	if f.restocked != nil {
		f.restocked(f.restocks)
	}
	f.restocks++
	respond(w, body)
}

func (f *fake) resetTo(stock int64) {
	f.stock = judge.Stock{ID: 1, Initial: stock, Num: stock, Run: f.stock.Run + 1}
	f.orders = nil
}

func (f *fake) view() judge.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := judge.Snapshot{Stock: f.stock, Orders: append([]judge.Order{}, f.orders...)}
	if f.read != nil {
		f.read(&s)
	}
	return s
}

// Snapshot makes the fake a Ledger, as the database behind a service is.
func (f *fake) Snapshot(context.Context, int64) (judge.Snapshot, error) { return f.view(), nil }

func respond(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "/problems/" + code, "code": code, "title": code,
		"detail": "because of " + code})
}

// hangUp closes the connection without an answer.
func hangUp(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_ = conn.Close()
}

// ran makes a run and returns its result.
func ran(t *testing.T, c Config) *Result {
	t.Helper()
	return labtest.Value(Run(t.Context(), c)).Must(t)
}

// serve starts the fake, and returns the configuration of a run against it.
func serve(t *testing.T, f *fake) Config {
	t.Helper()
	server := httptest.NewServer(f.handler())
	t.Cleanup(server.Close)
	limits := defaultLimits
	limits.settle, limits.poll, limits.quiet = 2*time.Second, 5*time.Millisecond, 50*time.Millisecond
	return Config{
		Scenario: Scenario{Strategy: testStrategy, SKU: 1, SKUs: 1, Profile: Closed, Stock: testStock, Buyers: testBuyers,
			Concurrency: 8, Quantity: 1, Timeout: 5 * time.Second, Seed: 1},
		Targets: []string{server.URL}, AdminToken: "secret", Ledger: f, limits: limits,
	}
}
