package game_test

import (
	"testing"

	"golang.org/x/sync/errgroup"

	"seckill/internal/game"
	"seckill/web"
)

// A counterexample of the proof becomes a game whose moves are to be followed, or
// says why it cannot.
func TestCounterexamplesArePlayed(t *testing.T) {
	h := gamesOf(t, func(h *game.Games) { h.Examples = web.Guarantees() }, "naive", "redis-lua", "redis-getset", "lock-table-central")
	var all errgroup.Group
	all.SetLimit(atOnce)
	for _, name := range []string{"naive.oversell", "redis-lua.lease-end", "redis-lua.late-command", "redis-getset.clocks", "lock-table-central.clocks"} {
		all.Go(func() error {
			_, s, err := h.Begin(t.Context(), game.Request{Counterexample: name})
			if err != nil || s.Line == "" || s.MovesMade != 0 {
				t.Errorf("%s: %v, %s", name, err, show(s))
				return nil
			}
			_, s, err = h.Begin(t.Context(), game.Request{Counterexample: name, Schedule: s.Line})
			if err != nil || !s.Over || !s.Verdict.Broken {
				t.Errorf("%s: %v, %s", name, err, show(s))
			}
			return nil
		})
	}
	_ = all.Wait()
	for name, want := range map[string]string{"nothing.at-all": "unknown_example", "../matrix": "unknown_example", "redis-lua.node-loss": "unplayable"} {
		if _, _, err := h.Begin(t.Context(), game.Request{Counterexample: name}); code(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
