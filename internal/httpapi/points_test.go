package httpapi_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"seckill/internal/httpapi"
	"seckill/internal/point"
	"seckill/internal/seckill"
)

// A purchase stops, is seen with what is left, and sells when it is let go. Only the
// operator may stop one.
func TestAPurchaseIsCaught(t *testing.T) {
	points := &point.Points{}
	s := serverWith(t, nil, httpapi.Config{Points: points})
	ask(t, s, "GET", "/admin/v1/faults/state", "", "Authorization: Bearer guessed").want(t, "fault points for buyers", 403, "forbidden")
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":5}`).want(t, "reset", 200, "")
	listener := httptest.NewServer(s.Handler())
	defer listener.Close()
	client := point.Client{URL: listener.URL, Token: adminToken}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	sold := make(chan int, 1)
	go func() {
		for points.Watch(ctx, "naive", nil, seckill.Purchase{SKU: 1}) == ctx && ctx.Err() == nil { // no fault waits yet
			time.Sleep(time.Millisecond)
		}
		sold <- ask(t, s, "POST", "/api/v1/seckill?strategy=naive", good).status
	}()
	caught, letGo, err := client.Hold(ctx, point.Order{Point: point.BeforeWrite, Strategy: "naive", SKU: 1, For: 20_000})
	if err != nil || caught.Holder == nil || caught.Holder.User != 42 || !strings.HasPrefix(caught.Holder.Command, "UPDATE stock") {
		t.Fatalf("caught %+v, %v", caught.Holder, err)
	}
	said, err := client.State(ctx, "naive", 1)
	if err != nil || said.InFlight != 1 || said.Left == nil || *said.Left != 5 {
		t.Errorf("meanwhile the process says %+v, %v", said, err)
	}
	if closed, err := client.Cut(ctx); err != nil || closed != 0 {
		t.Errorf("%d connections of SQLite were cut, %v", closed, err)
	}
	select {
	case status := <-sold:
		t.Fatalf("the purchase was not held, and ended with %d", status)
	default:
		letGo()
	}
	if status := <-sold; status != 200 {
		t.Errorf("the purchase ended with %d", status)
	}
}
