package httpapi_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
	"seckill/strategies/sqlrow"
)

const secret = "dial tcp 10.1.2.3:3306 as root with hunter2"

// Each error of the domain has one answer. No answer shows the errors that this error wraps.
func TestWhatErrorsComeTo(t *testing.T) {
	f := sells()
	s := serverWith(t, f, httpapi.Config{})
	for _, c := range []struct {
		err     error
		status  int
		code    string
		outcome judge.Outcome
	}{
		{seckill.ErrInvalid, 400, "invalid", judge.OutcomeError},
		{seckill.ErrUnknownSKU, 404, "unknown_sku", judge.OutcomeError},
		{seckill.ErrNotStarted, 409, "not_started", judge.OutcomeError},
		{seckill.ErrTooManyUnits, 409, "too_many_units", judge.OutcomeError},
		{seckill.ErrSoldOut, 409, "sold_out", judge.OutcomeSoldOut},
		{seckill.ErrDuplicate, 409, "duplicate", judge.OutcomeDuplicate},
		{seckill.ErrConflict, 409, "conflict", judge.OutcomeConflict},
		{seckill.ErrBusy, 429, "busy", judge.OutcomeBusy},
		{seckill.ErrUnavailable, 503, "backend_unavailable", judge.OutcomeError},
		{seckill.ErrUnknown, 504, "unknown_outcome", judge.OutcomeUnknown},
		{fmt.Errorf("%w: %w", seckill.ErrUnknown, seckill.ErrSoldOut), 504, "unknown_outcome", judge.OutcomeUnknown},
		{errors.New("an error of no kind"), 504, "unknown_outcome", judge.OutcomeUnknown},
		{context.DeadlineExceeded, 504, "unknown_outcome", judge.OutcomeUnknown},
	} {
		f.deduct = func(context.Context, seckill.Purchase) (seckill.Receipt, error) {
			return seckill.Receipt{}, fmt.Errorf("%w: %s", c.err, secret)
		}
		r := ask(t, s, "POST", "/api/v1/seckill", good)
		r.want(t, c.err.Error(), c.status, c.code)
		told := judge.CallOf(seckill.Purchase{}, seckill.Receipt{}, c.err)
		labtest.Same(t, told.Outcome, c.outcome, "%v: a buyer knows", c.err)
		if strings.Contains(string(r.body), "hunter2") {
			t.Errorf("%v: the answer shows what it wraps: %s", c.err, r.body)
		}
		after, _ := strconv.Atoi(r.header.Get("Retry-After"))
		if (after >= 1) != (c.code == "busy" || c.code == "not_started") {
			t.Errorf("%s: Retry-After is %q", c.code, r.header.Get("Retry-After"))
		}
	}
}

// record writes p's order into the ledger, like a strategy whose COMMIT succeeds and whose reply is lost.
func (f *fake) record(ctx context.Context, p seckill.Purchase) error {
	return f.ledger.Tx(ctx, func(tx *gorm.DB) error {
		_, err := f.ledger.Record(tx, p, ledger.AnyRun, 3)
		return err
	})
}

// The order in the ledger is the answer, even if the strategy does not know of it. An order under the same key for
// another SKU or another quantity says nothing about this purchase.
func TestUnknownOutcomeThatTheLedgerKnows(t *testing.T) {
	f := sells()
	s := serverWith(t, f, httpapi.Config{})
	for what, c := range map[string]struct {
		change func(*seckill.Purchase)
		status int
		code   string
	}{
		"of this purchase":    {func(*seckill.Purchase) {}, 200, ""},
		"of another SKU":      {func(p *seckill.Purchase) { p.SKU = 2 }, 504, "unknown_outcome"},
		"of another quantity": {func(p *seckill.Purchase) { p.Quantity = 2 }, 422, "idempotency_mismatch"},
	} {
		for sku := 1; sku <= 2; sku++ {
			ask(t, s, "PUT", fmt.Sprint("/api/v1/skus/", sku), `{"stock":4}`)
		}
		left, leave := context.WithCancel(t.Context())
		f.deduct = func(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
			c.change(&p)
			err := f.record(ctx, p)
			leave() // a caller who closed only the sending half reads the answer
			return seckill.Receipt{}, errors.Join(seckill.ErrUnknown, err)
		}
		r := do(t, s, newRequest("POST", "/api/v1/seckill", good, key).WithContext(left))
		if r.want(t, "an order "+what, c.status, c.code); c.status != http.StatusOK {
			continue
		}
		if got := read[sale](t, r); got.OrderID == "" || got.SKU != 1 || got.Quantity != 1 || got.Remaining != 3 ||
			got.Strategy != fakeName {
			t.Errorf("an order that is in the ledger was answered %+v", got)
		}
	}
}

