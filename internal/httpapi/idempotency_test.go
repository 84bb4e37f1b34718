package httpapi_test

import (
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
)

const key = "Idempotency-Key: one-purchase"

// pause is what a buyer who is told to try again waits. A crowd that does not
// wait takes the processor from the one they wait for.
const pause = 20 * time.Millisecond

func TestIdempotencyKeys(t *testing.T) {
	in := labtest.Instance(t, backend.SQL, backend.RowLocks)
	migrate(t, in)
	s := serverWith(t, nil, httpapi.Config{Instance: in})
	const buy = "/api/v1/seckill"
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":5}`)
	ask(t, s, "PUT", "/api/v1/skus/2", `{"stock":5}`)

	ask(t, s, "POST", buy, purchase(1, 9), key).want(t, "more than there are", 409, "sold_out")
	var first, again, other sale
	ask(t, s, "POST", buy, purchase(1, 2), key).into(t, &first) // the refused request left nothing behind
	r := ask(t, s, "POST", buy+"?strategy=for-update", ` { "quantity":2, "user_id":1, "sku_id":1 } `, key)
	if r.into(t, &again); again != first || r.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the same request got %+v, then %+v (replayed %q)", first, again, r.header.Get("Idempotency-Replayed"))
	}
	ask(t, s, "POST", buy, purchase(1, 1), key).want(t, "another quantity", 422, "idempotency_mismatch")
	ask(t, s, "POST", buy, `{"sku_id":2,"user_id":1,"quantity":2}`, key).want(t, "another SKU", 422, "idempotency_mismatch")
	ask(t, s, "POST", buy, purchase(1, 2), "Idempotency-Key: another").want(t, "another key", 409, "duplicate")
	ask(t, s, "POST", buy, purchase(1, 2), "Idempotency-Key: ONE-PURCHASE").want(t, "a key in capitals", 409, "duplicate")
	r = ask(t, s, "POST", buy, purchase(2, 2), key)
	if r.into(t, &other); other.OrderID == first.OrderID || r.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("another user's key is not his own: %+v", other)
	}
	ask(t, s, "DELETE", "/api/v1/orders/"+first.OrderID, "")
	ask(t, s, "POST", buy, purchase(1, 2), key).into(t, &again)
	if again != first {
		t.Errorf("after cancelling, the same request got %+v, want the answer it had: %+v", again, first)
	}
}
