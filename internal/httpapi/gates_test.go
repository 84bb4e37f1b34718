package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/gate"
	"seckill/internal/httpapi"
	"seckill/internal/ledger"
	"seckill/strategies"
)

// behind is a server behind gates. What limits is far away unless change says
// otherwise.
func behind(t *testing.T, in *backend.Instance, change func(*gate.Settings), names ...string) *httpapi.Server {
	t.Helper()
	s := gate.Settings{Gates: names, RoomRate: 1e6, UserRate: 1e6, SKURate: 1e6}
	if change != nil {
		change(&s)
	}
	return serverWith(t, nil, httpapi.Config{Instance: in, Gates: s})
}

func buys(t *testing.T, s *httpapi.Server, user, quantity int, headers ...string) reply {
	t.Helper()
	return ask(t, s, "POST", "/api/v1/seckill", purchase(user, quantity), headers...)
}

func (r reply) order(t *testing.T) string {
	t.Helper()
	var got sale
	r.into(t, &got)
	return got.OrderID
}

const (
	refusedByFlag = `seckill_gate_refusals_total{gate="sold-out"}`
	reached       = `seckill_purchases_total{strategy="conditional"}`
)

// The flag answers without the strategy, only as many or more, and not after a
// cancellation or a reset.
func TestSoldOutGate(t *testing.T) {
	s := behind(t, nil, nil, gate.SoldOut)
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":2}`)
	first := buys(t, s, 1, 1).order(t)
	buys(t, s, 2, 2).want(t, "2 of 1", 409, "sold_out")
	buys(t, s, 3, 1).want(t, "the last one, after 2 were refused", 200, "")
	buys(t, s, 4, 1).want(t, "1 of 0", 409, "sold_out")
	before := metric(t, s, reached)
	for user := range 5 {
		buys(t, s, 5+user, 1+user).want(t, "behind the flag", 409, "sold_out")
	}
	if n, at := metric(t, s, refusedByFlag), metric(t, s, reached); n == 0 || n+at-before != 5 {
		t.Errorf("of 5 the flag refused %v, and %v reached the strategy", n, at-before)
	}
	ask(t, s, "DELETE", "/api/v1/orders/"+first, "").want(t, "cancelling", 200, "")
	buys(t, s, 10, 1).want(t, "right after the cancellation", 200, "")
	buys(t, s, 11, 1).want(t, "1 of 0", 409, "sold_out")
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":1}`)
	buys(t, s, 12, 1).want(t, "right after the reset", 200, "")
}

// What another process gives back, or sets anew, is sold soon: nothing but sold
// and sold out is answered until then.
func TestSoldOutGateOfTwoProcesses(t *testing.T) {
	_, ins := twoProcesses(t, strategies.All(), backend.SQL, backend.RowLocks)
	one, two := behind(t, ins[0], nil, gate.SoldOut), behind(t, ins[1], nil, gate.SoldOut)
	user := 0
	next := func(s *httpapi.Server) reply {
		user++
		return buys(t, s, user, 1)
	}
	soon := func(what string) {
		t.Helper()
		for {
			r := next(one)
			if r.status == http.StatusOK {
				return
			}
			if r.want(t, what, 409, "sold_out"); t.Failed() || t.Context().Err() != nil {
				return
			}
		}
	}
	ask(t, two, "PUT", "/api/v1/skus/1", `{"stock":1}`)
	order := next(two).order(t)
	next(one).want(t, "1 of 0", 409, "sold_out")
	next(one).want(t, "1 of 0", 409, "sold_out")
	if metric(t, one, refusedByFlag) == 0 {
		t.Log("the machine is so slow that the flag is old")
	}
	ask(t, two, "DELETE", "/api/v1/orders/"+order, "").want(t, "cancelling", 200, "")
	soon("after the other process gave a unit back")
	next(one).want(t, "1 of 0", 409, "sold_out")
	ask(t, two, "PUT", "/api/v1/skus/1", `{"stock":1}`)
	soon("after the other process set the sale anew")
}

// The naive flag hides a unit that came back; the right one does not.
func TestTheNaiveGateAfterACancellation(t *testing.T) {
	in := embedded(t)
	s := behind(t, in, nil, gate.SoldOutNaive)
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":1}`)
	order := buys(t, s, 1, 1).order(t)
	buys(t, s, 2, 1).want(t, "1 of 0", 409, "sold_out")
	ask(t, s, "DELETE", "/api/v1/orders/"+order, "").want(t, "cancelling", 200, "")
	var sku product
	if ask(t, s, "GET", "/api/v1/skus/1", "").into(t, &sku); sku.Num != 1 {
		t.Errorf("%d are left, want 1", sku.Num)
	}
	buys(t, s, 3, 1).want(t, "one is left, and hidden", 409, "sold_out")
	buys(t, behind(t, in, nil, gate.SoldOut), 4, 1).want(t, "in a process with the right flag", 200, "")
}

// One buyer asks for too many, and the naive flag turns all others away: the
// judge finds that they were told sold out while units were there to the end.
func TestTheNaiveGateUndersells(t *testing.T) {
	for name, want := range map[string]bool{gate.SoldOutNaive: true, gate.SoldOut: false} {
		in := embedded(t)
		s := behind(t, in, nil, name)
		ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":5}`)
		var told []ledger.Told
		for user, quantity := range []int{6, 1, 1} {
			request := fmt.Sprint("r", user)
			r := buys(t, s, user+1, quantity, "Idempotency-Key: "+request)
			heard := ledger.Told{RequestID: request, User: int64(user + 1), Quantity: int64(quantity), Outcome: ledger.Outcome(r.Code)}
			if r.status == http.StatusOK {
				heard.Outcome, heard.OrderID, heard.Remaining = ledger.OutcomeSold, r.order(t), int64(5-user)
			}
			told = append(told, heard)
		}
		snap, err := ledger.NewStore(in.DB).Snapshot(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		report := ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: 5, Run: snap.Stock.Run, Told: told,
			StockStoreOf: func(string) (ledger.StockStore, bool) { return ledger.InRow, true }})
		undersold := slices.ContainsFunc(report.Violations, func(v ledger.Violation) bool { return v.Rule == ledger.RuleUndersold })
		if undersold != want || !want && report.Verdict != ledger.Held {
			t.Errorf("%s: the audit says %s: %+v", name, report.Verdict, report.Violations)
		}
	}
}

