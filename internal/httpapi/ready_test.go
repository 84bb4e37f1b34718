package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
)

// A process that lost a backend says so, and is alive. Who knows the id of a ZooKeeper session can end it, and with it the locks:
// it is for the operator alone.
func TestReady(t *testing.T) {
	in := labtest.Instance(t, backend.SQL, backend.ZooKeeper)
	migrate(t, in)
	s := serverWith(t, sells(), httpapi.Config{Instance: in})
	session := in.Status(t.Context())[1].Session
	if session == "" {
		t.Fatal("there is no session")
	}
	for _, path := range []string{"/readyz", "/metrics", "/healthz", "/api/v1/strategies"} {
		if r := ask(t, s, "GET", path, "", "Authorization: "); strings.Contains(string(r.body), session) || r.status != http.StatusOK {
			t.Errorf("%s says %d %s", path, r.status, r.body)
		}
	}
	if r := ask(t, s, "GET", "/readyz", ""); r.status != http.StatusOK || !strings.Contains(string(r.body), session) {
		t.Errorf("the operator is told %d %s, want the session %s", r.status, r.body, session)
	}
	labtest.Must(t, in.ZooKeeper.Close())
	var ready struct {
		Ready    bool
		Strategy string
		Backends []backend.Status
	}
	r := ask(t, s, "GET", "/readyz", "")
	if err := json.Unmarshal(r.body, &ready); err != nil || r.status != http.StatusServiceUnavailable || ready.Ready || ready.Strategy != fakeName ||
		len(ready.Backends) != 2 || !ready.Backends[0].OK || ready.Backends[1].OK || ready.Backends[1].Error == "" {
		t.Errorf("without ZooKeeper it is told %d %s (%v)", r.status, r.body, err)
	}
	ask(t, s, "GET", "/healthz", "").want(t, "being alive without ZooKeeper", http.StatusOK, "")
}
