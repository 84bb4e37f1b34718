package loadtest

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/ledger"
)

// atOnce is a service that answers at once.
type atOnce struct{}

const anOrder = "JBSWY3DPEHPK3PXPJBSWY3DPEH"

func (atOnce) buy(purchase) reply {
	return reply{Outcome: ledger.OutcomeSold, OrderID: anOrder, Remaining: 7}
}
func (atOnce) cancel(purchase, string) reply {
	return reply{Outcome: ledger.OutcomeCancelled}
}
func (atOnce) pay(purchase, string) reply {
	return reply{Outcome: ledger.OutcomeSold}
}

func (atOnce) became(purchase) (reply, bool) { return reply{}, false }

func (atOnce) connect(int) {}
func (atOnce) close()      {}

// BenchmarkClient is what a purchase costs the generator with its own connections,
// and with net/http's: cpu-ns/op is the processor time of this process alone, the
// service has its own.
func BenchmarkClient(b *testing.B) {
	target := startService(b)
	p := newPlan(Scenario{SKU: 1, Quantity: 1, Buyers: b.N}, []int64{1})
	own := newClient(Config{Scenario: Scenario{Strategy: "bare", Timeout: 5 * time.Second}, Targets: []string{target}})
	b.Run("own", func(b *testing.B) {
		benchmarkClient(b, p, func() func(purchase) (reply, error) {
			buyer := own.newBuyer()
			return func(q purchase) (reply, error) { return buyer.buy(q), nil }
		})
	})
	b.Run("net-http", func(b *testing.B) {
		benchmarkClient(b, p, func() func(purchase) (reply, error) {
			transport := &http.Transport{MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1, DisableCompression: true}
			writes, answer := own.newBuyer(), bytes.Buffer{}
			return func(q purchase) (reply, error) {
				writes.body = appendPurchase(writes.body[:0], q)
				r, _ := http.NewRequest(http.MethodPost, target+own.buyPath, bytes.NewReader(writes.body))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Idempotency-Key", q.key)
				a, err := transport.RoundTrip(r)
				if err != nil {
					return reply{}, err
				}
				defer a.Body.Close()
				answer.Reset()
				_, err = answer.ReadFrom(io.LimitReader(a.Body, maxBody))
				return own.order(q).Bought(response{Status: a.StatusCode, ContentType: a.Header.Get("Content-Type"), Body: answer.Bytes()}), err
			}
		})
	})
}

// benchmarkClient has 64 buyers buy b.N times.
func benchmarkClient(b *testing.B, p *plan, open func() func(purchase) (reply, error)) {
	var all sync.WaitGroup
	var next atomic.Int64
	buyers := make([]func(purchase) (reply, error), 64)
	for i := range buyers {
		buyers[i] = open()
		_, _ = buyers[i](p.purchase(0)) // connects
	}
	before := cpuTime()
	for _, buy := range buyers {
		all.Go(func() {
			for i := int(next.Add(1)); i <= b.N; i = int(next.Add(1)) {
				if r, err := buy(p.purchase(i)); r.Outcome != ledger.OutcomeSold {
					b.Errorf("%+v, %v", r, err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/op")
}
