package game

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"seckill/internal/catalog"
	"seckill/internal/explore"
)

// Free is the setting of free play: the first buyer wants two units, the others
// one. processes is 0 (each buyer has their own) or 1.
func Free(info catalog.Info, buyers int, stock int64, processes int) Setting {
	s := Setting{info.Name, explore.Scenario{Stock: stock, Faults: slices.Clone(ofGames.faults), MaxFaults: 2}}
	s.Buyers = make([]explore.Buyer, min(max(buyers, 0), ofGames.maxBuyers+1)) // Check refuses what is too many
	if buyers > 0 {
		s.Buyers[0].Quantity = 2
	}
	s.fill(processes)
	if info.Renews {
		s.Renewals = 2
	}
	return s
}

// fill gives each buyer what was not said of them. processes as for Free.
func (s Setting) fill(processes int) {
	for i := range s.Buyers {
		b := &s.Buyers[i]
		b.Name, b.Quantity, b.Does = string(rune('A'+i)), cmp.Or(b.Quantity, 1), cmp.Or(b.Does, explore.Buys)
		if processes != 1 {
			b.Process = i
		}
	}
}

// Check says what is wrong with a setting; nil: nothing. The error is a *web.Problem.
func (s Setting) Check() error {
	if err := ofGames.check(&s.Scenario); err != nil {
		what := err.Error()
		return problem(http.StatusBadRequest, "invalid", "%s%s.", strings.ToUpper(what[:1]), what[1:])
	}
	return nil
}
