package game

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"

	"seckill/internal/explore"
)

// readExample reads the counterexample with this name. The error is a *web.Problem.
func (gs *Games) readExample(name string) (Example, error) {
	if gs.Examples != nil {
		if text, err := fs.ReadFile(gs.Examples, name+".json"); err == nil {
			if e, err := ReadExample(bytes.NewReader(text)); err == nil {
				return e, nil
			}
		}
	}
	return Example{}, newProblem(http.StatusNotFound, "unknown_example", "There is no counterexample %.60q: "+
		"/api/lab/v1/guarantees/matrix.json names them, such as naive.oversell.", name)
}

// Replay runs the schedule of a counterexample of `seckill prove` on the lab's servers. It returns the example with
// the steps, answers and problems of this run. If an error is not a *web.Problem, it comes from the servers.
func (gs *Games) Replay(ctx context.Context, name string) (now Example, err error) {
	e, err := gs.readExample(name)
	if err != nil {
		return now, err
	}
	info, err := gs.findStrategy(e.Strategy)
	if err != nil {
		return now, err
	}
	if slices.Contains(e.Scenario.Faults, explore.NodeLost) {
		return now, newProblem(http.StatusBadRequest, "not_replayable", "A server is lost in this counterexample, and "+
			"the lab's servers are shared. seckill prove --replay starts servers of its own.")
	}
	if err := gs.reserveSlot(info); err != nil {
		return now, err
	}
	defer gs.busy.Done()
	ctx, cancel := context.WithTimeout(ctx, moveTimeout)
	defer cancel()
	d, err := openDatabase(ctx, gs.Servers(), info)
	if err != nil {
		return now, err
	}
	defer func() { err = errors.Join(err, d.close(ctx)) }()
	choices, err := e.Choices()
	if err != nil {
		return now, err
	}
	schedule, err := d.world.Replay(ctx, &e.Scenario, choices)
	if errors.Is(err, explore.ErrDiverged) {
		return now, newProblem(http.StatusConflict, "diverged", "The counterexample does not fit any more: %v. "+
			"Compute it again: seckill prove --strategies %s --questions %s", err, e.Strategy, e.Question)
	}
	if err != nil {
		return now, fmt.Errorf("replay %s: %w", e.Strategy, err)
	}
	return NewExample(e.Strategy, e.Question, schedule), nil
}
