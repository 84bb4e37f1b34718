package loadtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"seckill/internal/ledger"
)

// A handler that knows purchases and nothing else is measured, and asked for
// nothing else.
func TestSend(t *testing.T) {
	var others atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/api/v1/seckill" {
			others.Add(1)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"order_id":"1","sku_id":1,"quantity":1,"remaining":7,"strategy":"bare"}`)
	}))
	defer server.Close()
	s := DefaultScenario()
	s.Strategy, s.Stock, s.Buyers, s.Concurrency = "bare", 1, 300, 8
	var last Progress // no report comes after Send has returned
	r, err := Send(t.Context(), Config{Scenario: s, Targets: []string{server.URL}, OnProgress: func(p Progress) { last = p }})
	if last.Requests != 300 {
		t.Errorf("reported at last: %d requests, want all 300", last.Requests)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r.Requests != 300 || r.Counts[ledger.OutcomeSold] != 300 || r.RequestsPerSec <= 0 || others.Load() != 0 {
		t.Errorf("%d requests came to %v at %g/s; %d others were asked: %v", r.Requests, r.Counts, r.RequestsPerSec, others.Load(), r.Answers)
	}
	if _, err := Send(t.Context(), Config{Scenario: s}); !errors.Is(err, ErrConfig) {
		t.Errorf("without a target: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err = Send(ended, Config{Scenario: s, Targets: []string{server.URL}}); err != nil || r.Requests != 0 {
		t.Errorf("after its end: %v, %d requests", err, r.Requests)
	}
}
