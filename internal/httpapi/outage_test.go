package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
)

// MySQL dies in the middle of a sale. No buyer is told sold out for that, the
// service sells again by itself when MySQL is back, and the ledger agrees with
// every answer.
func TestMySQLGoesAndComesBack(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	in := labtest.Instance(t, backend.SQL)
	mysql, err := labtest.Start(t, backend.SQL).Process(backend.NameMySQL)
	if err != nil {
		t.Skip("a MySQL that was given is not ours to kill")
	}
	migrate(t, in)
	s := serverWith(t, nil, httpapi.Config{Instance: in, PurchaseTimeout: 5 * time.Second})
	const stock = 1_000_000
	ask(t, s, "PUT", "/api/v1/skus/1", fmt.Sprintf(`{"stock":%d}`, stock))

	var (
		mu     sync.Mutex
		told   []ledger.Told
		counts = map[ledger.Outcome]int{}
	)
	buy := func(user int) ledger.Outcome {
		id := fmt.Sprint("request-", user)
		r := ask(t, s, "POST", "/api/v1/seckill", purchase(user, 1), "Idempotency-Key: "+id)
		was := ledger.Told{RequestID: id, User: int64(user), Quantity: 1, Outcome: ledger.OutcomeError}
		switch {
		case r.status == http.StatusOK:
			var got sale
			r.into(t, &got)
			was.Outcome, was.OrderID, was.Remaining = ledger.OutcomeSold, got.OrderID, got.Remaining
		case r.status == 504 && r.Code == "unknown_outcome":
			was.Outcome = ledger.OutcomeUnknown
		case r.status != 503 || r.Code != "backend_unavailable":
			t.Errorf("with MySQL down a buyer is answered %d %s", r.status, r.body)
		}
		mu.Lock()
		defer mu.Unlock()
		told = append(told, was)
		counts[was.Outcome]++
		return was.Outcome
	}
	const buyers = 8
	down := make(chan struct{}) // closed when everybody was refused once
	var warm, refused sync.WaitGroup
	warm.Add(buyers)
	refused.Add(buyers)
	var g errgroup.Group
	for b := range buyers {
		g.Go(func() error {
			was := ledger.OutcomeSold
			user := b + 1
			for n := 0; was == ledger.OutcomeSold && ctx.Err() == nil; user += buyers {
				was = buy(user)
				if n++; n == 20 {
					warm.Done()
				}
			}
			refused.Done()
			<-down
			for ; was != ledger.OutcomeSold && ctx.Err() == nil; user += buyers {
				was = buy(user)
			}
			return ctx.Err()
		})
	}
	warm.Wait()
	if err := mysql.Kill(ctx); err != nil {
		t.Fatal(err)
	}
	refused.Wait()
	var ready struct {
		Ready    bool
		Strategy string
		Backends []backend.Status
	}
	r := ask(t, s, "GET", "/readyz", "")
	if err := json.Unmarshal(r.body, &ready); err != nil || r.status != 503 || ready.Ready ||
		len(ready.Backends) != 1 || ready.Backends[0].OK || ready.Backends[0].Error == "" {
		t.Errorf("with MySQL down /readyz says %d %s", r.status, r.body)
	}
	if r := ask(t, s, "GET", "/healthz", ""); r.status != 200 {
		t.Errorf("with MySQL down the process says that it is not alive: %s", r.body)
	}
	ask(t, s, "GET", "/api/v1/orders", "").want(t, "reading with MySQL down", 503, "backend_unavailable")
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":1}`).want(t, "resetting with MySQL down", 503, "backend_unavailable")

	if err := mysql.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	close(down)
	if err := g.Wait(); err != nil {
		t.Fatalf("it does not sell again after MySQL is back: %v (%v)", err, counts)
	}
	for r = ask(t, s, "GET", "/readyz", ""); r.status != 200 && ctx.Err() == nil; r = ask(t, s, "GET", "/readyz", "") {
		time.Sleep(10 * time.Millisecond) // what it said is kept for a second
	}
	if r.into(t, &ready); !ready.Ready || ready.Strategy != "conditional" || !ready.Backends[0].OK ||
		ready.Backends[0].Name != "mysql" || ready.Backends[0].Version == "" || ready.Backends[0].Address == "" {
		t.Errorf("with MySQL back /readyz says %s", r.body)
	}
	snap, err := ledger.NewStore(in.DB).Snapshot(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	report := ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: stock, Told: told})
	if report.Verdict != ledger.Held || counts[ledger.OutcomeSold] == 0 {
		t.Errorf("%v were told; the audit says %+v", counts, report)
	}
	t.Logf("%v", counts)
}
