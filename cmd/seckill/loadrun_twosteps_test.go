package main

import (
	"context"
	"sync"
	"testing"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

// Two processes accept purchases that buyers do not wait for. One is killed in
// the middle: what it had accepted is written by the other one, and no promise is
// broken.
func TestLoadRunInTwoSteps(t *testing.T) {
	store := books(t)
	_, urls, processes := services(t)
	kill := sync.OnceFunc(func() {
		if err := processes[0].Kill(context.Background()); err != nil {
			t.Error(err)
		}
	})
	r := loadRun(t, loadtest.Config{Targets: urls, Ledger: store, Scenario: loadtest.Scenario{Strategy: "redis-stream", Async: true,
		Stock: 800, Buyers: 1200, Concurrency: 64, Copies: 0.1, Retry: 1, Cancellations: 0.05},
		OnProgress: func(p loadtest.Progress) {
			if p.Requests > 100 {
				kill()
			}
		}})
	if r.Verdict != ledger.Held {
		t.Errorf("%s, %v %+v", r.Verdict, r.Problems, r.Audit.Violations)
	}
	if r.Accepted < 300 || r.Counts[ledger.OutcomeAccepted] > 0 || r.Counts[ledger.OutcomeSold] < r.Accepted { // a copy may be told the order at once
		t.Errorf("%d accepted, and the requests came to %v", r.Accepted, r.Counts)
	}
	if processes[0].Alive() {
		t.Error("the run ended before a process was killed")
	}
}
