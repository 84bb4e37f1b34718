package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
	"seckill/strategies/sqlrow"
)

const another = "Idempotency-Key: another-purchase"

type outcome struct {
	Status, Code string
	RefusedAt    time.Time `json:"refused_at"`
}

// lookUp asks what became of a request of user 1.
func lookUp(t *testing.T, s *httpapi.Server, key string) outcome {
	t.Helper()
	return read[struct{ Request outcome }](t, ask(t, s, "GET", "/api/v1/orders?user_id=1&request_id="+key, "")).Request
}

// sold_out and duplicate are final for a key, even if the strategy would sell to the next copy.
// After any other refusal the same key may still buy.
func TestWhichRefusalsAreFinal(t *testing.T) {
	for _, c := range []struct {
		err   error
		code  string
		final bool
	}{
		{seckill.ErrSoldOut, "sold_out", true}, {seckill.ErrDuplicate, "duplicate", true},
		{seckill.ErrBusy, "busy", false}, {seckill.ErrConflict, "conflict", false},
		{seckill.ErrUnavailable, "backend_unavailable", false}, {seckill.ErrNotStarted, "not_started", false},
		{seckill.ErrTooManyUnits, "too_many_units", false}, {errors.New("lost"), "unknown_outcome", false},
	} {
		f := sells()
		says := c.err
		f.deduct = func(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
			if says != nil {
				return seckill.Receipt{}, says
			}
			return f.ledger.RecordAlone(ctx, p, ledger.AnyRun, 7)
		}
		s := serverWith(t, f, httpapi.Config{})
		first := ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1), key)
		if first.Code != c.code || strings.Contains(first.Detail, "an earlier call") == c.final &&
			c.code != "not_started" && c.code != "too_many_units" && c.code != "unknown_outcome" {
			t.Errorf("%v: answered %s %q, want %s, and of earlier calls unless it is final", c.err, first.Code,
				first.Detail, c.code)
		}
		says = nil
		if again := ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1), key); (again.Code == c.code) != c.final ||
			(again.status == 200) == c.final {
			t.Errorf("%v, and the same key again: %d %s", c.err, again.status, again.body)
		}
		if now := lookUp(t, s, "one-purchase"); c.final != (now.Status == "refused" && now.Code == c.code &&
			!now.RefusedAt.IsZero()) {
			t.Errorf("%v: the look-up says %+v", c.err, now)
		}
		if c.final {
			ask(t, s, "POST", "/api/v1/seckill", purchase(1, 2), key).want(t, "the refused key for another quantity",
				422, "idempotency_mismatch")
		}
		ask(t, s, "POST", "/api/v1/seckill", purchase(2, 1), another).want(t, c.code+", and another key", 200, "")
	}
}

// A process works on only one copy of a request at a time.
func TestACopyInTheSameProcess(t *testing.T) {
	begun, goOn := make(chan bool), make(chan bool)
	f := sells()
	sell := f.deduct
	f.deduct = func(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
		begun <- true
		<-goOn
		return sell(ctx, p)
	}
	s := serverWith(t, f, httpapi.Config{})
	first := make(chan reply)
	go func() { first <- ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1), key) }()
	<-begun
	if r := ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1), key); r.Code != "in_progress" ||
		r.header.Get("Retry-After") != "1" {
		t.Errorf("a copy meanwhile: %d %s, Retry-After %q", r.status, r.body, r.header.Get("Retry-After"))
	}
	go func() { first <- ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1), another) }()
	<-begun
	close(goOn)
	for range 2 {
		r := <-first
		r.want(t, "a request with a key of its own", 200, "")
	}
}

// process returns a service process that sells with conditional on the shared MySQL.
func process(t *testing.T, timeout time.Duration) *httpapi.Server {
	t.Helper()
	return serverWith(t, nil, httpapi.Config{Instance: onMySQL(t), Infos: []catalog.Info{sqlrow.Conditional},
		PurchaseTimeout: timeout})
}

// A copy in another process gets the first copy's answer, whatever result its own strategy returns.
func TestACopyInAnotherProcess(t *testing.T) {
	s := process(t, 0)
	for _, refusal := range []error{seckill.ErrSoldOut, seckill.ErrDuplicate, seckill.ErrBusy, seckill.ErrConflict,
		seckill.ErrUnavailable} {
		there := serverWith(t, refuses(refusal), httpapi.Config{Instance: onMySQL(t)})
		ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":1}`)
		first := read[sale](t, ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1), key))
		r := ask(t, there, "POST", "/api/v1/seckill", purchase(1, 1), key)
		if second := read[sale](t, r); second != first || r.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%v: the copy was answered %s, the first %+v", refusal, r.body, first)
		}
		ask(t, s, "POST", "/api/v1/seckill", purchase(2, 1), key).want(t, "another buyer", 409, "sold_out")
		if errors.Is(refusal, seckill.ErrSoldOut) || errors.Is(refusal, seckill.ErrDuplicate) {
			ask(t, there, "POST", "/api/v1/seckill", purchase(2, 1), key).want(t, "their copy", 409, "sold_out")
		}
	}
}

