package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

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
