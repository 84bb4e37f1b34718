package game

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// Check plays a schedule on servers and fails if one answer differs from the recording. The
// function choose selects the next move among the recorded ones.
func (r *Recording) Check(ctx context.Context, g *Game, choose func(schedule string, moves []string) string) error {
	seen := &recorder{parts: r.Parts}
	var before *position
	at, made := r.Positions[len(r.Positions)-1], Edge{}
	return g.follow(ctx, func(s State) (string, error) {
		now := seen.positionOf(s)
		if before != nil {
			at = r.Positions[made.To]
			happened := before.edgeTo(now)
			happened.Move, happened.To = made.Move, made.To
			if got, want := asJSON(happened), asJSON(made); got != want {
				return "", fmt.Errorf("after %q: the move is %s, and was recorded as %s", s.Schedule, got, want)
			}
		}
		want := &position{Position: at, steps: now.steps}
		edges, moves := map[string]Edge{}, []string(nil)
		for _, e := range at.Edges {
			want.moves = append(want.moves, moveSeen{part: e.Move})
			var m Move
			_ = json.Unmarshal(r.Parts.list[e.Move], &m) // cannot fail: Record wrote this move
			if edges[m.Move] = e; e.To >= 0 {
				moves = append(moves, m.Move)
			}
		}
		if err := seen.compare(want, now); err != nil {
			return "", fmt.Errorf("%s was recorded on %s, on %s. After %q the servers answer otherwise: %w",
				r.Level, r.Recorded, strings.Join(r.Servers, ", "), s.Schedule, err)
		}
		if s.Over {
			return "", nil
		}
		move := choose(s.Schedule, moves)
		before, made = now, edges[move]
		return move, nil
	})
}

func asJSON(e Edge) string {
	text, _ := json.Marshal(e) // numbers
	return string(text)
}
