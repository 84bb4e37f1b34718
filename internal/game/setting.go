package game

import (
	"cmp"
	"fmt"
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
	s.fillDefaults(processes)
	if info.Renews {
		s.Renewals = 2
	}
	return s
}

// fillDefaults gives each buyer what was not said of them. processes as for Free.
func (s Setting) fillDefaults(processes int) {
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
	if err := ofGames.checkScenario(&s.Scenario); err != nil {
		what := err.Error()
		return newProblem(http.StatusBadRequest, "invalid", "%s%s.", strings.ToUpper(what[:1]), what[1:])
	}
	return nil
}

// bounds are what a scenario may have that comes from outside the program: from a
// file, or from a player.
type bounds struct {
	minBuyers, maxBuyers int
	minStock, maxStock   int64 // on sale; no buyer wants more than maxStock
	maxFaults, renewals  int
	does                 []explore.Does
	faults               []explore.Fault
}

var (
	// ofGames: the order of the faults is the one in which a page lists them.
	ofGames = bounds{minBuyers: 2, maxBuyers: 3, minStock: 1, maxStock: 100, maxFaults: 4, renewals: 10,
		does: []explore.Does{explore.Buys, explore.Cancels, explore.Locks, explore.Pays, explore.Releases, explore.Sweeps},
		faults: []explore.Fault{explore.LeaseEnds, explore.Dies, explore.Leaves, explore.ReplyLost, explore.CommandLost,
			explore.Delayed, explore.ClockJumps}}

	ofExamples = bounds{minBuyers: 1, maxBuyers: maxBuyers, maxStock: 1000, maxFaults: 10, renewals: 10,
		does: append([]explore.Does{explore.Resets, explore.Starts, explore.Forgets, explore.Accepts, explore.Asks, explore.PaysLate, explore.Comes, explore.Reserves, explore.Repeats},
			ofGames.does...),
		faults: append([]explore.Fault{explore.Panics, explore.IDTaken, explore.NodeLost, explore.Refused}, ofGames.faults...)}
)

// checkScenario says what makes no sense in a scenario, or is beyond the bounds; nil: nothing.
func (most bounds) checkScenario(s *explore.Scenario) error {
	switch {
	case s.Stock < most.minStock || s.Stock > most.maxStock:
		return fmt.Errorf("the stock is %d: give %d to %d units", s.Stock, most.minStock, most.maxStock)
	case len(s.Buyers) < most.minBuyers || len(s.Buyers) > most.maxBuyers:
		return fmt.Errorf("there are %d buyers: give %d to %d", len(s.Buyers), most.minBuyers, most.maxBuyers)
	case s.MaxFaults < 0 || s.MaxFaults > most.maxFaults:
		return fmt.Errorf("there may be %d faults: give 0 to %d", s.MaxFaults, most.maxFaults)
	case s.Renewals < 0 || s.Renewals > most.renewals:
		return fmt.Errorf("there are %d renewals: give 0 to %d", s.Renewals, most.renewals)
	}
	for _, f := range s.Faults {
		if !slices.Contains(most.faults, f) {
			return fmt.Errorf("there is no fault %.60q: give some of %q", f, most.faults)
		}
	}
	for i, b := range s.Buyers {
		if err := most.checkBuyer(s, i, b); err != nil {
			return err
		}
	}
	return nil
}

func (most bounds) checkBuyer(s *explore.Scenario, i int, b explore.Buyer) error {
	switch {
	case b.Name != string(rune('A'+i)):
		return fmt.Errorf("buyer %d is called %.60q: they are A, B and so on, in this order", i+1, b.Name)
	case !slices.Contains(most.does, b.Does):
		return fmt.Errorf("buyer %s does %.60q: give one of %q", b.Name, b.Does, most.does)
	case b.Quantity < 1 || b.Quantity > most.maxStock:
		return fmt.Errorf("buyer %s wants %d units: give 1 to %d", b.Name, b.Quantity, most.maxStock)
	case b.Process < 0 || b.Process >= most.maxBuyers:
		return fmt.Errorf("buyer %s is in process %d: give 0 to %d", b.Name, b.Process, most.maxBuyers-1)
	case b.Again < 0 || b.Again > 9:
		return fmt.Errorf("buyer %s asks again %d times: give 0 to 9", b.Name, b.Again)
	}
	for _, other := range []string{b.Same, b.User} {
		if other != "" && !slices.ContainsFunc(s.Buyers, func(o explore.Buyer) bool { return o.Name == other }) {
			return fmt.Errorf("buyer %s acts for %.60q, who is not there", b.Name, other)
		}
	}
	return nil
}
