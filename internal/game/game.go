package game

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/web"
)

// moveLimit bounds one move, and the replay of one.
const moveLimit = time.Minute

// A Game is buyers on a fresh SKU, and the moves so far. Its methods may be called
// by several goroutines; errors that are no *web.Problem are the servers'.
type Game struct {
	id      string // in the API; "": it is not played there
	setting Setting
	level   *Level // nil: free play
	place   *place

	ending atomic.Bool // moves that wait for mu are not made any more

	mu    sync.Mutex
	live  *explore.Live // nil after a failure, until the moves are replayed
	view  explore.View
	moves []explore.Choice
	said  bool // that it is impossible
}

// Open begins a game on servers, with a database of its own, and replays the moves
// of a schedule. The setting has passed its Check; level is nil in free play. Close ends it.
func Open(ctx context.Context, config backend.Config, info catalog.Info, s Setting, level *Level, schedule string) (*Game, error) {
	moves, err := Read(schedule)
	if err != nil {
		return nil, err
	}
	p, err := openPlace(ctx, config, info)
	if err != nil {
		return nil, err
	}
	g := &Game{setting: s, level: level, place: p}
	if err := g.replayMoves(ctx, moves); err != nil {
		return nil, errors.Join(err, g.Close(context.WithoutCancel(ctx)))
	}
	return g, nil
}

// replayMoves begins anew, with these moves. After an error the game keeps its previous
// moves and what they led to, and the next move begins it again.
func (g *Game) replayMoves(ctx context.Context, moves []explore.Choice) (err error) {
	had, saw := g.moves, g.view
	defer func() {
		if err != nil {
			g.endLive()
			g.moves, g.view = had, saw
		}
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), moveLimit)
	defer cancel()
	g.endLive()
	live, view, err := g.place.world.Begin(ctx, &g.setting.Scenario)
	if err != nil {
		return fmt.Errorf("begin the game: %w", err)
	}
	g.live, g.view, g.moves = live, view, nil
	for i, m := range moves {
		// A counterexample's schedule does not say when time passes.
		for m.Fault != explore.TimePasses && len(g.view.Options) > 0 && g.view.Options[0].Fault == explore.TimePasses {
			if err := g.makeMove(ctx, g.view.Options[0].Choice); err != nil {
				return err
			}
		}
		if err := g.makeMove(ctx, m); err != nil {
			var refused *web.Problem
			if errors.As(err, &refused) {
				return newProblem(http.StatusBadRequest, "bad_schedule", "The schedule does not fit: move %d, %q, cannot be made. %s", i+1, FormatSchedule(m), refused.Detail)
			}
			return err
		}
	}
	return nil
}

func (g *Game) endLive() {
	if g.live != nil {
		g.live.End()
		g.live = nil
	}
}

// makeMove makes one move.
func (g *Game) makeMove(ctx context.Context, m explore.Choice) error {
	view, err := g.live.Choose(ctx, m)
	switch {
	case errors.Is(err, explore.ErrImpossible):
		var moves []string
		for _, m := range g.possibleMoves() {
			moves = append(moves, m.Move)
		}
		return newProblem(http.StatusConflict, "impossible_move", "%q is not possible now. These are: %s.", FormatSchedule(m), strings.Join(moves, " "))
	case errors.Is(err, explore.ErrOver):
		return newProblem(http.StatusConflict, "game_over", "The game is over: all buyers are done. Undo a move, or begin another game.")
	case err != nil:
		g.endLive()
		return fmt.Errorf("make the move %s: %w", FormatSchedule(m), err)
	}
	g.view, g.moves = view, append(g.moves, m)
	return nil
}

// possibleMoves are the moves that can be made now.
func (g *Game) possibleMoves() []Move {
	moves := []Move{}
	for _, o := range g.view.Options {
		moves = append(moves, Move{FormatSchedule(o.Choice), o})
	}
	return moves
}

// State is the game as it stands.
func (g *Game) State() State {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.currentState()
}

func (g *Game) currentState() State {
	s := State{ID: g.id, Setting: g.setting, Schedule: FormatSchedule(g.moves...), View: g.view, Moves: g.possibleMoves(),
		MovesMade: len(g.moves), FaultsLeft: g.setting.MaxFaults - g.view.Faults, Over: g.view.Judged != nil}
	if s.Over {
		s.Verdict = verdictOf(g.setting, g.view.Judged)
	}
	if g.level != nil {
		s.Level = g.level.Name
		s.Grade = g.level.gradeState(s, g.said)
	}
	return s
}

func verdictOf(s Setting, o *explore.Schedule) *Verdict {
	v := &Verdict{Broken: len(o.Problems) > 0, Problems: append([]explore.Problem{}, o.Problems...), Stock: s.Stock,
		Sold: o.Audit.Sold, Left: o.Audit.Remaining}
	for _, b := range o.Buyers {
		if b.Does == explore.Buys && b.Err == nil && !b.Dead {
			v.Told += b.Receipt.Quantity
		}
	}
	return v
}

// Move makes a move, written as in a schedule.
func (g *Game) Move(ctx context.Context, move string) (State, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.ensureLive(ctx); err != nil {
		return State{}, err
	}
	m, err := readMove(move)
	if err != nil {
		return State{}, err
	}
	if len(g.moves) >= longest {
		return State{}, newProblem(http.StatusConflict, "impossible_move", "The game has %d moves, which is the most there may be: undo some.", longest)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), moveLimit)
	defer cancel()
	if err := g.makeMove(ctx, m); err != nil {
		return State{}, err
	}
	return g.currentState(), nil
}

// Undo takes back the last n moves.
func (g *Game) Undo(ctx context.Context, n int) (State, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ending.Load() {
		return State{}, unknownGame
	}
	if n < 1 || n > len(g.moves) {
		return State{}, newProblem(http.StatusConflict, "nothing_to_undo", "Give how many moves to take back, from 1 to the %d made so far.", len(g.moves))
	}
	if err := g.replayMoves(ctx, g.moves[:len(g.moves)-n:len(g.moves)-n]); err != nil {
		return State{}, err
	}
	return g.currentState(), nil
}

// SayImpossible is the player's answer to a level: no schedule wins it.
func (g *Game) SayImpossible() (State, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.level == nil {
		return State{}, newProblem(http.StatusConflict, "no_level", "Only a level can be said to be impossible: this game is free play.")
	}
	g.said = true
	return g.currentState(), nil
}

// ensureLive begins the game again after a failure.
func (g *Game) ensureLive(ctx context.Context) error {
	if g.ending.Load() {
		return unknownGame
	}
	if g.live != nil {
		return nil
	}
	return g.replayMoves(ctx, g.moves)
}

// newProblem is what a player asked for that cannot be done. The game is as it was.
func newProblem(status int, code, format string, args ...any) *web.Problem {
	return &web.Problem{Status: status, Code: code, Detail: fmt.Sprintf(format, args...)}
}

func clipText(text string) string {
	if len(text) > 60 {
		return text[:60] + "…"
	}
	return text
}

// LabCloses refuses what would begin while the lab is being stopped.
var LabCloses = newProblem(http.StatusServiceUnavailable, "lab_closes", "The lab is being stopped, so nothing begins any more.")

var unknownGame = newProblem(http.StatusNotFound, "unknown_game", "There is no such game: it was ended, or gave way to another. Its schedule begins it again.")

// Close ends the game and leaves nothing of it on the servers. It waits for a move
// that is being made.
func (g *Game) Close(ctx context.Context) error {
	if g.ending.Swap(true) {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.endLive()
	return g.place.closeAll(ctx)
}
