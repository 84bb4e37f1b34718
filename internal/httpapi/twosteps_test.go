package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/ledger"
	"seckill/strategies"
)

// A promised sale is one of redis-stream by two processes. Neither writes what
// it has accepted before it serves.
type promised struct {
	t       *testing.T
	servers [2]*httpapi.Server
	ins     [2]*backend.Instance
}

func promise(t *testing.T, stock int) *promised {
	t.Helper()
	var infos []catalog.Info
	for _, i := range strategies.All() {
		if i.Name == "redis-stream" || i.Name == "conditional" {
			infos = append([]catalog.Info{i}, infos...)
		}
	}
	p := &promised{t: t}
	p.servers, p.ins = twoProcesses(t, infos, backend.SQL, backend.RowLocks, backend.Redis)
	p.reset(stock)
	return p
}

func (p *promised) reset(stock int) {
	p.t.Helper()
	if r := ask(p.t, p.servers[0], "PUT", "/api/v1/skus/1", fmt.Sprintf(`{"stock":%d}`, stock)); r.status != http.StatusOK {
		p.t.Fatalf("the reset was answered %d %s", r.status, r.body)
	}
}

func keyOf(user int) string { return fmt.Sprintf("Idempotency-Key: key-%d", user) }

const prefers = "Prefer: wait=5, Respond-Async"

func (p *promised) buy(process, user, quantity int, headers ...string) reply {
	p.t.Helper()
	return ask(p.t, p.servers[process], "POST", "/api/v1/seckill?strategy=redis-stream", purchase(user, quantity), append(headers, keyOf(user))...)
}

func (p *promised) accept(process, user, quantity int) {
	p.t.Helper()
	if r := p.buy(process, user, quantity, prefers); r.status != http.StatusAccepted {
		p.t.Fatalf("user %d: answered %d %s, want 202", user, r.status, r.body)
	}
}

// A look is what a look-up says.
type look struct {
	Orders  []ledger.Order
	Request struct{ Status, Code, Detail string }
}

func (p *promised) look(process, user int) (l look) {
	p.t.Helper()
	ask(p.t, p.servers[process], "GET", fmt.Sprintf("/api/v1/orders?user_id=%d&request_id=key-%d", user, user), "").into(p.t, &l)
	return l
}

func (p *promised) wantStatus(process, user int, want, code string) look {
	p.t.Helper()
	l := p.look(process, user)
	if l.Request.Status != want || l.Request.Code != code || (len(l.Orders) == 1) != (want == "ordered") {
		p.t.Errorf("the look-up of user %d says %+v, want %s %s", user, l, want, code)
	}
	return l
}

// final waits until the request is no longer pending.
func (p *promised) final(process, user int) look {
	p.t.Helper()
	for begun := time.Now(); ; {
		if l := p.look(process, user); l.Request.Status != "pending" {
			return l
		}
		if time.Since(begun) > time.Minute {
			p.t.Fatalf("the request of user %d stays pending", user)
		}
	}
}

// serve has a process write what was accepted.
func (p *promised) serve(process int) *running { return run(p.t, p.servers[process]) }

// forget has Redis lose the stream.
func (p *promised) forget(process int) {
	p.t.Helper()
	c := p.ins[process].Redis
	keys, err := c.Keys(p.t.Context(), "*seckill:stream:1*").Result()
	if err == nil {
		err = c.Del(p.t.Context(), keys...).Err()
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *promised) wantHeld() {
	p.t.Helper()
	var report ledger.Report
	if ask(p.t, p.servers[1], "GET", "/api/v1/audit?sku_id=1", "").into(p.t, &report); report.Verdict != ledger.Held {
		p.t.Errorf("the audit says %s: %+v", report.Verdict, report.Violations)
	}
}

func (p *promised) write(statement string, args ...any) {
	p.t.Helper()
	if err := p.ins[1].DB.Exec(statement, args...).Error; err != nil {
		p.t.Fatal(err)
	}
}

// One process accepts and dies. The other says so as long as the order is not
// written, and writes it.
func TestAcceptedByAProcessThatDies(t *testing.T) {
	p := promise(t, 5)
	r := p.buy(0, 1, 2, prefers)
	var first struct {
		RequestID string `json:"request_id"`
		Status    string `json:"status"`
		Ask       string `json:"ask"`
	}
	if err := json.Unmarshal(r.body, &first); err != nil || r.status != http.StatusAccepted || first.Status != "accepted" || first.RequestID != "key-1" ||
		r.header.Get("Preference-Applied") != "respond-async" {
		t.Fatalf("answered %d %s %v", r.status, r.body, r.header)
	}
	if err := p.ins[0].Close(); err != nil {
		t.Fatal(err)
	}
	p.wantStatus(1, 1, "pending", "")
	p.wantHeld()
	s := p.serve(1)
	if l := p.final(1, 1); l.Request.Status != "ordered" || len(l.Orders) != 1 || l.Orders[0].Quantity != 2 {
		t.Errorf("in the end the look-up says %+v", l)
	}
	var asked look
	if ask(t, p.servers[1], "GET", first.Ask, "").into(t, &asked); asked.Request.Status != "ordered" || len(asked.Orders) != 1 {
		t.Errorf("%s says %+v", first.Ask, asked)
	}
	again := p.buy(1, 1, 2, prefers)
	for begun := time.Now(); again.status == http.StatusAccepted && time.Since(begun) < 10*time.Second; {
		again = p.buy(1, 1, 2, prefers) // Redis hears of the order after its COMMIT
	}
	var sold sale
	if again.into(t, &sold); sold.OrderID != asked.Orders[0].PublicID || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("sent again it is answered %s %v", again.body, again.header)
	}
	s.stop()
	if err := s.end(); err != nil {
		t.Error(err)
	}
	p.wantHeld()
}

