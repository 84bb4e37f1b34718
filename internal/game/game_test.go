package game_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// config is the test program's servers, with what a strategy needs.
func config(t *testing.T, strategy string) backend.Config {
	t.Helper()
	return labtest.Start(t, named(t, strategy).Uses()...).Config()
}

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

// free begins a game of free play.
func free(t *testing.T, strategy string, schedule string) (*game.Game, error) {
	t.Helper()
	info := named(t, strategy)
	g, err := game.Open(t.Context(), config(t, strategy), info, game.Free(info, 2, 2, 0), nil, schedule)
	if err == nil {
		t.Cleanup(func() {
			if err := g.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	return g, err
}

func begin(t *testing.T, strategy, schedule string) *game.Game {
	t.Helper()
	g, err := free(t, strategy, schedule)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// play makes moves of one letter each.
func play(t *testing.T, g *game.Game, moves string) (s game.State) {
	t.Helper()
	for i := range moves {
		var err error
		if s, err = g.Move(t.Context(), moves[i:i+1], i); err != nil {
			t.Fatalf("move %d, %q: %v", i+1, moves[i:i+1], err)
		}
	}
	return s
}

// show is a state, to be read.
func show(s game.State) string {
	text, _ := json.MarshalIndent(s, "", "  ")
	return string(text)
}

func code(err error) string {
	var m *game.Mistake
	if !errors.As(err, &m) {
		return ""
	}
	return m.Code
}

// A player whose schedule breaks nothing has lost, and may undo it.
func TestUndo(t *testing.T) {
	g := begin(t, "naive", "")
	s := play(t, g, "aaaaab")
	if !s.Over || s.Verdict.Broken || s.Verdict.Sold != 2 || s.Buyers[1].Outcome != "sold_out" || s.Switches != 0 {
		t.Fatalf("%s", show(s))
	}
	s, err := g.Undo(t.Context(), s.MovesMade-1)
	if err != nil || s.Schedule != "a" || s.Over || s.Verdict != nil || len(s.Steps) != 1 || s.Values[0].Value != "2" {
		t.Fatalf("%v, %s", err, show(s))
	}
	if s, err = g.Move(t.Context(), "b", 1); err != nil || s.Schedule != "ab" {
		t.Fatalf("%v, %s", err, show(s))
	}
	if _, err := g.Undo(t.Context(), 3); code(err) != game.NothingToUndo {
		t.Errorf("to undo 3 of 2 moves: %v", err)
	}
}

func TestWrongMoves(t *testing.T) {
	g := begin(t, "for-update", "abab")
	for _, c := range []struct{ move, code, says string }{
		{"b", game.ImpossibleMove, "B waits for an answer"},
		{"c", game.ImpossibleMove, "no buyer C"},
		{"x", game.ImpossibleMove, "is not one move"},
		{"aa", game.ImpossibleMove, "is not one move"},
		{"", game.ImpossibleMove, "is not one move"},
		{"T", game.ImpossibleMove, "time passes"},
		{"Va", game.ImpossibleMove, "arrives late"},
	} {
		if _, err := g.Move(t.Context(), c.move, -1); code(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v (%s)", c.move, err, code(err))
		}
	}
	if _, err := g.Move(t.Context(), "a", 3); code(err) != game.StaleMove {
		t.Errorf("a double click: %v", err)
	}
	if _, err := g.SayImpossible(); code(err) != game.NoLevel {
		t.Errorf("impossible in free play: %v", err)
	}
	if s := g.State(); s.Schedule != "abab" || s.Over {
		t.Errorf("mistakes have changed the game: %s", show(s))
	}
	for schedule, says := range map[string]string{"abb?": "letter 4", "aaaaaaaaaaaaaaa": "does not fit: move", "D": "must follow", strings.Repeat("a", 401): "more than"} {
		if _, err := free(t, "naive", schedule); code(err) != game.BadSchedule || !strings.Contains(err.Error(), says) {
			t.Errorf("the schedule %q: %v", schedule, err)
		}
	}
}

var update = flag.Bool("update", false, "write what a test found into its testdata")

// golden compares text with a file of testdata. What differs from server to server
// is left out.
func golden(t *testing.T, file, text string) {
	t.Helper()
	text = regexp.MustCompile(`"why": "[^"]*"`).ReplaceAllString(text, `"why": "waits for the lock X on stock, index PRIMARY"`)
	file = filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s is out of date (go test ./internal/game -update): it should be\n%s", file, text)
	}
}
