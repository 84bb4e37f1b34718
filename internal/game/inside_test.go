package game

import (
	"context"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

// A game whose moves could not be made again shows what it showed before, and goes on
// from there.
func TestAFailedUndoChangesNothing(t *testing.T) {
	level := LevelNamed("first-lost-update")
	g, err := Open(t.Context(), labtest.Start(t, infoOf(level).Uses()...).Config(), infoOf(level), level.Setting, level, "abb")
	labtest.Must(t, err)
	defer func() { labtest.Must(t, g.Close(t.Context())) }()
	if err := g.replay(t.Context(), []explore.Choice{{Who: "A"}, {Who: "C"}}); err == nil {
		t.Fatal("a move of a buyer who is not there was made")
	}
	if s := g.State(); s.Schedule != "abb" || len(s.Steps) != 3 {
		t.Errorf("after the failure it has the schedule %q and %d steps", s.Schedule, len(s.Steps))
	}
	if s, err := g.Move(t.Context(), "b"); err != nil || s.Schedule != "abbb" || len(s.Steps) != 4 {
		t.Errorf("the next move: %v, the schedule %q and %d steps", err, s.Schedule, len(s.Steps))
	}
}

// A player does not wait until the game that gives way to theirs has ended; the end of
// all games does.
func TestAGameGivesWayBesideTheNext(t *testing.T) {
	servers := labtest.Start(t, backend.SQL).Config()
	games := &Games{Servers: func() backend.Config { return servers }, Strategies: strategies.All(), Most: 1}
	id, _, err := games.Begin(t.Context(), Request{Level: "first-lost-update"})
	labtest.Must(t, err)
	idle, err := games.Game(id)
	labtest.Must(t, err)
	idle.mu.Lock() // a move of it takes its time
	began := make(chan error, 1)
	go func() {
		_, _, err := games.Begin(t.Context(), Request{Level: "first-lost-update"})
		began <- err
	}()
	select {
	case err := <-began:
		labtest.Must(t, err)
	case <-time.After(time.Minute):
		t.Error("the next game waits for the end of the idle one")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if games.Close(over) == nil {
		t.Error("all games are said to have ended while one goes on")
	}
	idle.mu.Unlock()
	labtest.Must(t, games.Close(t.Context()))
}
