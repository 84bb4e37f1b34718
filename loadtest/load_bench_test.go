package loadtest

import (
	"context"
	"testing"

	"seckill/internal/ledger"
	"seckill/loadtest/adapter"
)

// atOnce is a service that answers at once.
type atOnce struct{}

var anOrder = []byte("JBSWY3DPEHPK3PXPJBSWY3DPEH")

func (atOnce) buy(purchase, []byte) adapter.Reply {
	return adapter.Reply{Outcome: ledger.OutcomeSold, OrderID: anOrder, Remaining: 7}
}
func (atOnce) cancel(purchase, string) adapter.Reply {
	return adapter.Reply{Outcome: ledger.OutcomeCancelled}
}
func (atOnce) pay(purchase, string) adapter.Reply {
	return adapter.Reply{Outcome: ledger.OutcomeSold}
}

func (atOnce) became(purchase, []byte) (adapter.Reply, bool) { return adapter.Reply{}, false }

func (atOnce) connect(int) {}
func (atOnce) close()      {}

// BenchmarkLoad is what a request costs the generator, without the network.
func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	s := Scenario{Strategy: testStrategy, SKU: 1, Stock: 1, Buyers: b.N, Concurrency: 1, Quantity: 1}
	l := &load{plan: newPlan(s.normal(), []int64{1}), tally: newTally(s), open: func() caller { return atOnce{} }}
	l.run(context.Background())
}
