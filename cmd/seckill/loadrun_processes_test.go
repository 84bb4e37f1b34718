package main

import (
	"testing"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/loadtest"
	"seckill/strategies"
)

// loadTested are the strategies of ordinary tests: one that holds, one that breaks, and
// one that holds in one process only. The conformance suite load-tests every strategy,
// over two instances.
var loadTested = map[string]bool{"conditional": true, "naive": true, "mutex-per-sku": true, "redis-lua": true}

// Buyers whose clients send a request three times at once and again after no
// answer, over two processes, with a strategy that each request names: what holds is
// exactly once and audit clean, what is shipped to break breaks.
func TestLoadRunOverTwoProcesses(t *testing.T) {
	store := books(t)
	_, urls := sharedServices(t)
	for _, info := range strategies.All() {
		if !labtest.Verify && !loadTested[info.Name] {
			continue
		}
		t.Run(info.Name, func(t *testing.T) {
			stock, retry := int64(60), 2
			if !labtest.Verify {
				retry = 1 // a buyer who is told to wait waits a second
				if !info.BreaksIn(2) {
					stock = 20
				}
			}
			begun := time.Now()
			r := loadRun(t, loadtest.Config{Targets: unhurried(t, info, urls), Ledger: store, Scenario: loadtest.Scenario{Strategy: info.Name,
				Stock: stock, Buyers: 5 * int(stock), Copies: 0.3, Retry: retry, Cancellations: 0.05, Concurrency: 32}})
			if r.Copies == 0 {
				t.Fatal("nothing was copied")
			}
			t.Logf("%s in %v: %d copies, %d retries, %d cancelled", r.Verdict, time.Since(begun).Round(time.Millisecond),
				r.Copies, r.Retries, r.Cancellations.Done)
			asShipped(t, info, r)
			refused := r.Counts[ledger.OutcomeBusy] + r.Counts[ledger.OutcomeConflict]
			if sold := r.Audit.Sold + int64(r.Cancellations.Done); !info.BreaksIn(2) && sold < stock && refused == 0 {
				t.Errorf("%d sold of %d, and no buyer was told busy or conflict", sold, stock)
			}
			if !info.BreaksIn(2) {
				return
			}
			plain := loadRun(t, loadtest.Config{Targets: unhurried(t, info, urls), Ledger: store,
				Scenario: loadtest.Scenario{Strategy: info.Name, Stock: 100, Buyers: 300}})
			if plain.Verdict != ledger.Oversold {
				t.Errorf("without copies it is to oversell, and the run says %s: %+v", plain.Verdict, plain.Audit)
			}
		})
	}
}