func TestUnknownOutcomeThatTheLedgerDoesNotKnow(t *testing.T) {
	f := refuses(seckill.ErrUnknown)
	s := serverWith(t, f, httpapi.Config{})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":4}`)
	for _, headers := range [][]string{nil, {"Idempotency-Key: a&b"}, {"X-Request-Id: not-unique"}} {
		r := ask(t, s, "POST", "/api/v1/seckill", good, headers...)
		r.want(t, fmt.Sprint(headers), 504, "unknown_outcome")
		if strings.HasPrefix(r.RequestID, "not-unique") || slices.Equal(headers, []string{"Idempotency-Key: a&b"}) &&
			r.RequestID != "a&b" {
			t.Errorf("%v: the purchase is known as %q", headers, r.RequestID)
		}
		// The buyer looks up the unknown outcome at the path that the answer names.
		p := seckill.Purchase{SKU: 1, User: 42, Quantity: 1, RequestID: r.RequestID}
		labtest.Must(t, f.record(t.Context(), p))
		page := read[orders](t, ask(t, s, "GET", r.Ask, ""))
		if len(page.Orders) != 1 || page.Orders[0].RequestID != r.RequestID {
			t.Errorf("%v: %s shows %+v", headers, r.Ask, page.Orders)
		}
		// If the buyer repeats the request with that key, it is not sold twice.
		again := ask(t, s, "POST", "/api/v1/seckill", good, "Idempotency-Key: "+r.RequestID)
		again.want(t, fmt.Sprint(headers, ", sent again"), 200, "")
		ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":4}`)
	}
	// A copy meets the first call, which had no key.
	copied := seckill.Purchase{SKU: 1, User: 7, Quantity: 1, RequestID: rand.Text()}
	f.deduct = func(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
		labtest.Must(t, f.record(ctx, copied))
		return seckill.Receipt{}, seckill.ErrSoldOut
	}
	ask(t, s, "POST", "/api/v1/seckill", purchase(7, 1), "Idempotency-Key: "+copied.RequestID).want(t,
		"a copy whose request got the last unit meanwhile", 200, "")
	// The same key for another SKU is another request. If the ledger cannot be read, there may be an order.
	ask(t, s, "PUT", "/api/v1/skus/2", `{"stock":4}`)
	f.deduct = func(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
		p.SKU = 2
		labtest.Must(t, f.record(ctx, p))
		return seckill.Receipt{}, seckill.ErrDuplicate
	}
	ask(t, s, "POST", "/api/v1/seckill", purchase(8, 1), key).want(t, "the key of an order of another SKU", 409,
		"duplicate")
	unread := failsAfter(t.Context(), "COMMIT", errors.New("connection reset by peer"))
	do(t, s, newRequest("POST", "/api/v1/seckill", purchase(9, 1), key).WithContext(unread)).want(t,
		"a copy that cannot be looked up", 503, "backend_unavailable")
}

