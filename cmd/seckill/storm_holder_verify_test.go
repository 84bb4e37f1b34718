//go:build verify

package main

import (
	"context"
	"sync"
	"testing"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

// The process of a holder is killed in the storm. Where the lock dies with it,
// or with its lease, the sale goes on; where nothing ever frees it the sale
// stands still, and the run says blocked although the books are right. One of
// two processes is killed at a time in each round, so about every other round
// hits the holder.
func TestSaleAfterTheHolderIsKilled(t *testing.T) {
	for _, test := range []struct {
		strategy string
		blocks   bool
	}{
		{"redis-setnx", true}, {"redis-lua", false}, {"conditional", false}, {"get-lock", false}, {"zk", false},
	} {
		t.Run(test.strategy, func(t *testing.T) {
			store := books(t)
			// The patience is 7 s: longer than a session of ZooKeeper.
			_, urls, processes := services(t, "--lock-lease", "4s", "--lock-wait", "3s")
			rounds := 3
			if test.blocks {
				rounds = 8
			}
			for round := range rounds {
				victim := processes[round%2]
				var once sync.Once
				r := storm(t, loadtest.Config{Targets: urls, Ledger: store,
					Scenario: loadtest.Scenario{Strategy: test.strategy, Stock: 250, Buyers: 500, Retry: 2},
					OnProgress: func(p loadtest.Progress) {
						if p.Units >= 20 {
							once.Do(func() {
								if err := victim.Kill(context.Background()); err != nil {
									t.Error(err)
								}
							})
						}
					}})
				if victim.Alive() {
					t.Fatal("the sale was over before a process was killed")
				}
				clean(t, r)
				s := r.Audit.Served
				t.Logf("round %d: %s, stood still for %.0f ms of %.0f, %d sold, %v", round, r.Verdict, s.LongestMs, s.PatienceMs, r.Audit.Sold, r.Counts)
				switch {
				case r.Verdict == loadtest.Blocked && test.blocks:
					if r.ExitStatus() != loadtest.ExitBlocked || s.Left == 0 {
						t.Errorf("exit status %d, %+v", r.ExitStatus(), s)
					}
					return
				case r.Verdict != ledger.Held:
					t.Fatalf("the run says %s: %v", r.Verdict, r.Problems)
				}
				if err := victim.Restart(context.WithoutCancel(t.Context())); err != nil {
					t.Fatal(err)
				}
			}
			if test.blocks {
				t.Errorf("%d killed processes, and the sale never stood still", rounds)
			}
		})
	}
}
