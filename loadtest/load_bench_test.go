package loadtest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/ledger"
)

// BenchmarkClient is what a purchase costs with the generator's own connections, and
// with net/http's: cpu-ns/op is the processor time of both ends of 64 connections, of
// which the service's end is the same.
func BenchmarkClient(b *testing.B) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"order_id":"JBSWY3DPEHPK3PXPJBSWY3DPEH","sku_id":1,"quantity":1,"remaining":7,"strategy":"bare"}`)
	}))
	b.Cleanup(service.Close)
	c := newClient(Config{Scenario: Scenario{Strategy: "bare", Timeout: 5 * time.Second}, Targets: []string{service.URL}})
	b.Run("own", func(b *testing.B) {
		benchmarkClient(b, func() func(purchase) reply { return c.newBuyer().buy })
	})
	b.Run("net-http", func(b *testing.B) {
		benchmarkClient(b, func() func(purchase) reply {
			transport := &http.Transport{MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1, DisableCompression: true}
			b.Cleanup(transport.CloseIdleConnections)
			return func(p purchase) reply {
				r, _ := http.NewRequest(http.MethodPost, service.URL+c.buyPath, bytes.NewReader([]byte(`{"sku_id":1,"user_id":1,"quantity":1}`)))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Idempotency-Key", p.key)
				a, err := transport.RoundTrip(r)
				if err != nil {
					return reply{}
				}
				defer a.Body.Close()
				body, _ := io.ReadAll(io.LimitReader(a.Body, maxBody))
				return c.order(p).Bought(response{Status: a.StatusCode, ContentType: a.Header.Get("Content-Type"), Body: body})
			}
		})
	})
}

func benchmarkClient(b *testing.B, open func() func(purchase) reply) {
	const buyers = 64
	p := newPlan(Scenario{SKU: 1, Quantity: 1, Buyers: b.N}, []int64{1})
	var all errgroup.Group
	before := cpuTime()
	for worker := range buyers {
		buy := open()
		all.Go(func() error {
			for i := worker; i < b.N; i += buyers {
				if r := buy(p.purchase(i)); r.Outcome != ledger.OutcomeSold {
					b.Errorf("%+v", r)
					return nil
				}
			}
			return nil
		})
	}
	_ = all.Wait()
	b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/op")
}
