package httpapi_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/point"
	"seckill/internal/seckill"
)

// On the public listener only the token decides, because behind a reverse proxy every caller seems
// to be this machine. If the server has no token, no caller is admin there. The admin listener
// needs no token, and refuses all that a web site, a proxy or another machine can send. (What shows
// a proxy is in the tests of package labapi, whose page has the same guard.)
func TestWhoMayReset(t *testing.T) {
	in := embedded(t)
	s := serverWith(t, sells(), httpapi.Config{Instance: in, Token: "s3cret"})
	f := sells()
	tokenless := labtest.Value(httpapi.New(httpapi.Config{Instance: in, Settings: settings, Default: fakeName,
		Infos: []catalog.Info{f.info()}})).Must(t)
	public, private, none := s.Handler, s.AdminHandler, tokenless.Handler
	for i, c := range []struct {
		listener                 http.Handler
		what, peer, host, header string
		status                   int
	}{
		{public, "another machine with the token", elsewhere, "shop.example", "Authorization: Bearer s3cret", 200},
		{public, "another machine with a wrong token", elsewhere, "shop.example", "Authorization: Bearer s3creT", 403},
		{public, "the token by another scheme", here, "127.0.0.1", "Authorization: Basic s3cret", 403},
		{none, "an empty token where there is none", here, "127.0.0.1", "Authorization: Bearer ", 403},
		{private, "this machine", here, "127.0.0.1:9081", "", 200},
		{private, "IPv4 in IPv6", "[::ffff:127.0.0.1]:40000", "127.0.0.1", "", 200},
		{private, "its own page", here, "127.0.0.1:9081", "Origin: http://127.0.0.1:9081", 200},
		{private, "another machine", elsewhere, "127.0.0.1:9081", "", 403},
		{private, "a browser here, led by a foreign name", here, "evil.example:9081", "", 403},
		{private, "another site's page", here, "127.0.0.1:9081", "Origin: http://evil.example", 403},
		{private, "an image of another site", here, "127.0.0.1:9081", "Sec-Fetch-Site: cross-site", 403},
		{private, "a proxy", here, "127.0.0.1:9081", "X-Forwarded-For: 127.0.0.1", 403},
	} {
		sku := fmt.Sprintf("/api/v1/skus/%d", i+1)
		request := newRequest("PUT", sku, `{"stock":1}`, cmp.Or(c.header, "Authorization: "))
		request.RemoteAddr, request.Host = c.peer, c.host
		if !strings.HasPrefix(c.header, "Authorization") {
			request.Header.Del("Authorization")
		}
		r := handled(t, c.listener, request)
		if made := ask(t, s, "GET", sku, "").status; r.status != c.status || c.status == 403 &&
			(r.Code != "forbidden" || made != 404) {
			t.Errorf("%s: answered %d %s, want %d; the SKU is answered with %d", c.what, r.status, r.body,
				c.status, made)
		}
	}
}

func TestCheckAdminAddr(t *testing.T) {
	for addr, right := range map[string]bool{"127.0.0.1:0": true, "[::1]:9081": true, "0.0.0.0:0": false, ":0": false,
		"[::]:0": false, "192.0.2.1:0": false, "unix:/path": false, "9081": false, "example.com": false} {
		err := httpapi.CheckAdminAddr(addr)
		labtest.Same(t, err == nil, right, "%s may be the admin's address: %v", addr, err)
	}
}

const (
	moreKey = "Idempotency-Key: more"
	more    = `{"units":50}`
)

