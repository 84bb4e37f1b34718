package game

import (
	"fmt"
	"net/http"

	"seckill/internal/explore"
	"seckill/internal/web"
)

// longest is how many moves a schedule may have.
const longest = 400

// Read reads a schedule. The error is a *web.Problem.
func Read(schedule string) ([]explore.Choice, error) {
	list, err := ParseSchedule(schedule)
	switch {
	case err != nil:
		return nil, problem(http.StatusBadRequest, "bad_schedule", "The schedule %q makes no sense at %v.", clip(schedule), err)
	case len(list) > longest:
		return nil, problem(http.StatusBadRequest, "bad_schedule", "The schedule has more than %d moves.", longest)
	}
	return list, nil
}

// readMove reads one move.
func readMove(text string) (explore.Choice, error) {
	list, err := Read(text)
	if err != nil || len(list) != 1 {
		return explore.Choice{}, problem(http.StatusConflict, "impossible_move", "%q is not one move. A move is a for buyer A's next command, "+
			"or a fault's letter, with the buyer's behind it: L, Da, Ra. The game's moves list those that are possible.", clip(text))
	}
	return list[0], nil
}

func clip(text string) string {
	if len(text) > 60 {
		return text[:60] + "…"
	}
	return text
}

// problem is what a player asked for that cannot be done. The game is as it was.
func problem(status int, code, format string, args ...any) *web.Problem {
	return &web.Problem{Status: status, Code: code, Detail: fmt.Sprintf(format, args...)}
}
