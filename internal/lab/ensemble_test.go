package lab_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// A backend is started once even if two callers ask at the same time, and one caller at a time has its ensemble.
func TestEnsembleHasOneUser(t *testing.T) {
	l := started(t, lab.Options{Backends: []string{}, Topology: lab.Losable})
	var all [2]*lab.Ensemble
	var asking sync.WaitGroup
	for i := range all {
		asking.Go(func() {
			var err error
			if all[i], err = l.Ensemble(t.Context(), backend.NameRedis); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	e := all[0]
	if e == nil || e != all[1] || len(l.Processes()) != 2 {
		t.Fatalf("the ensembles are %p and %p, of %d processes; want one of a primary and a replica", e, all[1], len(l.Processes()))
	}
	give, err := e.Reserve(t.Context())
	must(t, "take it", err)
	waiting, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := e.Reserve(waiting); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second user is told %v, want that they have to wait", err)
	}
	give()
	must(t, "take it when it is free", e.Repair(t.Context()))
	without := started(t, lab.Options{Backends: []string{}, Programs: nothingFound, Topology: lab.Losable})
	if _, err := without.Ensemble(t.Context(), backend.NameEtcd); !errors.Is(err, lab.ErrNoServer) || !strings.Contains(err.Error(), "seckill doctor") {
		t.Errorf("an ensemble without its program: %v, want %v and how to get it", err, lab.ErrNoServer)
	}
}
