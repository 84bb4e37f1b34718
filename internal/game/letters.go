package game

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"seckill/internal/explore"
)

// A schedule is written as one short text, the same in a link, a file, a test and a
// command: "a" is the next command of buyer A, "na" that of the renewer of A's lock,
// and a capital letter is a fault, with the buyer behind it whom it befalls.
var letters = []faultLetter{
	{'L', explore.LeaseEnds, true},
	{'K', explore.LeaseEnds, false}, // of a buyer who is named
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

// maxBuyers of any schedule: each has a letter of its own.
const maxBuyers = 8

type faultLetter struct {
	letter byte
	fault  explore.Fault
	alone  bool // no buyer follows
}

// FormatSchedule writes choices as a schedule.
func FormatSchedule(choices ...explore.Choice) string {
	var b strings.Builder
	for _, c := range choices {
		for _, l := range letters {
			if l.fault == c.Fault && l.alone == (c.Who == "") {
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

// ParseSchedule reads what FormatSchedule writes.
func ParseSchedule(text string) (list []explore.Choice, err error) {
	wrong := func(i int, what string) ([]explore.Choice, error) { return nil, fmt.Errorf("letter %d: %s", i+1, what) }
	for i := 0; i < len(text); i++ {
		var c explore.Choice
		if f := slices.IndexFunc(letters, func(l faultLetter) bool { return l.letter == text[i] }); f >= 0 {
			c.Fault = letters[f].fault
			if letters[f].alone {
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
			return wrong(i-1, "a buyer's letter must follow")
		case text[i] < 'a' || text[i] >= 'a'+maxBuyers:
			return wrong(i, fmt.Sprintf("%q is no buyer and no fault: buyers are a, b, c, …, and faults L, K, T, D, G, Q, P, R, C, X, W, V, J and S", text[i]))
		}
		c.Who = strings.ToUpper(text[i : i+1])
		list = append(list, c)
	}
	return list, nil
}

// longest is how many moves a schedule may have.
const longest = 400

// Read reads a schedule. The error is a *web.Problem.
func Read(schedule string) ([]explore.Choice, error) {
	list, err := ParseSchedule(schedule)
	switch {
	case err != nil:
		return nil, newProblem(http.StatusBadRequest, "bad_schedule", "The schedule %q makes no sense at %v.", clipText(schedule), err)
	case len(list) > longest:
		return nil, newProblem(http.StatusBadRequest, "bad_schedule", "The schedule has more than %d moves.", longest)
	}
	return list, nil
}

// readMove reads one move.
func readMove(text string) (explore.Choice, error) {
	list, err := Read(text)
	if err != nil || len(list) != 1 {
		return explore.Choice{}, newProblem(http.StatusConflict, "impossible_move", "%q is not one move. A move is a for buyer A's next command, "+
			"or a fault's letter, with the buyer's behind it: L, Da, Ra. The game's moves list those that are possible.", clipText(text))
	}
	return list[0], nil
}