func TestWaitingRoomGate(t *testing.T) {
	s := behind(t, nil, func(g *gate.Settings) { g.RoomRate = 0.01 }, "waiting-room")
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":9}`)
	buys(t, s, 1, 1).want(t, "the first", 200, "")
	for user := 2; user <= 4; user++ {
		for range 2 { // asking again changes nothing
			r := buys(t, s, user, 1)
			r.want(t, "in line", 429, "busy")
			var p struct{ Position int }
			if err := json.Unmarshal(r.body, &p); err != nil {
				t.Fatal(err)
			}
			after, _ := strconv.Atoi(r.header.Get("Retry-After"))
			if p.Position != user-1 || after > (user-1)*100 || after <= (user-2)*100 {
				t.Errorf("user %d is number %d and comes back in %d s", user, p.Position, after)
			}
		}
	}
	if n := metric(t, s, "seckill_gate_waiting"); n != 3 {
		t.Errorf("%v wait, want 3", n)
	}
}

func TestRateGate(t *testing.T) {
	s := behind(t, nil, func(g *gate.Settings) { g.UserRate = 0.01 }, "rate")
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":9}`)
	buys(t, s, 1, 1).want(t, "the first", 200, "")
	r := buys(t, s, 1, 1)
	r.want(t, "the same user again", 429, "rate_limited")
	if after, _ := strconv.Atoi(r.header.Get("Retry-After")); after < 90 || after > 100 {
		t.Errorf("Retry-After is %q, want about 100", r.header.Get("Retry-After"))
	}
	buys(t, s, 2, 1).want(t, "another user", 200, "")
	if n := metric(t, s, `seckill_requests_total{outcome="rate_limited",strategy="conditional"}`); n != 1 {
		t.Errorf("%v requests are counted as limited", n)
	}
}

// A request that has its order gets it again, from any process, whatever the
// gates say to others.
func TestGatesLetThoseWhoHaveAnOrderPass(t *testing.T) {
	_, ins := twoProcesses(t, strategies.All(), backend.SQL, backend.RowLocks)
	narrow := func(g *gate.Settings) { g.RoomRate, g.UserRate, g.SKURate = 0.01, 0.01, 0.01 }
	for _, names := range [][]string{{gate.SoldOut}, {gate.SoldOutNaive}, {"waiting-room"}, {"rate"}, {"rate", gate.SoldOut, "waiting-room"}} {
		t.Run(strings.Join(names, "+"), func(t *testing.T) {
			servers := [2]*httpapi.Server{behind(t, ins[0], narrow, names...), behind(t, ins[1], narrow, names...)}
			ask(t, servers[0], "PUT", "/api/v1/skus/1", `{"stock":1}`)
			mine := "Idempotency-Key: " + names[0]
			order := buys(t, servers[0], 42, 1, mine).order(t)
			for _, s := range servers { // what fills the buckets, the room, and raises the flag
				for user := range 3 {
					if r := buys(t, s, 50+user, 1); r.status == http.StatusOK {
						t.Errorf("user %d was sold one of none", 50+user)
					}
				}
			}
			for n, s := range []*httpapi.Server{servers[0], servers[1], servers[0]} {
				r := buys(t, s, 42, 1, mine)
				if r.want(t, fmt.Sprint("copy ", n), 200, ""); r.status == http.StatusOK && r.order(t) != order {
					t.Errorf("copy %d got another order", n)
				}
			}
		})
	}
}

// Stock 1, two processes behind the flag, copies of one request at once among
// other buyers: a copy gets the order or is in progress, unless another buyer
// has the unit.
func TestCopiesBehindTheFlag(t *testing.T) {
	_, ins := twoProcesses(t, strategies.All(), backend.SQL, backend.RowLocks, backend.Redis)
	servers := [2]*httpapi.Server{behind(t, ins[0], nil, gate.SoldOut), behind(t, ins[1], nil, gate.SoldOut)}
	for _, name := range []string{"conditional", "order-first", "redis-counter"} {
		for round := range 8 {
			for _, server := range servers { // the other's flag may still refuse for the round before
				ask(t, server, "PUT", "/api/v1/skus/1", `{"stock":1}`)
			}
			var replies [10]reply
			var g sync.WaitGroup
			for i := range replies {
				g.Go(func() {
					user, headers := 42, []string{fmt.Sprint("Idempotency-Key: ", name, round)}
					if i >= 6 {
						user, headers = i, nil
					}
					replies[i] = ask(t, servers[i%2], "POST", "/api/v1/seckill?strategy="+name, purchase(user, 1), headers...)
				})
			}
			g.Wait()
			mine := false
			for _, r := range replies[:6] {
				mine = mine || r.status == http.StatusOK
			}
			for i, r := range replies[:6] {
				if mine && r.status != http.StatusOK && r.Code != "in_progress" {
					t.Errorf("%s, round %d: copy %d of a request that gets the order is told %d %s", name, round, i+1, r.status, r.Code)
				}
			}
		}
	}
}
