package httpapi_test

import (
	"net/http"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
)

// As long as Redis does not answer, it is not known what became of a request. (What
// becomes of accepted ones is in testdata/calls/accepted.txt.)
func TestAcceptedAndRedisIsSilent(t *testing.T) {
	in := labtest.Instance(t, backend.SQL, backend.RowLocks, backend.Redis)
	migrate(t, in)
	s := serverWith(t, nil, httpapi.Config{Instance: in})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":5}`).want(t, "reset", http.StatusOK, "")
	ask(t, s, "POST", "/api/v1/seckill?strategy=redis-stream", purchase(1, 1), "Prefer: respond-async", key).want(t, "buying", http.StatusAccepted, "")
	labtest.Must(t, in.Redis.Close())
	var look struct{ Request struct{ Status string } }
	if ask(t, s, "GET", "/api/v1/orders?user_id=1&request_id=one-purchase", "").into(t, &look); look.Request.Status != "unknown" {
		t.Errorf("the look-up says %+v, want unknown", look)
	}
}
