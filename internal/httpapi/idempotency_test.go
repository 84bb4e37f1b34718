package httpapi_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

// onSQL is a server with the strategies that need SQL only, on a real one.
func onSQL(t testing.TB) (*httpapi.Server, []string) {
	t.Helper()
	in := labtest.Instance(t, backend.SQL, backend.RowLocks)
	migrate(t, in)
	var names []string
	for _, info := range strategies.All() {
		if info.Missing(in) == nil {
			names = append(names, info.Name)
		}
	}
	return serverWith(t, nil, httpapi.Config{Instance: in}), names
}

const key = "Idempotency-Key: one-purchase"

// pause is what a buyer who is told to try again waits. A crowd that does not
// wait takes the processor from the one they wait for.
const pause = 20 * time.Millisecond

func TestTheSameRequestAtOnce(t *testing.T) {
	s, names := onSQL(t)
	for _, name := range names {
		ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":100}`)
		replies := make([]reply, 32)
		var g errgroup.Group
		for i := range replies {
			g.Go(func() error {
				for replies[i].status == 0 || replies[i].Code == "in_progress" || replies[i].Code == "busy" { // which for-update-nowait is at once
					if replies[i].status != 0 {
						time.Sleep(pause)
					}
					replies[i] = ask(t, s, "POST", "/api/v1/seckill?strategy="+name, purchase(42, 3), key)
				}
				return nil
			})
		}
		_ = g.Wait()
		firsts := 0
		for _, r := range replies {
			if r.header.Get("Idempotency-Replayed") == "" {
				firsts++
			}
			if r.status != http.StatusOK || string(r.body) != string(replies[0].body) {
				t.Errorf("%s: two answers to one request: %d %s and %s", name, r.status, r.body, replies[0].body)
			}
		}
		if firsts != 1 {
			t.Errorf("%s: %d of 32 are answered as the first, want 1", name, firsts)
		}
		var page orders
		ask(t, s, "GET", "/api/v1/orders?sku_id=1", "").into(t, &page)
		if len(page.Orders) != 1 || page.Orders[0].Quantity != 3 {
			t.Errorf("%s: the ledger has %+v, want one order", name, page.Orders)
		}
	}
}

func TestIdempotencyKeys(t *testing.T) {
	s, names := onSQL(t)
	if !slices.Contains(names, "for-update") {
		t.Fatalf("only %v run here", names)
	}
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
