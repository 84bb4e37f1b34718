package httpapi_test

import (
	"testing"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
)

type reservation struct {
	ID        string        `json:"reservation_id"`
	SKU       int64         `json:"sku_id"`
	User      int64         `json:"user_id"`
	Quantity  int64         `json:"quantity"`
	Remaining int64         `json:"remaining"`
	Strategy  string        `json:"strategy"`
	State     string        `json:"state"`
	ExpiresAt ledger.Moment `json:"expires_at"`
	ExpiresIn int64         `json:"expires_in_ms"`
}

const (
	reserve = "/api/v1/reservations?strategy=reserve"
	desk    = "/api/v1/reservations/"
)

// passed has all deadlines be past.
func passed(t *testing.T, in *backend.Instance) {
	t.Helper()
	if err := in.DB.Exec("UPDATE reservations SET ends_at = UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE").Error; err != nil {
		t.Fatal(err)
	}
}

// Reservations from their beginning to each of their ends, as buyers see them.
func TestReservations(t *testing.T) {
	in := labtest.Instance(t, backend.SQL, backend.RowLocks)
	migrate(t, in)
	s := serverWith(t, nil, httpapi.Config{Instance: in})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":10}`).want(t, "reset", 200, "")
	stock := func(what string, want int64) {
		t.Helper()
		var row ledger.Stock
		if ask(t, s, "GET", "/api/v1/skus/1", "").into(t, &row); row.Num != want {
			t.Errorf("%s: %d are left, want %d", what, row.Num, want)
		}
	}
	state := func(what string, r reply, want string) (got reservation) {
		t.Helper()
		r.into(t, &got)
		if got.State != want {
			t.Errorf("%s: it is %+v, want %s", what, got, want)
		}
		return got
	}

	first := state("reserving", ask(t, s, "POST", reserve, `{"sku_id":1,"user_id":1,"quantity":3,"expires_in":60}`, "Idempotency-Key: k1"), "reserved")
	if first.SKU != 1 || first.User != 1 || first.Quantity != 3 || first.Remaining != 7 || first.Strategy != "reserve" ||
		first.ExpiresIn <= 0 || first.ExpiresIn > 60_000 || first.ExpiresAt == 0 {
		t.Errorf("reserving 3 of 10 gave %+v", first)
	}
	again := ask(t, s, "POST", reserve, `{"sku_id":1,"user_id":1,"quantity":3}`, "Idempotency-Key: k1")
	if copied := state("a copy", again, "reserved"); copied.ID != first.ID || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the same key gave %+v", copied)
	}
	ask(t, s, "POST", reserve, `{"sku_id":1,"user_id":1,"quantity":2}`, "Idempotency-Key: k1").want(t, "the key with another body", 422, "idempotency_mismatch")
	ask(t, s, "POST", "/api/v1/seckill?strategy=reserve", purchase(1, 3), "Idempotency-Key: k1").want(t, "the key as a purchase", 422, "idempotency_mismatch")
	ask(t, s, "POST", reserve, `{"sku_id":1,"user_id":1}`).want(t, "the same user again", 409, "duplicate")
	ask(t, s, "POST", reserve, `{"sku_id":1,"user_id":2,"quantity":8}`).want(t, "more than there are", 409, "sold_out")
	ask(t, s, "POST", reserve, `{"sku_id":9,"user_id":2}`).want(t, "another SKU", 404, "unknown_sku")
	stock("one reservation", 7)
	var list orders
	ask(t, s, "GET", "/api/v1/orders?user_id=1&request_id=k1", "").into(t, &list)
	if len(list.Orders) != 1 || list.Orders[0].PublicID != first.ID || list.Orders[0].Reservation == nil || list.Orders[0].Reservation.State != "reserved" {
		t.Errorf("its order is listed as %+v", list.Orders)
	}
	var report ledger.Report
	ask(t, s, "GET", "/api/v1/audit?sku_id=1", "").into(t, &report)
	if report.Verdict != ledger.Held || report.Reserved != 3 || report.Sold != 0 || report.Remaining != 7 {
		t.Errorf("the audit beside a reservation says %+v", report)
	}
	for range 2 {
		state("paying", ask(t, s, "POST", desk+first.ID+"/pay", ""), "paid")
	}
	state("looking", ask(t, s, "GET", desk+first.ID, ""), "paid")
	ask(t, s, "DELETE", desk+first.ID, "").want(t, "cancelling what is paid", 409, "paid")

	second := state("reserving", ask(t, s, "POST", reserve, `{"sku_id":1,"user_id":2,"quantity":2}`), "reserved")
	for range 2 {
		state("cancelling", ask(t, s, "DELETE", desk+second.ID, ""), "cancelled")
		stock("a cancelled one", 7)
	}
	ask(t, s, "POST", desk+second.ID+"/pay", "").want(t, "paying what is cancelled", 409, "cancelled")

	third := state("reserving", ask(t, s, "POST", reserve, `{"sku_id":1,"user_id":3}`, "Idempotency-Key: k3"), "reserved")
	passed(t, in)
	for range 2 {
		ask(t, s, "POST", desk+third.ID+"/pay", "").want(t, "paying late", 409, "expired")
		stock("an expired one", 7)
	}
	state("cancelling what has expired", ask(t, s, "DELETE", desk+third.ID, ""), "expired")
	state("the same key when it has expired", ask(t, s, "POST", reserve, `{"sku_id":1,"user_id":3}`, "Idempotency-Key: k3"), "expired")
	ask(t, s, "POST", "/api/v1/seckill?strategy=reserve", purchase(3, 1), "Idempotency-Key: k3").want(t, "buying by the key of what has expired", 409, "expired")

	var bought sale
	ask(t, s, "POST", "/api/v1/seckill?strategy=reserve", purchase(4, 1), "Idempotency-Key: k4").into(t, &bought)
	state("a purchase is paid at once", ask(t, s, "GET", desk+bought.OrderID, ""), "paid")
	var plain sale
	ask(t, s, "POST", "/api/v1/seckill", purchase(5, 1), "Idempotency-Key: k5").into(t, &plain)
	ask(t, s, "GET", desk+plain.OrderID, "").want(t, "an order that is no reservation", 404, "unknown_order")
	ask(t, s, "POST", reserve, `{"sku_id":1,"user_id":5}`, "Idempotency-Key: k5").want(t, "reserving by a purchase's key", 422, "idempotency_mismatch")
	report = ledger.Report{}
	ask(t, s, "GET", "/api/v1/audit?sku_id=1", "").into(t, &report)
	if report.Verdict != ledger.Held || report.Sold != 5 || report.Reserved != 0 || report.Expired != 1 || report.Cancelled != 1 {
		t.Errorf("the audit says %+v", report)
	}
	var o ledger.Order
	if ask(t, s, "DELETE", "/api/v1/orders/"+first.ID, "").into(t, &o); o.Status != ledger.Cancelled {
		t.Errorf("cancelling the order of a paid one gave %+v", o)
	}
	stock("a paid one cancelled", 8)
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":10}`).want(t, "reset", 200, "")
	ask(t, s, "POST", desk+first.ID+"/pay", "").want(t, "one of the sale before", 404, "unknown_order")
}