// The service reads the start of a sale before it calls the strategy. If it cannot read the start,
// the request may have an order from an earlier call. Then the refusal says that it concerns this
// call only, and where to look up the request.
func TestUnreadStartOfASale(t *testing.T) {
	in := embedded(t)
	s := serverWith(t, sells(), httpapi.Config{Instance: in})
	pool := labtest.Value(in.DB.DB()).Must(t)
	pool.SetMaxOpenConns(1)
	only, err := pool.Conn(t.Context()) // the read waits for this connection
	labtest.Must(t, err)
	defer only.Close()
	closed, end := context.WithCancel(t.Context())
	end()
	for header, asks := range map[string]bool{key: true, "X-Request-Id: mine": false} {
		r := do(t, s, newRequest("POST", "/api/v1/seckill", good, header).WithContext(closed))
		if (r.Ask != "") != asks || r.status != http.StatusServiceUnavailable && asks {
			t.Errorf("%s: %d %s", header, r.status, r.body)
		}
	}
}

func TestAPurchaseHasADeadline(t *testing.T) {
	f, _ := lingers(seckill.ErrBusy)
	s := serverWith(t, f, httpapi.Config{PurchaseTimeout: 2 * time.Second})
	ask(t, s, "POST", "/api/v1/seckill", good).want(t, "a purchase that takes too long", 429, "busy")
}

func TestPanicsAreAnsweredAndLogged(t *testing.T) {
	var log bytes.Buffer
	f := sells()
	f.deduct = func(_ context.Context, p seckill.Purchase) (seckill.Receipt, error) {
		if p.User == 13 {
			panic(secret)
		}
		return seckill.Receipt{OrderID: "o"}, nil
	}
	s := serverWith(t, f, httpapi.Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	r := ask(t, s, "POST", "/api/v1/seckill", purchase(13, 1), "X-Request-Id: my-id")
	r.want(t, "a panic", 500, "internal")
	if text := string(r.body); strings.Contains(text, "hunter2") || strings.Contains(text, "goroutine") ||
		r.RequestID != "my-id" {
		t.Errorf("the answer shows too much or has the wrong id: %s", text)
	}
	if text := log.String(); !strings.Contains(text, "hunter2") || !strings.Contains(text, "outcome_test.go") ||
		!strings.Contains(text, "my-id") {
		t.Errorf("the log lacks the panic, its stack or its id: %s", text)
	}
	ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1)).want(t, "the next buyer after a panic", 200, "")
	labtest.Same(t, metric(t, s, `seckill_requests_total{outcome="internal",strategy="fake"}`), 1, "internal outcomes")
	labtest.Same(t, metric(t, s, `seckill_purchases_in_flight`), 0, "purchases in flight")
}

func TestRequestIDs(t *testing.T) {
	s := serverWith(t, sells(), httpapi.Config{})
	made := map[string]bool{}
	// For "", the service makes an id.
	for given, want := range map[string]string{
		"abc-123": "abc-123", "é two words\x00": "twowords", strings.Repeat("y", 65): strings.Repeat("y", 64), "": "",
		"é": "",
	} {
		r := newRequest("GET", "/healthz", "")
		r.Header.Set("X-Request-Id", given)
		id := do(t, s, r).header.Get("X-Request-Id")
		if want != "" && id != want || want == "" && (made[id] || len(id) < 20) {
			t.Errorf("%q became %q, want %q", given, id, want)
		}
		made[id] = true
	}
}

func TestCancellingWhenItsOutcomeIsUnknown(t *testing.T) {
	f := sells()
	s := serverWith(t, f, httpapi.Config{})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":4}`)
	p := seckill.Purchase{SKU: 1, User: 42, Quantity: 1, RequestID: "r"}
	labtest.Must(t, f.record(t.Context(), p))
	o := labtest.Value(f.ledger.FindRequest(t.Context(), 1, 42, "r")).Must(t)
	f.restore = func(context.Context, string) error { return seckill.ErrUnknown }
	r := ask(t, s, "DELETE", "/api/v1/orders/"+o.PublicID, "")
	r.want(t, "nothing happened, or not yet", 504, "unknown_outcome")
	if page := read[orders](t, ask(t, s, "GET", r.Ask, "")); len(page.Orders) != 1 || page.Orders[0].PublicID != o.PublicID {
		t.Errorf("%s shows %+v", r.Ask, page.Orders)
	}
	// A cancellation that used up all its time is still reported, and not as busy.
	f.restore = func(ctx context.Context, id string) error {
		err := f.ledger.CancelOrder(ctx, id, func(*gorm.DB, judge.Order) error { return nil })
		<-ctx.Done()
		return err
	}
	short := serverWith(t, f, httpapi.Config{PurchaseTimeout: 2 * time.Second, Instance: s.Instance})
	got := read[judge.Order](t, ask(t, short, "DELETE", "/api/v1/orders/"+o.PublicID, ""))
	labtest.Same(t, got.Status, judge.Cancelled, "an order whose cancellation took long")
	f.restore = func(context.Context, string) error { return seckill.ErrBusy }
	ask(t, s, "DELETE", "/api/v1/orders/"+o.PublicID, "").want(t, "a lock that is held", 429, "busy")
}

