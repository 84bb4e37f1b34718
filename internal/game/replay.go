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
)

var exampleName = regexp.MustCompile(`^[a-z0-9-]+\.[a-z0-9-]+(\.[a-z_]+)?$`)

// readExample reads a counterexample of the proof. The error is a *web.Problem.
func readExample(files fs.FS, name string) (e Example, err error) {
	unknown := newProblem(http.StatusNotFound, "unknown_example", "There is no counterexample %q: /api/lab/v1/guarantees/matrix.json names them, such as naive.oversell.", clipText(name))
	if files == nil || !exampleName.MatchString(name) {
		return e, unknown
	}
	f, err := files.Open(name + ".json")
	if err != nil {
		return e, unknown
	}
	defer f.Close()
	if e, err = ReadExample(f); err != nil {
		return e, unknown
	}
	return e, nil
}

// Replay runs a counterexample of `seckill prove` again, now, on the lab's servers,
// and says what came of it. Close waits for it. Errors that are no *web.Problem are the
// servers'.
func (gs *Games) Replay(ctx context.Context, name string) (now Example, err error) {
	e, err := readExample(gs.Examples, name)
	if err != nil {
		return now, err
	}
	i := slices.IndexFunc(gs.Strategies, func(i catalog.Info) bool { return i.Name == e.Strategy })
	if i < 0 {
		return now, newProblem(http.StatusNotFound, "unknown_strategy", "There is no strategy %q: /api/v1/strategies lists them.", clipText(e.Strategy))
	}
	info := gs.Strategies[i]
	if slices.Contains(e.Scenario.Faults, explore.NodeLost) {
		return now, newProblem(http.StatusBadRequest, "not_replayable", "A server is lost in it, and the lab's servers are shared. "+
			"seckill prove --replay starts servers of its own.")
	}
	if err := gs.admit(info); err != nil {
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
		err = errors.Join(err, p.closeAll(ctx))
	}()
	choices, err := e.Choices()
	if err != nil {
		return now, err
	}
	schedule, err := p.world.Again(ctx, &e.Scenario, choices)
	if errors.Is(err, explore.ErrDiverged) {
		return now, newProblem(http.StatusConflict, "diverged", "The counterexample does not fit any more: %v. Compute it anew: seckill prove --strategies %s --questions %s",
			err, e.Strategy, e.Question)
	}
	if err != nil {
		return now, fmt.Errorf("replay %s: %w", e.Strategy, err)
	}
	return NewExample(e.Strategy, e.Question, schedule), nil
}
