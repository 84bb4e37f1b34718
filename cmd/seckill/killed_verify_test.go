//go:build verify

package main

import (
	"context"
	"math/rand/v2"
	"testing"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

// One of two processes is killed under load, fifty times, at any moment of a
// batch: nothing that a buyer was told is lost, and nothing is sold twice.
func TestKilledInMidBatch(t *testing.T) {
	const rounds, buyers = 50, 3000
	store := books(t)
	_, urls, processes := services(t)
	for _, strategy := range []string{"merged", "queued"} {
		t.Run(strategy, func(t *testing.T) {
			met, unknown, stood := 0, 0, 0
			for round := range rounds {
				victim := processes[round%2]
				r := loadRun(t, loadtest.Config{Targets: urls, Ledger: store,
					Scenario: loadtest.Scenario{Strategy: strategy, Stock: buyers * 2 / 3, Buyers: buyers, Concurrency: 256},
					OnProgress: midway(buyers/2+rand.IntN(buyers), func() {
						if err := victim.Kill(context.Background()); err != nil {
							t.Error(err)
						}
					})})
				clean(t, r)
				if victim.Alive() {
					t.Fatal("the run ended before a service was killed")
				}
				unknown += r.Counts[ledger.OutcomeUnknown]
				stood += r.Audit.Orders - r.Counts[ledger.OutcomeSold]
				if r.Counts[ledger.OutcomeUnknown] > 0 {
					met++
				}
				if err := victim.Restart(t.Context()); err != nil {
					t.Fatal(err)
				}
				if t.Failed() {
					break
				}
			}
			t.Logf("in %d of %d rounds buyers had no answer: %d of them, %d of whom have an order", met, rounds, unknown, stood)
			if met < rounds/2 {
				t.Errorf("only %d of %d deaths came to a buyer", met, rounds)
			}
		})
	}
}
