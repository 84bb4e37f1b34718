package httpapi_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/strategies/sqlrow"
)

// twoProcesses are two servers on one database, each with pools and sessions of
// its own.
func twoProcesses(t *testing.T, infos []catalog.Info, needs ...backend.Capability) (servers [2]*httpapi.Server, ins [2]*backend.Instance) {
	t.Helper()
	ins[0] = labtest.Instance(t, needs...)
	migrate(t, ins[0])
	second, err := backend.Open(t.Context(), ins[0].Config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { second.Close() })
	ins[1] = second
	for i, in := range ins {
		var here []catalog.Info
		for _, info := range infos {
			if info.Missing(in) == nil {
				here = append(here, info)
			}
		}
		servers[i] = serverWith(t, nil, httpapi.Config{Instance: in, Infos: here, Default: here[0].Name})
	}
	return servers, ins
}

// insist sends a request again while it is in progress, for a bounded time.
func insist(t *testing.T, s *httpapi.Server, user int) reply {
	for end := time.Now().Add(10 * time.Second); ; {
		r := ask(t, s, "POST", "/api/v1/seckill", purchase(user, 1), key)
		if r.Code != "in_progress" || time.Now().After(end) {
			return r
		}
	}
}

// stopped is conditional whose purchases wait, with their claims, until the test
// lets them go on.
func stopped() (info catalog.Info, begun chan seckill.Purchase, goOn chan struct{}) {
	info, begun, goOn = sqlrow.Conditional, make(chan seckill.Purchase), make(chan struct{})
	build := info.New
	info.New = func(d catalog.Deps) (seckill.Strategy, error) {
		inner, err := build(d)
		return &stops{inner, begun, goOn}, err
	}
	return info, begun, goOn
}

type stops struct {
	seckill.Strategy
	begun chan seckill.Purchase
	goOn  chan struct{}
}

func (s *stops) Deduct(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
	s.begun <- p
	<-s.goOn
	return s.Strategy.Deduct(ctx, p)
}

// The session that has a process's claims breaks in the middle of a purchase. What is
// refused then is not said to be: another copy may have got the order.
func TestARefusalWhoseClaimIsLost(t *testing.T) {
	info, begun, goOn := stopped()
	servers, ins := twoProcesses(t, []catalog.Info{info}, backend.SQL, backend.RowLocks)
	ask(t, servers[0], "PUT", "/api/v1/skus/1", `{"stock":1}`)
	refused := make(chan reply)
	go func() { refused <- ask(t, servers[0], "POST", "/api/v1/seckill", purchase(1, 1), key) }()
	p := <-begun
	breakSession(t, ins[1], p.Fence)
	for held := true; held && t.Context().Err() == nil; { // the server ends a session in its own time
		if err := ins[1].DB.Raw("SELECT IS_USED_LOCK(?) IS NOT NULL", p.Fence).Scan(&held).Error; err != nil {
			t.Fatal(err)
		}
	}
	if err := ins[1].DB.Exec("UPDATE stock SET num = 0 WHERE id = 1").Error; err != nil {
		t.Fatal(err)
	}
	goOn <- struct{}{}
	(<-refused).want(t, "sold out, and the claim was lost", 409, "in_progress")
}

func breakSession(t *testing.T, in *backend.Instance, fence string) {
	t.Helper()
	var session int64
	if err := in.DB.Raw("SELECT IS_USED_LOCK(?)", fence).Scan(&session).Error; err != nil {
		t.Fatal(err)
	}
	if err := in.DB.Exec(fmt.Sprintf("KILL %d", session)).Error; err != nil {
		t.Fatal(err)
	}
}