// If one strategy cannot be reset, the others still sell. This strategy sells nothing until a reset
// reaches it, here or in another process.
func TestAResetThatDoesNotReachAStrategy(t *testing.T) {
	f := sells()
	s := serverWith(t, f, httpapi.Config{Infos: []catalog.Info{sqlrow.Conditional}})
	other := serverWith(t, f, httpapi.Config{Infos: []catalog.Info{sqlrow.Conditional}, Instance: s.Instance})
	for err, again := range map[error]*httpapi.Server{seckill.ErrBusy: s, seckill.ErrUnavailable: other,
		errors.New(secret): s} {
		f.reset = func(context.Context, int64, int64) error { return err }
		left, leave := context.WithCancel(t.Context())
		leave() // a caller who closed only the sending half reads the answer
		r := do(t, s, newRequest("PUT", "/api/v1/skus/1", `{"stock":4}`).WithContext(left))
		if r.status != 200 || !strings.Contains(string(r.body), `"not_reset":["fake"]`) ||
			strings.Contains(string(r.body), "hunter2") {
			t.Errorf("%v: %d %s", err, r.status, r.body)
		}
		r = ask(t, s, "POST", "/api/v1/seckill", good)
		r.want(t, "the strategy that was not reset", 503, "strategy_unavailable")
		labtest.Contains(t, r.Detail, "Reset the SKU again", "%v: the detail", err)
		ask(t, s, "POST", "/api/v1/seckill?strategy=conditional", good).want(t, "another strategy", 200, "")
		f.reset = nil
		ask(t, again, "PUT", "/api/v1/skus/1", `{"stock":4}`).want(t, "a reset", 200, "")
		ask(t, s, "POST", "/api/v1/seckill", good).want(t, "after a reset", 200, "")
	}
	var sku, stock int64
	f.reset = func(_ context.Context, id, n int64) error {
		sku, stock = id, n
		return nil
	}
	if r := ask(t, s, "PUT", "/api/v1/skus/6", `{"stock":4}`); r.status != 200 || sku != 6 || stock != 4 {
		t.Errorf("a reset told the strategy of SKU %d with %d units, want 6 and 4: %s", sku, stock, r.body)
	}
}

// Resets of one process take turns. So each strategy is reset to the stock that the ledger has.
func TestResetsTakeTurns(t *testing.T) {
	f := sells()
	s := serverWith(t, f, httpapi.Config{})
	f.reset = func(ctx context.Context, id, stock int64) error {
		is, err := f.ledger.SKU(ctx, id)
		if err == nil && is.Initial != stock {
			t.Errorf("the strategy is told of %d units while the ledger has %d", stock, is.Initial)
		}
		return err
	}
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			ask(t, s, "PUT", "/api/v1/skus/1", fmt.Sprintf(`{"stock":%d}`, n+1)).want(t, "a reset among others",
				http.StatusOK, "")
		})
	}
	all.Wait()
}

const (
	reserve = "/api/v1/reservations?strategy=reserve"
	held    = "/api/v1/reservations/"
)

type reservation struct {
	ID    string `json:"reservation_id"`
	State string `json:"state"`
}

// failsAfter returns a context in which every command fails with cause after the first one that begins with begins.
func failsAfter(ctx context.Context, begins string, cause error) context.Context {
	var over atomic.Bool
	return tap.With(ctx, &taptest.Tap{
		OnBefore: func(*tap.Command) error {
			if over.Load() {
				return cause
			}
			return nil
		},
		OnAfter: func(c *tap.Command, err error) error {
			if strings.HasPrefix(c.Text, begins) && err == nil {
				over.Store(true)
			}
			return err
		},
	})
}

