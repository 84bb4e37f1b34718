package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/loadtest"
	"seckill/strategies"
)

// Buyers whose clients send a request three times at once and again after no
// answer, over two processes: what holds is exactly once and audit clean, what
// is shipped to break breaks.
func TestStormWithCopiesAndRetries(t *testing.T) {
	store := books(t)
	_, urls, _ := services(t)
	if !answersInProgress(t, urls[0]) {
		t.Skip("this service does not tell copies to wait yet: one may be refused although its key has the order")
	}
	for _, info := range strategies.All() {
		if !labtest.Verify && info.Name != "conditional" && info.Name != "redis-lua" && info.Name != "redis-counter" {
			continue
		}
		t.Run(info.Name, func(t *testing.T) {
			const stock = 60
			r := storm(t, loadtest.Config{Targets: urls, Ledger: store, Scenario: loadtest.Scenario{Strategy: info.Name,
				Stock: stock, Buyers: 5 * stock, Copies: 0.3, Retry: 2, Cancellations: 0.05, Concurrency: 32}})
			if r.Copies == 0 {
				t.Fatal("nothing was copied")
			}
			if info.Broken() || info.Guarantees[catalog.M] == catalog.Breaks {
				if r.Verdict != ledger.Oversold && r.Verdict != ledger.Lost {
					t.Errorf("shipped as broken, and the run says %s: %+v", r.Verdict, r.Audit)
				}
				return
			}
			if r.Verdict != ledger.Held {
				t.Fatalf("the run says %s: %v %+v\nby request %v, by call %v", r.Verdict, r.Problems, r.Audit.Violations, r.Counts, r.Calls)
			}
			if r.Counts[ledger.OutcomeUnknown] != 0 {
				t.Errorf("%d unknown outcomes with every server alive", r.Counts[ledger.OutcomeUnknown])
			}
		})
	}
}

func answersInProgress(t *testing.T, url string) bool {
	t.Helper()
	resp, err := http.Get(url + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	described, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(described), "in_progress")
}
