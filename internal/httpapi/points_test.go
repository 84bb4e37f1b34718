package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"seckill/internal/fault/point"
	"seckill/internal/httpapi"
)

// asked makes a call of h and returns its status and answer.
func asked(t *testing.T, h http.Handler, method, path, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(method, "http://127.0.0.1:1"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:999"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// Fault points are the admin listener's, and there only where they were asked
// for: elsewhere there is no such path.
func TestFaultPointsAreForAdmins(t *testing.T) {
	with := serverWith(t, nil, httpapi.Config{Points: &point.Points{}})
	without := serverWith(t, nil, httpapi.Config{})
	const path = "/admin/v1/faults/state"
	for name, c := range map[string]struct {
		handler http.Handler
		want    int
	}{
		"public": {with.Handler(), 404}, "admin": {with.AdminHandler(), 200}, "not asked for": {without.AdminHandler(), 404},
	} {
		if status, body := asked(t, c.handler, "GET", path, ""); status != c.want {
			t.Errorf("%s: %d %s, want %d", name, status, body, c.want)
		}
	}
}

func TestFaultPointsRefuseWhatIsWrong(t *testing.T) {
	h := serverWith(t, nil, httpapi.Config{Points: &point.Points{}}).AdminHandler()
	const points = "/admin/v1/faults/points"
	for _, c := range []struct {
		method, path, body string
		want               int
		says               string
	}{
		{"POST", points, `{"point":"somewhere","strategy":"naive"}`, 400, "before-commit"},
		{"POST", points, `{"point":"before-commit","strategy":"none"}`, 404, "conditional"},
		{"POST", points, `{"point":"before-commit","strategy":"naive","for_ms":60001}`, 400, "at most 60000"},
		{"POST", points, `{"point":"before-commit","strategy":"naive","how":"well"}`, 400, "for_ms"},
		{"POST", "/admin/v1/faults/clock", `{"ahead_ms":86400001}`, 400, "at most 86400000"},
		{"POST", "/admin/v1/faults/clock", `{"ahead_ms":-1}`, 400, "at least 0"},
		{"POST", "/admin/v1/faults/clock", `{}`, 400, "ahead_ms"},
		{"GET", points + "/7", "", 404, "no such trap"},
		{"DELETE", points + "/7", "", 404, "no such trap"},
		{"GET", points + "/7?wait_ms=99999", "", 400, "at most 10000"},
		{"GET", "/admin/v1/faults/state?strategy=naive&sku_id=77", "", 404, "unknown_sku"},
		{"POST", points, `{"point":"before-commit","strategy":"naive"}`, 201, `"state":"armed"`},
		{"DELETE", points + "/1", "", 200, `"state":"disarmed"`},
	} {
		if status, body := asked(t, h, c.method, c.path, c.body); status != c.want || !strings.Contains(body, c.says) {
			t.Errorf("%s %s %s: %d %s, want %d and %q", c.method, c.path, c.body, status, body, c.want, c.says)
		}
	}
}

// A purchase stops, is seen with what is left, and sells when it is let go.
func TestAPurchaseIsCaught(t *testing.T) {
	s := serverWith(t, nil, httpapi.Config{Points: &point.Points{}})
	h := s.AdminHandler()
	if status, body := asked(t, h, "PUT", "/api/v1/skus/1", `{"stock":5}`); status != 200 {
		t.Fatalf("reset: %d %s", status, body)
	}
	listener := httptest.NewServer(h)
	defer listener.Close()
	client := point.NewClient(strings.TrimPrefix(listener.URL, "http://"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	trap, err := client.Arm(ctx, point.Order{Point: point.BeforeWrite, Strategy: "naive", SKU: 1, For: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	sold := make(chan int, 1)
	go func() {
		status, _ := asked(t, s.Handler(), "POST", "/api/v1/seckill?strategy=naive", `{"sku_id":1,"user_id":42}`)
		sold <- status
	}()
	caught, err := client.Await(ctx, trap.ID, 10*time.Second)
	if err != nil || caught.State != point.Caught || caught.Holder.User != 42 || !strings.HasPrefix(caught.Holder.Command, "UPDATE stock") {
		t.Fatalf("caught %+v %+v, %v", caught, caught.Holder, err)
	}
	said, err := client.State(ctx, "naive", 1)
	if err != nil || said.InFlight != 1 || said.Left == nil || *said.Left != 5 {
		t.Errorf("meanwhile the process says %+v, %v", said, err)
	}
	if closed, err := client.Cut(ctx); err != nil || closed != 0 {
		t.Errorf("%d connections of SQLite were cut, %v", closed, err)
	}
	if now, err := client.Remove(ctx, trap.ID); err != nil || now.State != point.LetGo {
		t.Errorf("let go: %+v %v", now, err)
	}
	if status := <-sold; status != 200 {
		t.Errorf("the purchase ended with %d", status)
	}
}
