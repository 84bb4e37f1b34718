package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
)

// Who knows the id of a ZooKeeper session can end it, and with it the locks:
// it is for the operator alone.
func TestSessionIsNotPublic(t *testing.T) {
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
}
