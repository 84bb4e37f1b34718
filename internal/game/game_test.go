package game_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/internal/web"
	"seckill/strategies"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

func named(t *testing.T, name string) catalog.Info {
	t.Helper()
	for _, info := range strategies.All() {
		if info.Name == name {
			return info
		}
	}
	t.Fatalf("there is no strategy %q", name)
	return catalog.Info{}
}

// show is a state, to be read.
func show(s game.State) string {
	text, _ := json.MarshalIndent(s, "", "  ")
	return string(text)
}

func code(err error) string {
	var m *web.Problem
	if !errors.As(err, &m) {
		return ""
	}
	return m.Code
}

func TestWrongMoves(t *testing.T) {
	h := gamesOf(t, nil, "for-update")
	id, _, err := h.Begin(t.Context(), game.Request{Strategy: "for-update", Buyers: 2, Stock: 2, Schedule: "abab"})
	labtest.Must(t, err)
	g := played(t, h, id)
	for move, says := range map[string]string{"b": "These are: a", "c": "These are: a", "T": "These are: a", "Va": "These are: a",
		"x": "is not one move", "aa": "is not one move"} {
		if _, err := g.Move(t.Context(), move); code(err) != "impossible_move" || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v (%s)", move, err, code(err))
		}
	}
	if s := g.State(); s.Schedule != "abab" || s.Over {
		t.Errorf("mistakes have changed the game: %s", show(s))
	}
	if _, err := game.Read(strings.Repeat("a", 401)); code(err) != "bad_schedule" {
		t.Errorf("a schedule of 401 moves: %v", err)
	}
}
