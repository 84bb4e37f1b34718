package game

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"seckill/internal/explore"
)

// A schedule is written as one short text, in links, files, tests and commands alike:
//
//	a   buyer A's next command runs
//	na  the next command of the goroutine that renews A's lock runs
//	Da  a fault happens to buyer A: the letter of the fault, then the letter of the buyer
//	L   a fault that concerns no single buyer
var letters = []faultLetter{
	{'L', explore.LeaseEnds, true},
	{'K', explore.LeaseEnds, false}, // the lease of one buyer, whose letter follows
	{'T', explore.TimePasses, true},
	{'D', explore.Dies, false},
	{'G', explore.GivenUp, false},
	{'Q', explore.Leaves, false},
	{'P', explore.Panics, false},
	{'I', explore.IDTaken, false},
	{'R', explore.ReplyLost, false},
	{'C', explore.CommandLost, false},
	{'X', explore.Refused, false},
	{'W', explore.Delayed, false},
	{'V', explore.Arrives, false},
	{'J', explore.ClockJumps, false},
	{'S', explore.NodeLost, true},
}

// maxBuyers is the maximum number of buyers in a schedule, because each buyer needs a letter of its own.
const maxBuyers = 8

type faultLetter struct {
	letter  byte
	fault   explore.Fault
	noBuyer bool // true if the fault concerns no single buyer, so no buyer's letter follows this letter
}

// FormatSchedule writes choices as a schedule's text.
func FormatSchedule(choices ...explore.Choice) string {
	var b strings.Builder
	for _, c := range choices {
		for _, l := range letters {
			if l.fault == c.Fault && l.noBuyer == (c.Who == "") {
				b.WriteByte(l.letter)
			}
		}
		if c.Renewer {
			b.WriteByte('n')
		}
		b.WriteString(strings.ToLower(c.Who))
	}
	return b.String()
}

func parseSchedule(text string) ([]explore.Choice, error) {
	var list []explore.Choice
	for i := 0; i < len(text); i++ {
		var c explore.Choice
		if f := slices.IndexFunc(letters, func(l faultLetter) bool { return l.letter == text[i] }); f >= 0 {
			c.Fault = letters[f].fault
			if letters[f].noBuyer {
				list = append(list, c)
				continue
			}
			i++
		}
		if i < len(text) && text[i] == 'n' {
			c.Renewer = true
			i++
		}
		switch {
		case i >= len(text):
			return nil, fmt.Errorf("letter %d: a buyer's letter must follow", i)
		case text[i] < 'a' || text[i] >= 'a'+maxBuyers:
			return nil, fmt.Errorf("letter %d: %q is no buyer and no fault: buyers are a, b, c, …, "+
				"and faults L, K, T, D, G, Q, P, R, C, X, W, V, J and S", i+1, text[i])
		}
		c.Who = strings.ToUpper(text[i : i+1])
		list = append(list, c)
	}
	return list, nil
}

const maxMoves = 400

// ReadSchedule reads a text that FormatSchedule wrote, of at most maxMoves moves. The error is a *web.Problem.
func ReadSchedule(schedule string) ([]explore.Choice, error) {
	list, err := parseSchedule(schedule)
	switch {
	case err != nil:
		return nil, newProblem(http.StatusBadRequest, "bad_schedule",
			"The schedule %.60q makes no sense at %v.", schedule, err)
	case len(list) > maxMoves:
		return nil, newProblem(http.StatusBadRequest, "bad_schedule", "The schedule has more than %d moves.", maxMoves)
	}
	return list, nil
}

func readMove(text string) (explore.Choice, error) {
	list, err := ReadSchedule(text)
	if err != nil || len(list) != 1 {
		return explore.Choice{}, newProblem(http.StatusConflict, "impossible_move", "%.60q is not one move. "+
			"A move is a for buyer A's next command, or a fault's letter followed by the buyer's: L, Da, Ra. "+
			"The game's moves list those that are possible.", text)
	}
	return list[0], nil
}
