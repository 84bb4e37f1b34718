package main

import (
	"testing"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/loadtest"
	"seckill/strategies"
)

// copied are the strategies whose ordinary tests send copies: a row, a lock, a
// counter, and a local mutex, which breaks across processes.
var copied = map[string]bool{"conditional": true, "mutex-per-sku": true, "redis-lua": true, "redis-counter": true}

// Buyers whose clients send a request three times at once and again after no
// answer, over two processes: what holds is exactly once and audit clean, what
// is shipped to break breaks.
func TestLoadRunWithCopiesAndRetries(t *testing.T) {
	store := books(t)
	_, urls := sharedServices(t)
	for _, info := range strategies.All() {
		if !labtest.Verify && !copied[info.Name] {
			continue
		}
		t.Run(info.Name, func(t *testing.T) {
			stock, retry := int64(60), 2
			if !labtest.Verify {
				retry = 1 // a buyer who is told to wait waits a second
				if !breaks(info) {
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
			asShipped(t, info, r, ledger.Oversold, ledger.Lost)
		})
	}
}
