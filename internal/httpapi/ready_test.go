package httpapi_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
)

// A process that lost a backend says so, and is alive.
func TestReady(t *testing.T) {
	in := labtest.Instance(t, backend.SQL, backend.Redis)
	migrate(t, in)
	s := serverWith(t, sells(), httpapi.Config{Instance: in})
	ask(t, s, "GET", "/readyz", "").want(t, "being ready", http.StatusOK, "")
	labtest.Must(t, in.Redis.Close())
	var ready struct {
		Ready    bool
		Strategy string
		Backends []backend.Status
	}
	r := ask(t, s, "GET", "/readyz", "")
	if err := json.Unmarshal(r.body, &ready); err != nil || r.status != http.StatusServiceUnavailable || ready.Ready || ready.Strategy != fakeName ||
		len(ready.Backends) != 2 || !ready.Backends[0].OK || ready.Backends[1].OK || ready.Backends[1].Error == "" {
		t.Errorf("without Redis it is told %d %s (%v)", r.status, r.body, err)
	}
	ask(t, s, "GET", "/healthz", "").want(t, "being alive without Redis", http.StatusOK, "")
}
