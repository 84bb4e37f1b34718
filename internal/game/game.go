package game

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/web"
)

// moveTimeout limits the time of one move. A replay of all moves has the same limit.
const moveTimeout = time.Minute

// A Game is one sale of a new SKU, and the moves that the player has made. Its methods are safe for concurrent use.
// If they return an error that is not a *web.Problem, the error comes from the servers.
type Game struct {
	id       string // the game's id in the API; "" for a game of the command line or of a test
	setting  Setting
	level    *Level // nil in free play
	database *database

	mu             sync.Mutex
	closed         bool
	live           *explore.Live // the running sale; nil after a failure, until the next move replays all moves
	view           explore.View
	moves          []explore.Choice
	saidImpossible bool
}

// Open begins a game on servers, with a database of its own, and replays the moves of schedule. The caller must have
// checked the setting, and must call Close to end the game. In free play, level is nil.
func Open(
	ctx context.Context, config backend.Config, info catalog.Info, s Setting, level *Level, schedule string,
) (*Game, error) {
	moves, err := ReadSchedule(schedule)
	if err != nil {
		return nil, err
	}
	d, err := openDatabase(ctx, config, info)
	if err != nil {
		return nil, err
	}
	g := &Game{setting: s, level: level, database: d}
	if err := g.replayMoves(ctx, moves); err != nil {
		return nil, errors.Join(err, g.Close(context.WithoutCancel(ctx)))
	}
	return g, nil
}

// replayMoves starts a new sale and makes these moves in it. After an error, the game keeps its previous moves and
// view. The next move then replays the previous moves first.
func (g *Game) replayMoves(ctx context.Context, moves []explore.Choice) (err error) {
	oldMoves, oldView := g.moves, g.view
	defer func() {
		if err != nil {
			g.endLive()
			g.moves, g.view = oldMoves, oldView
		}
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), moveTimeout)
	defer cancel()
	g.endLive()
	live, view, err := g.database.world.Begin(ctx, &g.setting.Scenario)
	if err != nil {
		return fmt.Errorf("begin the game: %w", err)
	}
	g.live, g.view, g.moves = live, view, nil
	for i, m := range moves {
		// A counterexample's schedule lacks the moves TimePasses, because the search makes them by itself. In a game
		// the player makes them, so replayMoves inserts them.
		for m.Fault != explore.TimePasses && len(g.view.Options) > 0 && g.view.Options[0].Fault == explore.TimePasses {
			if err := g.makeMove(ctx, g.view.Options[0].Choice); err != nil {
				return err
			}
		}
		err := g.makeMove(ctx, m)
		var refused *web.Problem
		if errors.As(err, &refused) {
			return newProblem(http.StatusBadRequest, "bad_schedule",
				"The schedule does not fit: move %d, %q, cannot be made. %s", i+1, FormatSchedule(m), refused.Detail)
		}
		if err != nil {
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

// makeMove makes one move. An error that is not a *web.Problem ends g.live.
func (g *Game) makeMove(ctx context.Context, m explore.Choice) error {
	view, err := g.live.Choose(ctx, m)
	switch {
	case errors.Is(err, explore.ErrImpossible):
		var moves []string
		for _, m := range g.possibleMoves() {
			moves = append(moves, m.Move)
		}
		return newProblem(http.StatusConflict, "impossible_move", "%q is not possible now. These are: %s.",
			FormatSchedule(m), strings.Join(moves, " "))
	case errors.Is(err, explore.ErrOver):
		return newProblem(http.StatusConflict, "game_over",
			"The game is over: all buyers are done. Undo a move, or begin another game.")
	case err != nil:
		g.endLive()
		return fmt.Errorf("make the move %s: %w", FormatSchedule(m), err)
	}
	g.view, g.moves = view, append(g.moves, m)
	return nil
}

func (g *Game) possibleMoves() []Move {
	moves := []Move{}
	for _, o := range g.view.Options {
		moves = append(moves, Move{FormatSchedule(o.Choice), o})
	}
	return moves
}

// State returns the state after the last move.
func (g *Game) State() State {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.currentState()
}

func (g *Game) currentState() State {
	s := State{ID: g.id, Setting: g.setting, Schedule: FormatSchedule(g.moves...), View: g.view,
		Moves: g.possibleMoves(), MovesMade: len(g.moves), FaultsLeft: g.setting.MaxFaults - g.view.Faults,
		Over: g.view.Judged != nil}
	if s.Over {
		s.Verdict = verdictOf(g.setting, g.view.Judged)
	}
	if g.level != nil {
		s.Level = g.level.Name
		s.Grade = g.level.gradeState(s, g.saidImpossible)
	}
	return s
}

func verdictOf(s Setting, judged *explore.Schedule) *Verdict {
	v := &Verdict{Broken: len(judged.Problems) > 0, Problems: append([]explore.Problem{}, judged.Problems...),
		Stock: s.Stock, Sold: judged.Audit.Sold, Left: judged.Audit.Remaining}
	for _, b := range judged.Buyers {
		if b.Action == explore.Buys && b.Err == nil && !b.Dead {
			v.Told += b.Receipt.Quantity
		}
	}
	return v
}

// Move makes one move, given by its letters in a schedule.
func (g *Game) Move(ctx context.Context, move string) (State, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return State{}, unknownGame
	}
	if g.live == nil { // an earlier move has failed, so all moves are replayed
		if err := g.replayMoves(ctx, g.moves); err != nil {
			return State{}, err
		}
	}
	m, err := readMove(move)
	if err != nil {
		return State{}, err
	}
	if len(g.moves) >= maxMoves {
		return State{}, newProblem(http.StatusConflict, "impossible_move",
			"The game has %d moves, which is the maximum: undo some.", maxMoves)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), moveTimeout)
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
	if g.closed {
		return State{}, unknownGame
	}
	if n < 1 || n > len(g.moves) {
		return State{}, newProblem(http.StatusConflict, "nothing_to_undo",
			"Give how many moves to take back, from 1 to the %d made so far.", len(g.moves))
	}
	if err := g.replayMoves(ctx, g.moves[:len(g.moves)-n]); err != nil {
		return State{}, err
	}
	return g.currentState(), nil
}

// SayImpossible records the player's claim that no schedule wins the level.
func (g *Game) SayImpossible() (State, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.level == nil {
		return State{}, newProblem(http.StatusConflict, "no_level",
			"Only a level can be said to be impossible: this game is free play.")
	}
	g.saidImpossible = true
	return g.currentState(), nil
}

// newProblem returns the answer to a request that is refused and leaves the game unchanged.
func newProblem(status int, code, format string, args ...any) *web.Problem {
	return &web.Problem{Status: status, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// LabCloses is the answer to every call that would start something while the lab is stopping.
var LabCloses = newProblem(http.StatusServiceUnavailable, "lab_closes",
	"The lab is being stopped, so nothing begins any more.")

var unknownGame = newProblem(http.StatusNotFound, "unknown_game",
	"There is no such game: it was ended, or gave way to another. Its schedule begins it again.")

// Close ends the game and removes its data from the servers. If a move is under way, Close waits for its end.
func (g *Game) Close(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	g.endLive()
	return g.database.close(ctx)
}
