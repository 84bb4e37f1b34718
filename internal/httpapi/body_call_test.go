package httpapi_test

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
)

// What a call would ignore is refused: it takes no body, or {}.
func TestCallsWithoutABody(t *testing.T) {
	in := labtest.Instance(t, backend.SQL, backend.RowLocks)
	migrate(t, in)
	s := serverWith(t, nil, httpapi.Config{Instance: in})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":10}`).want(t, "reset", 200, "")
	var r reservation
	ask(t, s, "POST", reserve, `{"sku_id":1,"user_id":1}`).into(t, &r)
	for _, call := range []struct{ method, path string }{{"POST", held + r.ID + "/pay"}, {"DELETE", held + r.ID}, {"DELETE", "/api/v1/orders/" + r.ID}} {
		ask(t, s, call.method, call.path, "junk", "Content-Type: text/plain").want(t, call.path+" with a text", 415, "unsupported_media_type")
		ask(t, s, call.method, call.path, `{"x":1}`).want(t, call.path+" with a field", 400, "invalid")
	}
	ask(t, s, "POST", held+r.ID+"/pay", "{}").want(t, "pay", 200, "")
	ask(t, s, "DELETE", "/api/v1/orders/"+r.ID, "").want(t, "cancel", 200, "")
}

// HEAD is answered as GET, without the body; elsewhere it stays refused.
func TestHead(t *testing.T) {
	s := serve(t, nil, httpapi.Config{})
	for path, want := range map[string]int{"/healthz": 200, "/api/v1/skus": 200, "/api/v1/seckill": 405} {
		answer, err := http.Head(s.url + path)
		labtest.Must(t, err)
		body, err := io.ReadAll(answer.Body)
		labtest.Must(t, errors.Join(err, answer.Body.Close()))
		if answer.StatusCode != want || len(body) > 0 {
			t.Errorf("HEAD %s: %s with %q, want %d without a body", path, answer.Status, body, want)
		}
	}
}
