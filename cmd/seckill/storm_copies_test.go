package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
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

// The process of a holder is killed in the storm. Where the lock dies with it,
// or with its lease, the sale goes on; where nothing ever frees it the sale
// stands still, and the run says blocked although the books are right. One of
// two processes is killed at a time in each round, so about every other round
// hits the holder.
func TestKilledHolder(t *testing.T) {
	for _, test := range []struct {
		strategy string
		blocks   bool
	}{
		{"redis-setnx", true}, {"redis-lua", false}, {"conditional", false}, {"get-lock", false}, {"zk", false},
	} {
		if !labtest.Verify && test.strategy != "redis-setnx" && test.strategy != "redis-lua" {
			continue
		}
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
