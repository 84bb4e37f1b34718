package game

import (
	"fmt"

	"seckill/internal/explore"
)

// longest is how many moves a schedule may have.
const longest = 400

// Read reads a schedule. The error is a *Mistake.
func Read(schedule string) ([]explore.Choice, error) {
	list, err := explore.ParseSchedule(schedule)
	switch {
	case err != nil:
		return nil, &Mistake{BadSchedule, fmt.Sprintf("The schedule %q makes no sense at %v.", clip(schedule), err)}
	case len(list) > longest:
		return nil, &Mistake{BadSchedule, fmt.Sprintf("The schedule has more than %d moves.", longest)}
	}
	return list, nil
}

// readMove reads one move.
func readMove(text string) (explore.Choice, error) {
	list, err := Read(text)
	if err != nil || len(list) != 1 {
		return explore.Choice{}, &Mistake{ImpossibleMove, fmt.Sprintf("%q is not one move. A move is a for buyer A's next command, "+
			"or a fault's letter, with the buyer's behind it: L, Da, Ra. The game's moves list those that are possible.", clip(text))}
	}
	return list[0], nil
}

func clip(text string) string {
	if len(text) > 60 {
		return text[:60] + "…"
	}
	return text
}

// Codes of mistakes, as the API gives them.
const (
	Invalid             = "invalid"
	BadSchedule         = "bad_schedule"
	ImpossibleMove      = "impossible_move"
	StaleMove           = "stale_move"
	GameOver            = "game_over"
	NothingToUndo       = "nothing_to_undo"
	NoLevel             = "no_level"
	UnknownGame         = "unknown_game"
	UnknownLevel        = "unknown_level"
	UnknownStrategy     = "unknown_strategy"
	StrategyUnavailable = "strategy_unavailable"
	TooManyGames        = "too_many_games"
	UnknownExample      = "unknown_example"
	Unplayable          = "unplayable"
)

// A Mistake is what a player asked for that cannot be done. The game is as it was.
type Mistake struct {
	Code   string
	Detail string // what is wrong, and what to do, in English
}

func (m *Mistake) Error() string { return m.Detail }