// The session breaks, and another copy gets the order. The purchase cannot write a
// second one: sent again, it is answered with that order.
func TestAClaimThatIsLost(t *testing.T) {
	info, begun, goOn := stopped()
	servers, ins := twoProcesses(t, []catalog.Info{info}, backend.SQL, backend.RowLocks)
	ask(t, servers[0], "PUT", "/api/v1/skus/1", `{"stock":1}`)
	replies := [2]chan reply{make(chan reply, 1), make(chan reply, 1)}
	buy := func(process int) {
		replies[process] <- ask(t, servers[process], "POST", "/api/v1/seckill", purchase(1, 1), key)
	}
	go buy(0)
	first := <-begun
	ask(t, servers[1], "POST", "/api/v1/seckill", purchase(1, 1), key).want(t, "a copy, before the session broke", 409, "in_progress")
	breakSession(t, ins[1], first.Fence)
	for got := false; !got; { // the server ends a session in its own time
		go buy(1)
		select {
		case <-begun:
			got = true
		case r := <-replies[1]:
			r.want(t, "a copy, while the session breaks", 409, "in_progress")
		}
	}
	goOn <- struct{}{}
	var lost, copied reply
	select {
	case lost = <-replies[0]:
		goOn <- struct{}{}
		copied = <-replies[1]
	case copied = <-replies[1]:
		goOn <- struct{}{}
		lost = <-replies[0]
	}
	lost.want(t, "the purchase whose claim was lost", 409, "in_progress")
	var order, again sale
	copied.into(t, &order)
	close(goOn)
	ask(t, servers[0], "POST", "/api/v1/seckill", purchase(1, 1), key).into(t, &again)
	if again != order {
		t.Errorf("sent again, the purchase got %+v; its copy had %+v", again, order)
	}
}

// A copy whose key cannot be looked up is not told busy: that would say that nothing
// was taken for it.
func TestACopyThatCannotClaimItsKey(t *testing.T) {
	in := labtest.Instance(t, backend.SQL, backend.RowLocks)
	migrate(t, in)
	infos := []catalog.Info{sqlrow.Conditional}
	s := serverWith(t, nil, httpapi.Config{Instance: in, Infos: infos, PurchaseTimeout: 300 * time.Millisecond})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":5}`)
	var first, second sale
	ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1), key).into(t, &first)
	db, err := in.DB.DB()
	if err != nil {
		t.Fatal(err)
	}
	session, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if _, err := session.ExecContext(t.Context(), "LOCK TABLES orders WRITE, stock READ"); err != nil {
		t.Fatal(err)
	}
	ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1), key).want(t, "a copy that cannot be looked up", 503, "backend_unavailable")
	if _, err := session.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
		t.Fatal(err)
	}
	insist(t, s, 1).into(t, &second)
	if second != first {
		t.Errorf("the copy was answered %+v, the first %+v", second, first)
	}
}

// What a key costs one buyer alone: a claim, which looks for the order, and its
// release. (Many at a time share these.)
func TestWhatAKeyCosts(t *testing.T) {
	servers, ins := twoProcesses(t, []catalog.Info{sqlrow.Conditional}, backend.SQL, backend.RowLocks)
	questions := func() (n int64) {
		var row struct{ Value int64 }
		if err := ins[1].DB.Raw("SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&row).Error; err != nil {
			t.Fatal(err)
		}
		return row.Value
	}
	const sales = 50
	cost := func(stock, users int, headers func(user int) []string) float64 {
		ask(t, servers[0], "PUT", "/api/v1/skus/1", fmt.Sprintf(`{"stock":%d}`, stock))
		ask(t, servers[0], "POST", "/api/v1/seckill?strategy=conditional", purchase(1, 1), key) // opens what is still closed
		before := questions()
		for user := users; user < users+sales; user++ {
			ask(t, servers[0], "POST", "/api/v1/seckill?strategy=conditional", purchase(user, 1), headers(user)...)
		}
		return float64(questions()-before-1) / sales
	}
	keyed := func(user int) []string { return []string{fmt.Sprint("Idempotency-Key: k", user)} }
	without := func(int) []string { return nil }
	sold, soldOut := cost(1000, 100, keyed)-cost(1000, 200, without), cost(1, 300, keyed)-cost(1, 400, without)
	t.Logf("a key costs a sale %.2f commands, a refusal %.2f", sold, soldOut)
	if sold > 2.15 || soldOut > 2.15 { // the reading of the start is in it
		t.Errorf("a key costs a sale %.2f commands, want 2; a refusal %.2f, want 2", sold, soldOut)
	}
}
