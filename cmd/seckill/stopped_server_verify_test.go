//go:build verify

package main

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

// A server that stops in mid-run gives clear errors, or unknown where that is
// the truth; the services recover by themselves when it is back. TestTwoServicesInTrouble
// has the database restarted in make test.
func TestStoppedServerComesBack(t *testing.T) {
	for _, c := range []struct{ server, strategy string }{
		{backend.NameMySQL, "conditional"},
		{backend.NameRedis, "redsync"},
		{backend.NameZooKeeper, "zk"},
	} {
		t.Run(c.server, func(t *testing.T) {
			if c.server == backend.NameMySQL && os.Getenv("SECKILL_TEST_MYSQL_DSN") != "" {
				t.Log("this MySQL was given: it is not ours to stop")
				return
			}
			l, urls, _ := services(t)
			server, err := l.Process(c.server)
			labtest.Must(t, err)
			const buyers = 3000
			var stop, start sync.Once
			restarted, noticed := make(chan error, 1), 0
			troubled := func(p loadtest.Progress) int {
				return p.Counts[ledger.OutcomeError] + p.Counts[ledger.OutcomeUnknown] + p.Counts[ledger.OutcomeBusy]
			}
			r := loadRun(t, loadtest.Config{Targets: urls,
				Scenario: loadtest.Scenario{Strategy: c.strategy, Stock: 1500, Buyers: buyers},
				OnProgress: func(p loadtest.Progress) {
					if p.Requests > buyers/3 {
						stop.Do(func() {
							noticed = troubled(p) + 1 // one more than before
							if err := server.Kill(context.Background()); err != nil {
								t.Error(err)
							}
						})
					}
					if noticed > 0 && troubled(p) >= noticed {
						start.Do(func() { // a buyer has met the stopped server
							go func() { restarted <- server.Restart(context.Background()) }()
						})
					}
				}})
			start.Do(func() {
				t.Errorf("no buyer met the stopped server: %v", r.Counts)
				restarted <- server.Restart(context.Background())
			})
			labtest.Must(t, <-restarted)
			for _, a := range r.Answers {
				if strings.Contains(a.Code, "internal") {
					t.Errorf("%d buyers were told %s: %s", a.Count, a.Code, a.Sample)
				}
			}
			clean(t, r)
			again := loadRun(t, loadtest.Config{Targets: urls,
				Scenario: loadtest.Scenario{Strategy: c.strategy, Stock: 50, Buyers: 200}})
			if again.ExitStatus() != loadtest.ExitHeld {
				t.Errorf("after the server came back, a run says %s: %v %v", again.Verdict, again.Problems, again.Counts)
			}
		})
	}
}