// If the second step of a restock fails, its units are neither left nor sold.
func TestRestockFails(t *testing.T) {
	f := sells()
	s := serverWith(t, f, httpapi.Config{})
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{seckill.ErrBusy, 409, "in_progress"}, // the first step has recorded the units
		{errors.New("no answer"), 504, "unknown_outcome"},
		{seckill.ErrUnknownOrder, 409, "conflict"}, // a reset came between the two steps
	} {
		f.restore = func(context.Context, string) error { return c.err }
		ask(t, s, "POST", "/api/v1/skus/1/restock", more, moreKey).want(t,
			fmt.Sprintf("a restock during which %v", c.err), c.status, c.code)
	}
	ask(t, s, "POST", "/api/v1/skus/1/restock", `{"units":49}`, moreKey).want(t, "the same key for other units", 422,
		"idempotency_mismatch")
	report := read[judge.Report](t, ask(t, s, "GET", "/api/v1/audit?sku_id=1", ""))
	if report.Verdict != judge.Held || report.Arriving != 50 || report.Remaining != 10 {
		t.Errorf("the audit says %+v, want 50 units on their way", report)
	}
}

// A purchase stops, is reported with the units left, and sells when it may continue. Only the
// operator may stop a purchase.
func TestAPurchaseIsCaught(t *testing.T) {
	points := &point.Points{}
	s := serverWith(t, nil, httpapi.Config{Points: points})
	ask(t, s, "GET", "/admin/v1/faults/state", "", "Authorization: Bearer guessed").want(t, "fault points for buyers",
		403, "forbidden")
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":5}`).want(t, "reset", 200, "")
	listener := httptest.NewServer(s.Handler)
	defer listener.Close()
	client := point.Client{URL: listener.URL, Token: adminToken}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	sold := make(chan int, 1)
	go func() {
		for points.Watch(ctx, catalog.Info{Name: "naive"}, seckill.Purchase{SKU: 1}) == ctx && ctx.Err() == nil { // no trap waits yet
			time.Sleep(time.Millisecond)
		}
		sold <- ask(t, s, "POST", "/api/v1/seckill?strategy=naive", good).status
	}()
	caught, letGo, err := client.Hold(ctx, point.Order{Point: point.BeforeWrite, Strategy: "naive", SKU: 1,
		For: 20_000})
	if err != nil || caught.Holder == nil || caught.Holder.User != 42 ||
		!strings.HasPrefix(caught.Holder.Command, "UPDATE stock") {
		t.Fatalf("caught %+v, %v", caught.Holder, err)
	}
	said, err := client.State(ctx, "naive", 1)
	if err != nil || said.InFlight != 1 || said.Left == nil || *said.Left != 5 {
		t.Errorf("meanwhile the process says %+v, %v", said, err)
	}
	labtest.Value(client.Cut(ctx)).Same(t, 0, "connections of SQLite that were cut")
	select {
	case status := <-sold:
		t.Fatalf("the purchase was not held, and ended with %d", status)
	default:
		letGo()
	}
	labtest.Same(t, <-sold, 200, "the purchase")
}

// A countedFake is a fake with a counter. Count says that it was asked, and waits for its answer.
type countedFake struct {
	*fake
	asked, answer chan bool
}

func (f countedFake) Count(ctx context.Context, _ int64) (int64, error) {
	f.asked <- true
	select {
	case <-f.answer:
	case <-ctx.Done():
	}
	return 10, nil
}

// Two audits run at the same time. A third one waits, and is told busy when its time is over.
func TestTwoAuditsAtATime(t *testing.T) {
	f := countedFake{sells(), make(chan bool, 3), make(chan bool)}
	info := f.info()
	info.Stock, info.New = seckill.InRedis, func(catalog.Deps) (seckill.Strategy, error) { return f, nil }
	s := serverWith(t, nil, httpapi.Config{Infos: []catalog.Info{info}, Default: fakeName})
	const audit = "/api/v1/audit?sku_id=1"
	var audits sync.WaitGroup
	for range 2 {
		audits.Go(func() { ask(t, s, "GET", audit, "").want(t, "one of two audits", 200, "") })
		<-f.asked
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	do(t, s, newRequest("GET", audit, "").WithContext(ctx)).want(t, "a third audit", 429, "busy")
	labtest.Same(t, len(f.asked), 0, "the audits beside two others that began")
	close(f.answer)
	audits.Wait()
}
