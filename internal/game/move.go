package game

import (
	"fmt"
	"strings"

	"seckill/internal/explore"
)

// letters of the moves that are no command of a buyer.
var letters = map[byte]explore.Fault{
	'L': explore.LeaseEnds,
	'K': explore.LeaseEnds, // of a buyer who is named
	'T': explore.TimePasses,
	'D': explore.Dies,
	'J': explore.ClockJumps,
	'G': explore.GivenUp,
	'Q': explore.Leaves,
	'R': explore.ReplyLost,
	'C': explore.CommandLost,
	'W': explore.Delayed,
	'V': explore.Arrives,
}

// alone are letters without a buyer behind them.
const alone = "LT"

func isAlone(letter byte) bool { return strings.IndexByte(alone, letter) >= 0 }

// Write is a move's letters in a schedule; "" if it has none.
func Write(c explore.Choice) string {
	var b strings.Builder
	if c.Fault != "" {
		for letter, f := range letters {
			if f == c.Fault && isAlone(letter) == (c.Who == "") {
				b.WriteByte(letter)
			}
		}
		if b.Len() == 0 {
			return ""
		}
	}
	if c.Renewer {
		b.WriteByte('n')
	}
	b.WriteString(strings.ToLower(c.Who))
	return b.String()
}

// longest is how many moves a schedule may have.
const longest = 400

// Read reads a schedule. The error is a *Mistake.
func Read(schedule string) (list []explore.Choice, err error) {
	wrong := func(i int, format string, args ...any) error {
		return &Mistake{BadSchedule, fmt.Sprintf("The schedule %q makes no sense at letter %d: ", clip(schedule), i+1) +
			fmt.Sprintf(format, args...)}
	}
	for i := 0; i < len(schedule); i++ {
		var c explore.Choice
		if f, ok := letters[schedule[i]]; ok {
			c.Fault = f
			if isAlone(schedule[i]) {
				list = append(list, c)
				continue
			}
			i++
		}
		if i < len(schedule) && schedule[i] == 'n' {
			c.Renewer = true
			i++
		}
		switch {
		case i >= len(schedule):
			return nil, wrong(i-1, "a buyer's letter must follow.")
		case schedule[i] < 'a' || schedule[i] >= 'a'+mostBuyers:
			return nil, wrong(i, "%q is no buyer and no fault. Buyers are a, b and c; L, K, T, D, G, Q, R, C, W, V and J are faults.", schedule[i])
		}
		c.Who = strings.ToUpper(schedule[i : i+1])
		if list = append(list, c); len(list) > longest {
			return nil, &Mistake{BadSchedule, fmt.Sprintf("The schedule has more than %d moves.", longest)}
		}
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