// Without the preference, without a key, or by a strategy that cannot, the
// answer is the order.
func TestWhoWaitsForTheOrder(t *testing.T) {
	p := promise(t, 9)
	s := p.serve(1)
	defer s.stop()
	for what, r := range map[string]reply{
		"no preference":    p.buy(1, 1, 1),
		"another one":      p.buy(1, 2, 1, "Prefer: respond-asynchronously, return=minimal; respond-async"),
		"no key":           ask(t, p.servers[1], "POST", "/api/v1/seckill?strategy=redis-stream", purchase(3, 1), prefers),
		"another strategy": ask(t, p.servers[1], "POST", "/api/v1/seckill?strategy=conditional", purchase(4, 1), prefers, keyOf(4)),
	} {
		if r.status != http.StatusOK || r.header.Get("Preference-Applied") != "" {
			t.Errorf("%s: answered %d %s %v", what, r.status, r.body, r.header)
		}
	}
	p.wantStatus(0, 1, "ordered", "")
	p.wantStatus(0, 99, "none", "")
}

// Copies of one request, at once and later, with and without the preference: one
// order, and the same key never means another purchase.
func TestAcceptedOnce(t *testing.T) {
	p := promise(t, 5)
	var g errgroup.Group
	var copies [8]reply
	for i := range copies {
		g.Go(func() error {
			copies[i] = p.buy(i%2, 1, 2, prefers)
			return nil
		})
	}
	_ = g.Wait()
	for _, r := range copies {
		if r.status != http.StatusAccepted || string(r.body) != string(copies[0].body) {
			t.Errorf("copies are answered %d %s and %s", r.status, r.body, copies[0].body)
		}
	}
	p.buy(0, 1, 1, prefers).want(t, "another quantity", http.StatusUnprocessableEntity, "idempotency_mismatch")
	p.serve(1)
	var waits, later sale
	p.buy(0, 1, 2).into(t, &waits) // a copy that waits for the order
	p.final(0, 1)
	p.buy(1, 1, 2, prefers).into(t, &later)
	if waits.OrderID == "" || waits != later {
		t.Errorf("one request got %+v and %+v", waits, later)
	}
	p.buy(0, 1, 1, prefers).want(t, "another quantity later", http.StatusUnprocessableEntity, "idempotency_mismatch")
	ask(t, p.servers[1], "POST", "/api/v1/seckill?strategy=redis-stream", purchase(1, 1), prefers, keyOf(2)).
		want(t, "another request of a user with an order", http.StatusConflict, "duplicate")
	p.wantHeld()
}

// The database has the last word. Its refusal outlives the process that wrote
// it, and Redis; a reset clears it, and so does time.
func TestRefusedAfterAcceptance(t *testing.T) {
	p := promise(t, 1)
	p.write("UPDATE stock SET num = 0, initial = 0 WHERE id = 1")
	p.accept(0, 1, 1)
	s := p.serve(0)
	if l := p.final(1, 1); l.Request.Status != "refused" || l.Request.Code != "sold_out" || l.Request.Detail == "" {
		t.Fatalf("the look-up says %+v, want a refusal", l)
	}
	s.stop()
	if err := s.end(); err != nil {
		t.Error(err)
	}
	p.buy(1, 1, 1, prefers).want(t, "the request again", http.StatusConflict, "sold_out")
	p.forget(1)
	p.wantStatus(1, 1, "refused", "sold_out")
	store := ledger.NewStore(p.ins[1].DB)
	sweep := func() {
		t.Helper()
		if _, err := store.SweepSKU(t.Context(), 1); err != nil {
			t.Error(err)
		}
	}
	sweep()
	p.wantStatus(1, 1, "refused", "sold_out")
	p.write("UPDATE refusals SET refused_at = refused_at - ?", ledger.RefusalsLast.Milliseconds()+1000)
	sweep()
	p.wantStatus(1, 1, "none", "")

	p.write("INSERT INTO refusals (request_id, user_id, sku_id, run, quantity, reason, strategy, refused_at) SELECT 'key-1', 1, 1, run, 1, 'sold_out', 'redis-stream', 1 FROM stock WHERE id = 1")
	p.wantStatus(1, 1, "refused", "sold_out")
	p.reset(1)
	p.wantStatus(1, 1, "none", "")
	sweep()
	var left int64
	if p.ins[1].DB.Raw("SELECT COUNT(*) FROM refusals WHERE sku_id = 1").Scan(&left); left != 0 {
		t.Errorf("%d refusals outlive the reset", left)
	}
}

// Redis loses the stream: what was accepted is lost, and nothing else. As long
// as Redis does not answer, it is not known.
func TestAcceptedAndLost(t *testing.T) {
	p := promise(t, 5)
	p.accept(0, 1, 1)
	if err := p.ins[1].Redis.Close(); err != nil {
		t.Fatal(err)
	}
	p.wantStatus(1, 1, "unknown", "")
	p.forget(0)
	p.wantStatus(0, 1, "none", "")
	p.accept(0, 1, 1) // it may be sent again, and then it is kept
	p.serve(0)
	if l := p.final(0, 1); l.Request.Status != "ordered" {
		t.Errorf("sent again: %+v", l)
	}
}
