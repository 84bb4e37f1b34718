package httpapi_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/strategies/sqlrow"
)

// insist sends a request again while it is in progress.
func insist(t *testing.T, s *httpapi.Server, user int) (r reply) {
	labtest.Soon(t, "the request is decided", func() bool {
		r = ask(t, s, "POST", "/api/v1/seckill", purchase(user, 1), key)
		return r.Code != "in_progress"
	})
	return r
}

// The session that has a process's claims breaks in the middle of a purchase. What is
// refused then is not said to be: another copy may have got the order.
func TestARefusalWhoseClaimIsLost(t *testing.T) {
	begun, goOn := make(chan seckill.Purchase), make(chan error)
	f := sells()
	f.deduct = func(_ context.Context, p seckill.Purchase) (seckill.Receipt, error) {
		begun <- p
		return seckill.Receipt{}, <-goOn
	}
	in := labtest.Instance(t, backend.SQL, backend.RowLocks)
	migrate(t, in)
	s := serverWith(t, f, httpapi.Config{Instance: in})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":1}`)
	for _, refusal := range []error{seckill.ErrSoldOut, seckill.ErrDuplicate, seckill.ErrBusy, seckill.ErrConflict} {
		refused := make(chan reply)
		go func() { refused <- ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1), key) }()
		p, since := <-begun, time.Now()
		var session sql.NullInt64
		look := func() {
			labtest.Must(t, in.DB.Raw("SELECT IS_USED_LOCK(?)", p.Fence).Scan(&session).Error)
		}
		look()
		labtest.Must(t, in.DB.Exec(fmt.Sprintf("KILL %d", session.Int64)).Error)
		for session.Valid && t.Context().Err() == nil { // the server ends a session in its own time
			look()
		}
		worked := time.Since(since).Truncate(time.Microsecond)
		goOn <- refusal
		r := <-refused
		if r.want(t, refusal.Error()+", and the claim was lost", 409, "in_progress"); r.header.Get("Retry-After") != "1" {
			t.Errorf("a copy may ask again after %q s", r.header.Get("Retry-After"))
		}
		if says, _ := time.ParseDuration(strings.TrimPrefix(r.header.Get("Server-Timing"), "purchase;dur=") + "ms"); says < worked {
			t.Errorf("a purchase of %v says that it took %v", worked, says)
		}
	}
}

// A copy whose key cannot be looked up is not told busy: that would say that nothing
// was taken for it.
func TestACopyThatCannotClaimItsKey(t *testing.T) {
	in := labtest.Instance(t, backend.SQL, backend.RowLocks)
	migrate(t, in)
	infos := []catalog.Info{sqlrow.Conditional}
	hasty := serverWith(t, nil, httpapi.Config{Instance: in, Infos: infos, PurchaseTimeout: 300 * time.Millisecond})
	s := serverWith(t, nil, httpapi.Config{Instance: labtest.Instance(t, backend.SQL, backend.RowLocks), Infos: infos})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":5}`)
	var first, second sale
	ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1), key).into(t, &first)
	db, err := in.DB.DB()
	labtest.Must(t, err)
	session, err := db.Conn(t.Context())
	labtest.Must(t, err)
	defer session.Close()
	if _, err := session.ExecContext(t.Context(), "LOCK TABLES orders WRITE, stock READ"); err != nil {
		t.Fatal(err)
	}
	ask(t, hasty, "POST", "/api/v1/seckill", purchase(1, 1), key).want(t, "a copy that cannot be looked up", 503, "backend_unavailable")
	if _, err := session.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
		t.Fatal(err)
	}
	insist(t, s, 1).into(t, &second)
	if second != first {
		t.Errorf("the copy was answered %+v, the first %+v", second, first)
	}
}
