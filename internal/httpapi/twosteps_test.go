package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// The reply to the script that accepts is lost: what the ledger has for the key is the
// answer. A reservation of it is not sold before it is paid, and an order that this
// call may have made is not called a replay.
func TestAcceptedAndTheReplyIsLost(t *testing.T) {
	in := labtest.Instance(t, backend.SQL, backend.RowLocks, backend.Redis)
	migrate(t, in)
	s := serverWith(t, nil, httpapi.Config{Instance: in})
	other := serverWith(t, nil, httpapi.Config{Instance: in})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":5}`).want(t, "reset", http.StatusOK, "")
	accept := func(user int, before func()) reply {
		lost := false
		ctx := tap.With(t.Context(), &taptest.Tap{OnAfter: func(c *tap.Command, err error) error {
			if c.Backend != tap.Redis || lost {
				return err
			}
			lost = true
			before()
			return taptest.ErrLostReply
		}})
		return do(t, s, newRequest("POST", "/api/v1/seckill?strategy=redis-stream", purchase(user, 1), "Prefer: respond-async", key).WithContext(ctx))
	}
	reserve := func() {
		ask(t, other, "POST", "/api/v1/reservations?strategy=reserve", purchase(1, 1), key).want(t, "reserving", http.StatusOK, "")
	}
	accept(1, reserve).want(t, "the key of a reservation", http.StatusUnprocessableEntity, "idempotency_mismatch")
	r := accept(2, func() {
		ask(t, other, "POST", "/api/v1/seckill?strategy=redis-stream", purchase(2, 1), key).want(t, "a copy that waits", http.StatusOK, "")
	})
	if r.want(t, "its own order", http.StatusOK, ""); r.header.Get("Idempotency-Replayed") != "" {
		t.Error("an order that the call may have made is called a replay")
	}
}

// As long as Redis does not answer, it is not known what became of a request, and the
// process is alive and not ready. (What becomes of accepted ones is in
// testdata/calls/accepted.txt.)
func TestRedisIsSilent(t *testing.T) {
	in := labtest.Instance(t, backend.SQL, backend.RowLocks, backend.Redis)
	migrate(t, in)
	s := serverWith(t, nil, httpapi.Config{Instance: in})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":5}`).want(t, "reset", http.StatusOK, "")
	ask(t, s, "POST", "/api/v1/seckill?strategy=redis-stream", purchase(1, 1), "Prefer: respond-async", key).want(t, "buying", http.StatusAccepted, "")
	ask(t, s, "GET", "/readyz", "").want(t, "being ready", http.StatusOK, "")
	labtest.Must(t, in.Redis.Close())
	var look struct{ Request struct{ Status string } }
	if ask(t, s, "GET", "/api/v1/orders?user_id=1&request_id=one-purchase", "").into(t, &look); look.Request.Status != "unknown" {
		t.Errorf("the look-up says %+v, want unknown", look)
	}
	var ready struct {
		Ready    bool
		Backends []backend.Status
	}
	r := ask(t, s, "GET", "/readyz", "")
	if err := json.Unmarshal(r.body, &ready); err != nil || r.status != http.StatusServiceUnavailable || ready.Ready ||
		len(ready.Backends) != 2 || !ready.Backends[0].OK || ready.Backends[1].OK || ready.Backends[1].Error == "" {
		t.Errorf("without Redis it is told %d %s (%v)", r.status, r.body, err)
	}
	ask(t, s, "GET", "/healthz", "").want(t, "being alive without Redis", http.StatusOK, "")
}

// accepts is a strategy that says of every request what it is told to.
type accepts struct {
	*fake
	became error
}

func (a *accepts) Became(context.Context, int64, int64, string) error { return a.became }

// Accept is sold out when another strategy has written the order.
func (a *accepts) Accept(ctx context.Context, p seckill.Purchase) (r seckill.Receipt, written bool, err error) {
	return r, false, errors.Join(seckill.ErrSoldOut, a.record(ctx, p))
}

// An accepted request is refused by the database's word on it. That it cannot be asked, or
// was busy, is no such word.
func TestWhatBecameOfARequest(t *testing.T) {
	a := &accepts{fake: sells()}
	info := a.info()
	info.New = func(d catalog.Deps) (seckill.Strategy, error) { a.ledger = d.Ledger; return a, nil }
	s := serverWith(t, nil, httpapi.Config{Infos: []catalog.Info{info}, Default: fakeName})
	ask(t, s, "POST", "/api/v1/seckill", purchase(2, 1), "Prefer: respond-async", key).want(t, "sold out, and the key has an order", http.StatusOK, "")
	for err, want := range map[error]string{seckill.ErrPending: "pending", seckill.ErrUnknownOrder: "none",
		seckill.ErrSoldOut: "refused", seckill.ErrDuplicate: "refused",
		seckill.ErrBusy: "unknown", seckill.ErrConflict: "unknown", seckill.ErrUnavailable: "unknown", seckill.ErrUnknown: "unknown"} {
		a.became = err
		var look struct{ Request struct{ Status string } }
		if ask(t, s, "GET", "/api/v1/orders?user_id=1&request_id=r", "").into(t, &look); look.Request.Status != want {
			t.Errorf("%v: the look-up says %q, want %q", err, look.Request.Status, want)
		}
	}
}