// If a committed change cannot be read back, the answer must not be "nothing was taken".
func TestCommittedAndNotReadBack(t *testing.T) {
	in := onMySQL(t)
	s := serverWith(t, nil, httpapi.Config{Instance: in})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":10}`).want(t, "reset", 200, "")
	for n, cause := range []error{errors.New("connection reset by peer"), context.DeadlineExceeded} {
		for i, call := range []struct{ method, at, path, state string }{{"POST", held, "/pay", "paid"},
			{"DELETE", held, "", "cancelled"}, {"DELETE", "/api/v1/orders/", "", "cancelled"}} {
			body := fmt.Sprintf(`{"sku_id":1,"user_id":%d}`, 10*n+i+1)
			r := read[reservation](t, ask(t, s, "POST", reserve, body))
			req := newRequest(call.method, call.at+r.ID+call.path, "")
			got := do(t, s, req.WithContext(failsAfter(req.Context(), "COMMIT", cause)))
			now := read[reservation](t, ask(t, s, "GET", held+r.ID, ""))
			if now.State != call.state || got.status != 504 {
				t.Errorf("%s %s%s, then %v: answered %d %s %q, and it is %s", call.method, call.at, call.path, cause,
					got.status, got.Code, got.Detail, now.State)
			}
		}
	}
	req := newRequest("POST", reserve, `{"sku_id":1,"user_id":9}`, key)
	do(t, s, req.WithContext(failsAfter(req.Context(), "COMMIT", errors.New("connection reset by peer")))).want(t,
		"reserved, and not read back", 504, "unknown_outcome")
	req = newRequest("POST", "/api/v1/seckill?strategy=reserve", `{"sku_id":1,"user_id":9}`, key)
	do(t, s, req.WithContext(failsAfter(req.Context(), "SELECT * FROM orders FORCE",
		errors.New("connection reset by peer")))).want(t, "the key of a reservation that is not read", 504,
		"unknown_outcome")
	req = newRequest("PUT", "/api/v1/skus/1", `{"name":"x","stock":20}`)
	s = serverWith(t, sells(), httpapi.Config{Instance: in}) // the fake keeps nothing outside of the row
	got := do(t, s, req.WithContext(failsAfter(req.Context(), "COMMIT", context.DeadlineExceeded)))
	is := read[judge.Stock](t, ask(t, s, "GET", "/api/v1/skus/1", ""))
	if is.Initial != 20 || got.status != 504 || !strings.Contains(got.Detail, "was reset") {
		t.Errorf("a reset to 20: answered %d %s %q, and it is %d", got.status, got.Code, got.Detail, is.Initial)
	}
}

// While the COMMIT of an order is under way, a look-up must not say that there is none.
func TestLookUpDuringACommit(t *testing.T) {
	c := labtest.Config(t, backend.SQL, backend.RowLocks)
	c.RowLockWait = time.Second
	in := labtest.Open(t, c)
	migrate(t, in)
	s := serverWith(t, nil, httpapi.Config{Instance: in})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":10}`).want(t, "reset", 200, "")
	st := ledger.NewStore(in.DB).For("conditional")
	written, commit, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- st.Tx(context.Background(), func(tx *gorm.DB) error {
			_, err := st.Record(tx, seckill.Purchase{SKU: 1, User: 1, Quantity: 1, RequestID: "committing"},
				ledger.AnyRun, 9)
			close(written)
			<-commit
			return err
		})
	}()
	<-written
	during := lookUp(t, s, "committing&sku_id=1")
	close(commit)
	labtest.Must(t, <-done)
	if afterwards := lookUp(t, s, "committing&sku_id=1"); during.Status != "unknown" || afterwards.Status != "ordered" {
		t.Errorf("during the COMMIT %q, want unknown; afterwards %q", during.Status, afterwards.Status)
	}
}
