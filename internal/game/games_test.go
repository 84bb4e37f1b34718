package game_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

// gamesOf is the games of a lab, on real servers that all strategies named need.
func gamesOf(t *testing.T, change func(*game.Games), names ...string) *game.Games {
	t.Helper()
	var needs []backend.Capability
	for _, name := range names {
		needs = append(needs, strategies.Named(name).Uses()...)
	}
	servers := labtest.Start(t, needs...).Config()
	h := &game.Games{Servers: func() backend.Config { return servers }, Strategies: strategies.All()}
	if change != nil {
		change(h)
	}
	t.Cleanup(func() {
		if err := h.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return h
}

// played is a game that is on.
func played(t *testing.T, h *game.Games, id string) *game.Game {
	t.Helper()
	g, err := h.Game(id)
	labtest.Must(t, err)
	return g
}

// leftovers are the databases of games.
func leftovers(t *testing.T, in *backend.Instance) (list []string) {
	t.Helper()
	labtest.Must(t, in.DB.Raw("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'seckill\\_game\\_%'").Scan(&list).Error)
	return list
}

// A game that ends in the middle of whatever it was leaves no database.
func TestGamesLeaveNoDatabase(t *testing.T) {
	used := []string{"redis-setnx", "zk", "etcd", "get-lock"}
	h := gamesOf(t, nil, used...)
	in := labtest.Instance(t, backend.SQL)
	var ids []string
	for _, name := range used {
		id, s, err := h.Begin(t.Context(), game.Request{Strategy: name, Buyers: 2, Stock: 2, Schedule: "aab"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s, err = played(t, h, id).Move(t.Context(), s.Moves[0].Move); err != nil || s.MovesMade != 4 {
			t.Errorf("%s: %v, %s", name, err, show(s))
		}
		if _, err := played(t, h, id).Undo(t.Context(), 1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		ids = append(ids, id)
	}
	if len(leftovers(t, in)) != len(used) {
		t.Fatalf("the games in the middle have the databases %v: this test would see nothing of what they leave", leftovers(t, in))
	}
	for _, id := range ids {
		if err := h.End(id); err != nil {
			t.Error(err)
		}
	}
	if left := leftovers(t, in); len(left) > 0 {
		t.Errorf("they have left %v", left)
	}
	if _, err := h.Game("x"); code(err) != "unknown_game" {
		t.Errorf("a game that is not there: %v", err)
	}
}

// The most games are on: the one that has been idle for longest gives way to the next.
func TestIdleGamesGiveWay(t *testing.T) {
	h := gamesOf(t, func(h *game.Games) { h.Most = 2 }, "naive")
	var ids [3]string
	for i := range ids {
		if i == 2 { // the first is played
			played(t, h, ids[0])
		}
		var err error
		if ids[i], _, err = h.Begin(t.Context(), game.Request{Level: "first-lost-update"}); err != nil {
			t.Fatal(err)
		}
	}
	played(t, h, ids[0])
	played(t, h, ids[2])
	if _, err := h.Game(ids[1]); code(err) != "unknown_game" {
		t.Errorf("the idle game: %v", err)
	}
}

// A lab that is killed cannot end its games: the next game there does, and leaves those
// of others alone.
func TestGamesOfAKilledLabAreRemoved(t *testing.T) {
	in := labtest.Instance(t, backend.SQL)
	alive := gamesOf(t, nil, "naive")
	other, _, err := alive.Begin(t.Context(), game.Request{Strategy: "naive", Buyers: 2, Stock: 2, Schedule: "aab"})
	labtest.Must(t, err)
	before := leftovers(t, in)
	var next string // the first that is free
	for n := 1; next == ""; n++ {
		if name := fmt.Sprint("seckill_game_", n); !slices.Contains(before, name) {
			next = name
		}
	}
	labtest.Must(t, in.DB.Exec("CREATE DATABASE "+next).Error)
	labtest.Must(t, in.DB.Exec("CREATE TABLE "+next+".stock (id INT)").Error)
	games := gamesOf(t, nil, "naive")
	id, _, err := games.Begin(t.Context(), game.Request{Strategy: "naive", Buyers: 2, Stock: 2, Schedule: "a"})
	labtest.Must(t, err)
	if err := games.End(id); err != nil {
		t.Error(err)
	}
	if after := leftovers(t, in); !slices.Equal(after, before) {
		t.Errorf("the next lab leaves %q; with the game of another it should be %q", after, before)
	}
	if err := alive.End(other); err != nil {
		t.Error(err)
	}
}

// Many play at once, some of them with strategies that lock whole tables, and each
// gets what they would get alone.
func TestManyAtOnce(t *testing.T) {
	used := []string{"conditional-scan", "for-update-scan", "naive", "redis-blpop", "lock-table-v1", "for-update", "get-lock", "redis-set-nx-px"}
	h := gamesOf(t, nil, used...)
	var all sync.WaitGroup
	players := len(used)
	if labtest.Verify {
		players = game.MostGames
	}
	for i := range players {
		name := used[i%len(used)]
		all.Go(func() {
			id, s, err := h.Begin(t.Context(), game.Request{Strategy: name, Buyers: 2, Stock: 2})
			g, _ := h.Game(id)
			for n := 0; err == nil && !s.Over && n < 100; n++ {
				// Side by side, as far as they can.
				move := s.Moves[0].Move
				for _, m := range s.Moves {
					if m.Fault == "" && m.Who != "" && (m.Who == "A") == (n%2 == 0) && !m.Renewer {
						move = m.Move
					}
				}
				s, err = g.Move(t.Context(), move)
			}
			switch {
			case err != nil:
				t.Errorf("%s: %v", name, err)
			case !s.Over:
				t.Errorf("%s does not end: %s", name, s.Schedule)
			case s.Verdict.Broken != (name == "naive"):
				t.Errorf("%s: %s, %+v", name, s.Schedule, s.Verdict)
			}
		})
	}
	all.Wait()
}
