package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"seckill/internal/httpapi"
	"seckill/internal/judge"
	"seckill/internal/seckill"
)

const (
	moreKey = "Idempotency-Key: more"
	more    = `{"units":50}`
)

func TestRestockAddsUnitsOnce(t *testing.T) {
	s := serverWith(t, nil, httpapi.Config{})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":1}`)
	ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1))
	type answer struct {
		Units, Initial int64
		Strategy       string
	}
	for try := range 2 {
		r := ask(t, s, "POST", "/api/v1/skus/1/restock?strategy=version", more, moreKey)
		var got answer
		if r.into(t, &got); got != (answer{50, 51, "version"}) || (r.header.Get("Idempotency-Replayed") == "true") != (try > 0) {
			t.Errorf("call %d was answered %+v, replayed: %q", try+1, got, r.header.Get("Idempotency-Replayed"))
		}
	}
	var report judge.Report
	ask(t, s, "POST", "/api/v1/seckill?strategy=version", purchase(2, 50))
	ask(t, s, "GET", "/api/v1/audit?sku_id=1", "").into(t, &report)
	if report.Verdict != judge.Held || report.Initial != 51 || report.Restocked != 50 || report.Sold != 51 || report.Cancelled != 0 {
		t.Errorf("the audit says %+v, want 51 units sold, 50 of them added", report)
	}
	var list orders
	if ask(t, s, "GET", "/api/v1/orders?sku_id=1", "").into(t, &list); len(list.Orders) != 2 {
		t.Errorf("the orders are %+v, want those of the two buyers", list.Orders)
	}
}

func TestRestockRefuses(t *testing.T) {
	f := sells()
	s := serverWith(t, f, httpapi.Config{})
	for _, c := range []struct {
		what, path, body string
		headers          []string
		status           int
		code             string
	}{
		{"without a key", "1/restock", more, nil, 400, "invalid"},
		{"of nothing", "1/restock", `{"units":0}`, []string{moreKey}, 400, "invalid"},
		{"of more than a sale can have", "1/restock", fmt.Sprintf(`{"units":%d}`, seckill.MaxStock), []string{moreKey}, 400, "invalid"},
		{"of a SKU that is not there", "99/restock", more, []string{moreKey}, 404, "unknown_sku"},
		{"by a stranger", "1/restock", more, []string{moreKey, "Authorization: Bearer x"}, 403, "forbidden"},
		{"by a strategy that is not there", "1/restock?strategy=none", more, []string{moreKey}, 404, "unknown_strategy"},
	} {
		ask(t, s, "POST", "/api/v1/skus/"+c.path, c.body, c.headers...).want(t, "a restock "+c.what, c.status, c.code)
	}
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{seckill.ErrBusy, 409, "in_progress"}, // the units are on record
		{errors.New("no answer"), 504, "unknown_outcome"},
		{seckill.ErrUnknownOrder, 409, "conflict"}, // a reset came between
	} {
		f.restore = func(context.Context, string) error { return c.err }
		ask(t, s, "POST", "/api/v1/skus/1/restock", more, moreKey).want(t, fmt.Sprintf("a restock during which %v", c.err), c.status, c.code)
	}
	ask(t, s, "POST", "/api/v1/skus/1/restock", `{"units":49}`, moreKey).want(t, "the same key for other units", 422, "idempotency_mismatch")
	var report judge.Report
	ask(t, s, "GET", "/api/v1/audit?sku_id=1", "").into(t, &report)
	if report.Verdict != judge.Held || report.Arriving != 50 || report.Remaining != 10 {
		t.Errorf("the audit says %+v, want 50 units on their way", report)
	}
}
