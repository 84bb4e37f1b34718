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

// FreePlay returns the setting of a game without a level. The first buyer wants two units, the other buyers one
// each. If processes is 1, the buyers share one process; if it is 0, each has a process of its own.
func FreePlay(info catalog.Info, buyers int, stock int64, processes int) Setting {
	s := Setting{info.Name, explore.Scenario{Stock: stock, Faults: slices.Clone(gameLimits.faults), MaxFaults: 2}}
	// A number of buyers above the maximum becomes one too many, so that Check refuses it.
	s.Buyers = make([]explore.Buyer, min(max(buyers, 0), gameLimits.maxBuyers+1))
	if buyers > 0 {
		s.Buyers[0].Quantity = 2
	}
	s.fillDefaults(processes)
	if info.Renews {
		s.Renewals = 2
	}
	return s
}

// fillDefaults names the buyers and fills in every field that is not set. If processes is 1, the
// buyers share one process, as in FreePlay.
func (s Setting) fillDefaults(processes int) {
	for i := range s.Buyers {
		b := &s.Buyers[i]
		b.Name, b.Quantity, b.Action = string(rune('A'+i)), cmp.Or(b.Quantity, 1), cmp.Or(b.Action, explore.Buys)
		if processes != 1 {
			b.Process = i
		}
	}
}

// Check returns a *web.Problem if the setting is invalid or exceeds the limits of a game, else nil.
func (s Setting) Check() error {
	if err := gameLimits.checkScenario(&s.Scenario); err != nil {
		detail := err.Error()
		return newProblem(http.StatusBadRequest, "invalid", "%s%s.", strings.ToUpper(detail[:1]), detail[1:])
	}
	return nil
}

// limits restrict a scenario that comes from a file or a player.
type limits struct {
	minBuyers, maxBuyers int
	minStock, maxStock   int64 // units on sale; a single buyer may want at most maxStock, too
	maxFaults            int
	maxRenewals          int
	does                 []explore.Action
	faults               []explore.Fault
}

var (
	// gameLimits contain what a player may choose. The page shows the faults in this order.
	gameLimits = limits{minBuyers: 2, maxBuyers: 3, minStock: 1, maxStock: 100, maxFaults: 4, maxRenewals: 10,
		does: []explore.Action{explore.Buys, explore.Cancels, explore.Locks, explore.Pays, explore.Releases,
			explore.Sweeps},
		faults: []explore.Fault{explore.LeaseEnds, explore.Dies, explore.Leaves, explore.ReplyLost, explore.CommandLost,
			explore.Delayed, explore.ClockJumps}}

	exampleLimits = limits{minBuyers: 1, maxBuyers: maxBuyers, maxStock: 1000, maxFaults: 10, maxRenewals: 10,
		does: append([]explore.Action{explore.Resets, explore.Starts, explore.Forgets, explore.Accepts, explore.Asks,
			explore.PaysLate, explore.Comes, explore.Reserves, explore.Repeats, explore.Restocks}, gameLimits.does...),
		faults: append([]explore.Fault{explore.Panics, explore.IDTaken, explore.NodeLost, explore.Refused},
			gameLimits.faults...)}
)

// checkScenario returns an error if s contradicts itself or exceeds the limits.
func (l limits) checkScenario(s *explore.Scenario) error {
	switch {
	case s.Stock < l.minStock || s.Stock > l.maxStock:
		return fmt.Errorf("the stock is %d: give %d to %d units", s.Stock, l.minStock, l.maxStock)
	case len(s.Buyers) < l.minBuyers || len(s.Buyers) > l.maxBuyers:
		return fmt.Errorf("there are %d buyers: give %d to %d", len(s.Buyers), l.minBuyers, l.maxBuyers)
	case s.MaxFaults < 0 || s.MaxFaults > l.maxFaults:
		return fmt.Errorf("max_faults is %d: give 0 to %d", s.MaxFaults, l.maxFaults)
	case s.Renewals < 0 || s.Renewals > l.maxRenewals:
		return fmt.Errorf("there are %d renewals: give 0 to %d", s.Renewals, l.maxRenewals)
	}
	for _, f := range s.Faults {
		if !slices.Contains(l.faults, f) {
			return fmt.Errorf("there is no fault %.60q: give some of %q", f, l.faults)
		}
	}
	for i, b := range s.Buyers {
		if err := l.checkBuyer(s, i, b); err != nil {
			return err
		}
	}
	return nil
}

func (l limits) checkBuyer(s *explore.Scenario, i int, b explore.Buyer) error {
	switch {
	case b.Name != string(rune('A'+i)):
		return fmt.Errorf("buyer %d is called %.60q: the names are A, B and so on, in this order", i+1, b.Name)
	case !slices.Contains(l.does, b.Action):
		return fmt.Errorf("buyer %s does %.60q: give one of %q", b.Name, b.Action, l.does)
	case b.Quantity < 1 || b.Quantity > l.maxStock:
		return fmt.Errorf("buyer %s wants %d units: give 1 to %d", b.Name, b.Quantity, l.maxStock)
	case b.Process < 0 || b.Process >= l.maxBuyers:
		return fmt.Errorf("buyer %s is in process %d: give 0 to %d", b.Name, b.Process, l.maxBuyers-1)
	case b.Again < 0 || b.Again > 9:
		return fmt.Errorf("buyer %s asks again %d times: give 0 to 9", b.Name, b.Again)
	}
	for _, other := range []string{b.Same, b.User} {
		if other != "" && !slices.ContainsFunc(s.Buyers, func(o explore.Buyer) bool { return o.Name == other }) {
			return fmt.Errorf("buyer %s acts for buyer %.60q, but the scenario has no such buyer", b.Name, other)
		}
	}
	return nil
}