// A process that does not know of a reset must not write a refusal into the new run.
func TestARefusalAfterAResetElsewhere(t *testing.T) {
	s, other := process(t, 0), process(t, 0)
	for stock := range 3 {
		ask(t, other, "PUT", "/api/v1/skus/1", fmt.Sprintf(`{"stock":%d}`, stock))
		ask(t, s, "POST", "/api/v1/seckill", purchase(1, stock+1), key).want(t, "more than there are", 409, "sold_out")
		labtest.Same(t, lookUp(t, s, "one-purchase").Code, "sold_out", "sale %d: the look-up", stock)
	}
}

// If the answer of a request cannot be read, its copy must not be told busy or sold out. That would
// say that nothing was taken for the request.
func TestACopyWhoseAnswerCannotBeRead(t *testing.T) {
	s, hasty := process(t, 0), process(t, 300*time.Millisecond)
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":5}`)
	first := read[sale](t, ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1), key))
	labtest.Must(t, s.Instance.DB.Connection(func(session *gorm.DB) error {
		labtest.Must(t, session.Exec("LOCK TABLES orders WRITE, stock READ").Error)
		ask(t, hasty, "POST", "/api/v1/seckill", purchase(1, 1), key).want(t, "a copy that cannot be looked up", 503,
			"backend_unavailable")
		return session.Exec("UNLOCK TABLES").Error
	}))
	second := read[sale](t, ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1), key))
	labtest.Same(t, second, first, "the copy was answered")
}

// The reply to the script that accepts is lost. Then the answer is what the ledger has for the key. A reservation is
// not answered as sold before it is paid, and an order that this call may have made is not called a replay.
func TestAcceptedAndTheReplyIsLost(t *testing.T) {
	in := onMySQL(t, backend.Redis)
	s := serverWith(t, nil, httpapi.Config{Instance: in})
	other := serverWith(t, nil, httpapi.Config{Instance: in})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":5}`).want(t, "reset", http.StatusOK, "")
	accept := func(user int, before func()) reply {
		lost := false
		ctx := taptest.LoseReplies(t.Context(), func(c *tap.Command) bool {
			if c.Backend != tap.Redis || lost {
				return false
			}
			lost = true
			before()
			return true
		})
		return do(t, s, newRequest("POST", "/api/v1/seckill?strategy=redis-stream", purchase(user, 1),
			"Prefer: respond-async", key).WithContext(ctx))
	}
	reserve := func() {
		ask(t, other, "POST", "/api/v1/reservations?strategy=reserve", purchase(1, 1), key).want(t, "reserving",
			http.StatusOK, "")
	}
	accept(1, reserve).want(t, "the key of a reservation", http.StatusUnprocessableEntity, "idempotency_mismatch")
	r := accept(2, func() {
		ask(t, other, "POST", "/api/v1/seckill?strategy=redis-stream", purchase(2, 1), key).want(t, "a copy that waits",
			http.StatusOK, "")
	})
	r.want(t, "its own order", http.StatusOK, "")
	labtest.Same(t, r.header.Get("Idempotency-Replayed"), "", "an order that the call may have made is a replay")
}

// While Redis does not answer, the outcome of a request is unknown. The process is then alive,
// but not ready. (testdata/calls/accepted.txt shows what becomes of accepted requests.)
func TestRedisIsSilent(t *testing.T) {
	in := onMySQL(t, backend.Redis)
	s := serverWith(t, nil, httpapi.Config{Instance: in})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":5}`).want(t, "reset", http.StatusOK, "")
	ask(t, s, "POST", "/api/v1/seckill?strategy=redis-stream", purchase(1, 1), "Prefer: respond-async", key).want(t,
		"buying", http.StatusAccepted, "")
	ask(t, s, "GET", "/readyz", "").want(t, "being ready", http.StatusOK, "")
	labtest.Must(t, in.Redis.Close())
	labtest.Same(t, lookUp(t, s, "one-purchase").Status, "unknown", "the look-up")
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

// accepts is a strategy whose answers about a request the test sets.
type accepts struct {
	*fake
	became error
}

func (a *accepts) Became(context.Context, int64, int64, string) error { return a.became }

// Accept returns ErrSoldOut if another strategy has written the order.
func (a *accepts) Accept(ctx context.Context, p seckill.Purchase) (r seckill.Receipt, written bool, err error) {
	return r, false, errors.Join(seckill.ErrSoldOut, a.record(ctx, p))
}

// Only the database's own answer refuses an accepted request. A database that is busy or cannot be
// asked has not refused it.
func TestWhatBecameOfARequest(t *testing.T) {
	a := &accepts{fake: sells()}
	info := a.info()
	info.New = func(d catalog.Deps) (seckill.Strategy, error) { a.ledger = d.Ledger; return a, nil }
	s := serverWith(t, nil, httpapi.Config{Infos: []catalog.Info{info}, Default: fakeName})
	ask(t, s, "POST", "/api/v1/seckill", purchase(2, 1), "Prefer: respond-async", key).want(t,
		"sold out, and the key has an order", http.StatusOK, "")
	for err, want := range map[error]string{seckill.ErrPending: "pending", seckill.ErrUnknownOrder: "none",
		seckill.ErrSoldOut: "refused", seckill.ErrDuplicate: "refused", seckill.ErrBusy: "unknown",
		seckill.ErrConflict: "unknown", seckill.ErrUnavailable: "unknown", seckill.ErrUnknown: "unknown"} {
		a.became = err
		labtest.Same(t, lookUp(t, s, "r").Status, want, "%v: the look-up", err)
	}
}
