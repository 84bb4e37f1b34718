package loadtest

import (
	"context"
	"testing"

	"seckill/internal/ledger"
)

// atOnce is a service that answers at once.
type atOnce struct{}

var anOrder = []byte("JBSWY3DPEHPK3PXPJBSWY3DPEH")

func (atOnce) buy(purchase, []byte) reply {
	return reply{outcome: ledger.OutcomeSold, orderID: anOrder, remaining: 7}
}
func (atOnce) cancel(purchase, []byte, string) reply {
	return reply{outcome: ledger.OutcomeCancelled}
}
func (atOnce) connect(int) {}
func (atOnce) close()      {}

// BenchmarkStorm is what a request costs the generator, without the network.
func BenchmarkStorm(b *testing.B) {
	b.ReportAllocs()
	s := Scenario{Strategy: testStrategy, SKU: 1, Stock: 1, Buyers: b.N, Concurrency: 1, Quantity: 1}
	st := &storm{plan: newPlan(s.normal(), []int64{1}), tally: newTally(s), open: func() caller { return atOnce{} }}
	st.blow(context.Background())
}
