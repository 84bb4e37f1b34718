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
	r := loadRun(t, loadtest.Config{Targets: urls, Ledger: store, Scenario: loadtest.Scenario{Strategy: "redis-stream", Buying: loadtest.Buying{Async: true},
		Stock: 800, Buyers: 1200, Concurrency: 64, Copies: 0.1, Retry: 1, Cancellations: 0.05},
		OnProgress: func(p loadtest.Progress) {
			if p.Requests > 100 {
				kill()
			}
		}})
	s := r.TwoSteps
	t.Logf("%s, %+v", r.Verdict, *s)
	if r.Verdict != ledger.Held {
		t.Errorf("%s, %v %+v", r.Verdict, r.Problems, r.Audit.Violations)
	}
	if s.Accepted < 300 || s.Open > 0 || s.Refused > 0 || s.Ordered != s.Accepted {
		t.Errorf("the buyers count %+v", *s)
	}
	if processes[0].Alive() {
		t.Error("the run ended before a process was killed")
	}
}
