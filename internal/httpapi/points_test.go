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
		if r := handled(t, c.handler, newRequest("GET", path, "")); r.status != c.want {
			t.Errorf("%s: %d %s, want %d", name, r.status, r.body, c.want)
		}
	}
}

// A purchase stops, is seen with what is left, and sells when it is let go.
func TestAPurchaseIsCaught(t *testing.T) {
	s := serverWith(t, nil, httpapi.Config{Points: &point.Points{}})
	h := s.AdminHandler()
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":5}`).want(t, "reset", 200, "")
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
	go func() { sold <- ask(t, s, "POST", "/api/v1/seckill?strategy=naive", good).status }()
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
