package game

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"slices"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/web"
)

var exampleName = regexp.MustCompile(`^[a-z0-9-]+\.[a-z0-9-]+$`)

// readExample reads a counterexample of the proof. The error is a *web.Problem.
func readExample(files fs.FS, name string) (e explore.Example, err error) {
	unknown := problem(http.StatusNotFound, "unknown_example", "There is no counterexample %q: /api/lab/v1/guarantees/matrix.json names them, such as naive.oversell.", clip(name))
	if files == nil || !exampleName.MatchString(name) {
		return e, unknown
	}
	f, err := files.Open(name + ".json")
	if err != nil {
		return e, unknown
	}
	defer f.Close()
	if e, err = explore.ReadExample(f); err != nil {
		return e, unknown
	}
	return e, nil
}

// ofExample is the setting of a counterexample. The error is a *web.Problem that says
// what a game has not.
func ofExample(e explore.Example) (s Setting, err error) {
	cannot := func(why string) (Setting, error) {
		return s, problem(http.StatusConflict, "unplayable", "This counterexample cannot be played as a game: %s. Its trace shows every step.", why)
	}
	s = Setting{e.Strategy, e.Scenario}
	s.Next = false
	s.Buyers, s.Faults = slices.Clone(s.Buyers), append([]explore.Fault{}, s.Faults...)
	for i := range s.Buyers {
		if s.Buyers[i].Again > 0 {
			return cannot("its buyers send a request again")
		}
		s.Buyers[i].Quantity = max(1, s.Buyers[i].Quantity)
	}
	if s.InLine || s.DiesFirst {
		return cannot("something happens in it before the first move")
	}
	if err := s.Scenario.Check(bounds); err != nil {
		return cannot(err.Error())
	}
	return s, nil
}

// follow makes the moves of a counterexample, to the end, the game's line, and begins
// again. It must break what it broke; else the error is a *web.Problem.
func (g *Game) follow(ctx context.Context, e explore.Example, moves []explore.Choice) error {
	choices, err := e.Choices()
	if err == nil {
		err = g.replay(ctx, choices)
	}
	for err == nil && g.view.Judged == nil && len(g.moves) < longest {
		err = g.choose(ctx, g.view.Options[0].Choice)
	}
	var refused *web.Problem
	switch {
	case errors.As(err, &refused):
		return problem(http.StatusConflict, "unplayable", "This counterexample cannot be played as a game: its steps do not fit the strategy as it is now. Its trace shows every step.")
	case err != nil:
		return err
	case g.view.Judged == nil || !slices.ContainsFunc(g.view.Judged.Problems, func(found explore.Problem) bool {
		return slices.ContainsFunc(e.Problems, func(p explore.Problem) bool { return p.Rule == found.Rule })
	}):
		return problem(http.StatusConflict, "unplayable", "This counterexample cannot be played as a game: what it breaks shows only by a buyer who comes later. Its trace shows every step.")
	}
	g.line = explore.FormatSchedule(g.moves...)
	return g.replay(ctx, moves)
}

// Replay runs a counterexample of `seckill prove` again, now, on the lab's servers,
// and says what came of it. Close waits for it. Errors that are no *web.Problem are the
// servers'.
func (gs *Games) Replay(ctx context.Context, name string) (now explore.Example, err error) {
	e, err := readExample(gs.Examples, name)
	if err != nil {
		return now, err
	}
	i := slices.IndexFunc(gs.Strategies, func(i catalog.Info) bool { return i.Name == e.Strategy })
	if i < 0 {
		return now, problem(http.StatusNotFound, "unknown_strategy", "There is no strategy %q: /api/v1/strategies lists them.", clip(e.Strategy))
	}
	info := gs.Strategies[i]
	if slices.Contains(e.Scenario.Faults, explore.NodeLost) {
		return now, problem(http.StatusBadRequest, "not_replayable", "A server is lost in it, and the lab's servers are shared. "+
			"seckill prove --replay starts servers of its own.")
	}
	if err := gs.enter(info); err != nil {
		return now, err
	}
	defer gs.busy.Done()
	ctx, cancel := context.WithTimeout(ctx, moveLimit)
	defer cancel()
	p, err := openPlace(ctx, gs.Servers(), info)
	if err != nil {
		return now, err
	}
	defer func() {
		err = errors.Join(err, p.leave(ctx))
	}()
	schedule, err := p.world.Replay(ctx, e)
	if errors.Is(err, explore.ErrDiverged) {
		return now, problem(http.StatusConflict, "diverged", "The counterexample does not fit any more: %v. Compute it anew: seckill prove --strategies %s --questions %s",
			err, e.Strategy, e.Question)
	}
	if err != nil {
		return now, fmt.Errorf("replay %s: %w", e.Strategy, err)
	}
	return explore.NewExample(e.Strategy, e.Question, schedule), nil
}
