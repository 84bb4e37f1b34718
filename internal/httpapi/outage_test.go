package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
)

// While MySQL is down the service says so, and is alive; it is ready again by itself.
// (What buyers are told of it, a load run over two processes sees.)
func TestMySQLGoesAndComesBack(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if os.Getenv("SECKILL_TEST_MYSQL_DSN") != "" {
		t.Skip("a MySQL that was given is not ours to kill")
	}
	in := labtest.Instance(t, backend.SQL)
	mysql, err := labtest.Start(t, backend.SQL).Process(backend.NameMySQL)
	if err != nil {
		t.Fatal(err)
	}
	migrate(t, in)
	s := serverWith(t, nil, httpapi.Config{Instance: in, PurchaseTimeout: 5 * time.Second})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":10}`).want(t, "reset", http.StatusOK, "")
	if err := mysql.Kill(ctx); err != nil {
		t.Fatal(err)
	}
	var ready readiness
	r := ask(t, s, "GET", "/readyz", "")
	if err := json.Unmarshal(r.body, &ready); err != nil || r.status != 503 || ready.Ready ||
		len(ready.Backends) != 1 || ready.Backends[0].OK || ready.Backends[0].Error == "" {
		t.Errorf("with MySQL down /readyz says %d %s", r.status, r.body)
	}
	ask(t, s, "GET", "/healthz", "").want(t, "being alive with MySQL down", http.StatusOK, "")
	ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1)).want(t, "buying with MySQL down", 503, "backend_unavailable")
	ask(t, s, "GET", "/api/v1/orders?sku_id=1", "").want(t, "reading with MySQL down", 503, "backend_unavailable")
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":1}`).want(t, "resetting with MySQL down", 503, "backend_unavailable")

	if err := mysql.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	for r = ask(t, s, "GET", "/readyz", ""); r.status != 200 && ctx.Err() == nil; r = ask(t, s, "GET", "/readyz", "") {
		time.Sleep(10 * time.Millisecond) // between two looks; the connections come back by themselves
	}
	if r.into(t, &ready); !ready.Ready || ready.Strategy != "conditional" || !ready.Backends[0].OK ||
		ready.Backends[0].Name != "mysql" || ready.Backends[0].Version == "" || ready.Backends[0].Address == "" {
		t.Errorf("with MySQL back /readyz says %s", r.body)
	}
	ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1)).want(t, "buying with MySQL back", http.StatusOK, "")
}
