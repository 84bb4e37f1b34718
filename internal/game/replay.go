package game

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"seckill/internal/catalog"
	"seckill/internal/explore"
)

// Codes of mistakes of a replay.
const (
	NotReplayable = "not_replayable"
	Diverged      = "diverged"
)

// Replay runs a counterexample of `seckill prove` again, now, on the lab's servers,
// and says what came of it. While it runs it counts as a game. Errors that are no
// *Mistake are the servers'.
func (h *Hall) Replay(ctx context.Context, name string) (now explore.Example, err error) {
	e, err := readExample(h.Examples, name)
	if err != nil {
		return now, err
	}
	i := slices.IndexFunc(h.Strategies, func(i catalog.Info) bool { return i.Name == e.Strategy })
	if i < 0 {
		return now, &Mistake{UnknownStrategy, fmt.Sprintf("There is no strategy %q: /api/v1/strategies lists them.", clip(e.Strategy))}
	}
	info := h.Strategies[i]
	if slices.Contains(e.Scenario.Faults, explore.NodeLost) {
		return now, &Mistake{NotReplayable, "A server is lost in it, and the lab's servers are shared. " +
			"seckill prove --replay starts servers of its own."}
	}
	if why := h.missing(info); why != nil {
		return now, &Mistake{StrategyUnavailable, fmt.Sprintf("%s cannot be played here: %s.", info.Name, why[0])}
	}
	if err := h.reserve(); err != nil {
		return now, err
	}
	defer func() {
		h.mu.Lock()
		h.opening--
		h.mu.Unlock()
		h.ending.Done()
	}()
	ctx, cancel := context.WithTimeout(ctx, moveLimit)
	defer cancel()
	p, err := openPlace(ctx, h.Servers(), info, h.Service)
	if err != nil {
		return now, err
	}
	defer func() {
		err = errors.Join(err, p.leave(ctx))
	}()
	schedule, err := p.world.Replay(ctx, e)
	if errors.Is(err, explore.ErrDiverged) {
		return now, &Mistake{Diverged, fmt.Sprintf("The counterexample does not fit any more: %v. Compute it anew: seckill prove --strategies %s --questions %s",
			err, e.Strategy, e.Question)}
	}
	if err != nil {
		return now, fmt.Errorf("replay %s: %w", e.Strategy, err)
	}
	return explore.NewExample(e.Strategy, e.Question, schedule), nil
}