func TestReservationsThatCannotBe(t *testing.T) {
	s := serverWith(t, nil, httpapi.Config{}) // on SQLite
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":10}`).want(t, "reset", 200, "")
	const good = `{"sku_id":1,"user_id":1}`
	ask(t, s, "POST", "/api/v1/reservations", good).want(t, "by a strategy that sells at once", 400, "invalid")
	ask(t, s, "POST", reserve, good).want(t, "by one that cannot run here", 503, "strategy_unavailable")
	ask(t, s, "POST", "/api/v1/reservations?strategy=none", good).want(t, "by no strategy", 404, "unknown_strategy")
	for _, path := range []string{"x", "o0000", "%20"} {
		ask(t, s, "GET", desk+path, "").want(t, path, 404, "unknown_order")
		ask(t, s, "POST", desk+path+"/pay", "").want(t, path, 404, "unknown_order")
	}
	ask(t, s, "POST", desk+"x/pay?now=1", "").want(t, "an unknown parameter", 400, "invalid")
	ask(t, s, "PUT", desk+"x", "").want(t, "another method", 405, "method_not_allowed")

	in := labtest.Instance(t, backend.SQL, backend.RowLocks)
	migrate(t, in)
	s = serverWith(t, nil, httpapi.Config{Instance: in})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":10,"starts_at":"2099-01-01T00:00:00Z"}`).want(t, "reset", 200, "")
	ask(t, s, "POST", reserve, good).want(t, "before the start", 409, "not_started")
	for _, body := range []string{`{"sku_id":1,"user_id":1,"expires_in":0}`, `{"sku_id":1,"user_id":1,"expires_in":3601}`,
		`{"sku_id":1,"user_id":1,"expires_in":1.5}`, `{"sku_id":1,"user_id":1,"expires":5}`} {
		ask(t, s, "POST", reserve, body).want(t, body, 400, "invalid")
	}
}
