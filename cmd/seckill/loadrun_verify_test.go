//go:build verify

package main

import (
	"testing"

	"seckill/internal/ledger"
	"seckill/loadtest"
	"seckill/strategies"
)

// Buyers whose clients send a request three times at once and again after no
// answer, over two processes, with a strategy that each request names: what holds is
// exactly once and audit clean, what is shipped to break breaks. In make test the
// conformance suite sells with every strategy over two instances.
func TestLoadRunOverTwoProcesses(t *testing.T) {
	store := books(t)
	_, shared := sharedServices(t)
	for _, info := range strategies.All() {
		t.Run(info.Name, func(t *testing.T) {
			urls := shared
			if info.Name == "zk-norecheck" { // its flaw is that the next walks in after a waiter who gave up: here none does
				_, urls, _ = services(t, "--lock-wait=60s", "--purchase-timeout=60s", "--zookeeper-session=30s")
			}
			r := loadRun(t, loadtest.Config{Targets: urls, Ledger: store, Scenario: loadtest.Scenario{Strategy: info.Name,
				Stock: 60, Buyers: 300, Copies: 0.3, Retry: 2, Cancellations: 0.05, Concurrency: 32}})
			refused := r.Counts[ledger.OutcomeBusy] + r.Counts[ledger.OutcomeConflict]
			switch {
			case r.Copies == 0:
				t.Error("nothing was copied")
			case info.BreaksIn(2):
				if r.Verdict != ledger.Oversold && r.Verdict != ledger.Lost {
					t.Errorf("shipped as broken, and the run says %s: %+v", r.Verdict, r.Audit)
				}
			case r.ExitStatus() != loadtest.ExitHeld || r.Counts[ledger.OutcomeUnknown] != 0:
				t.Errorf("the run says %s: %v %+v\n%v, %d copies", r.Verdict, r.Problems, r.Audit.Violations, r.Counts, r.Copies)
			case r.Audit.Sold+int64(r.Cancellations.Done) < 60 && refused == 0:
				t.Errorf("%d sold of 60, and no buyer was told busy or conflict", r.Audit.Sold)
			}
		})
	}
}
