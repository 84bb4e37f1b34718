package game

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"seckill/internal/catalog"
	"seckill/internal/explore"
)

// freeFaults lists the faults that a player may cause in free play. The page shows them in this order.
var freeFaults = []explore.Fault{explore.LeaseEnds, explore.Dies, explore.Leaves, explore.ReplyLost,
	explore.CommandLost, explore.Delayed, explore.ClockJumps}

// FreePlay returns the setting of a game without a level. The first buyer wants two units, the other buyers one
// each. If processes is 1, the buyers share one process; if it is 0, each has a process of its own.
func FreePlay(info catalog.Info, buyers int, stock int64, processes int) Setting {
	s := Setting{info.Name, explore.Scenario{Stock: stock, Faults: freeFaults, MaxFaults: 2,
		Buyers: make([]explore.Buyer, buyers)}}
	s.Buyers[0].Quantity = 2
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

func (r Request) checkFreePlay() error {
	switch {
	case r.Stock < 1 || r.Stock > 100:
		return newProblem(http.StatusBadRequest, "invalid", "The stock is %d: give 1 to 100 units.", r.Stock)
	case r.Buyers < 2 || r.Buyers > 3:
		return newProblem(http.StatusBadRequest, "invalid", "There are %d buyers: give 2 to 3.", r.Buyers)
	case r.Processes < 0 || r.Processes > 1:
		return newProblem(http.StatusBadRequest, "invalid",
			"processes is %d: give 1 if the buyers share a process, 0 if each has its own.", r.Processes)
	}
	return nil
}

// These are the limits of a scenario that comes from a file.
const (
	maxStock    = 1000 // a single buyer may want at most maxStock units, too
	maxFaults   = 10
	maxRenewals = 10
)

var (
	fileFaults = append([]explore.Fault{explore.Panics, explore.IDTaken, explore.NodeLost, explore.Refused},
		freeFaults...)
	fileActions = []explore.Action{explore.Resets, explore.Starts, explore.Forgets, explore.Accepts, explore.Asks,
		explore.PaysLate, explore.Comes, explore.Reserves, explore.Repeats, explore.Restocks, explore.Buys,
		explore.Cancels, explore.Locks, explore.Pays, explore.Releases, explore.Sweeps}
)

func checkScenario(s *explore.Scenario) error {
	switch {
	case s.Stock < 0 || s.Stock > maxStock:
		return fmt.Errorf("the stock is %d: give 0 to %d units", s.Stock, maxStock)
	case len(s.Buyers) < 1 || len(s.Buyers) > maxBuyers:
		return fmt.Errorf("there are %d buyers: give 1 to %d", len(s.Buyers), maxBuyers)
	case s.MaxFaults < 0 || s.MaxFaults > maxFaults:
		return fmt.Errorf("max_faults is %d: give 0 to %d", s.MaxFaults, maxFaults)
	case s.Renewals < 0 || s.Renewals > maxRenewals:
		return fmt.Errorf("there are %d renewals: give 0 to %d", s.Renewals, maxRenewals)
	}
	for _, f := range s.Faults {
		if !slices.Contains(fileFaults, f) {
			return fmt.Errorf("there is no fault %.60q: give some of %q", f, fileFaults)
		}
	}
	for i, b := range s.Buyers {
		if err := checkBuyer(s, i, b); err != nil {
			return err
		}
	}
	return nil
}

func checkBuyer(s *explore.Scenario, i int, b explore.Buyer) error {
	switch {
	case b.Name != string(rune('A'+i)):
		return fmt.Errorf("buyer %d is called %.60q: the names are A, B and so on, in this order", i+1, b.Name)
	case !slices.Contains(fileActions, b.Action):
		return fmt.Errorf("buyer %s does %.60q: give one of %q", b.Name, b.Action, fileActions)
	case b.Quantity < 1 || b.Quantity > maxStock:
		return fmt.Errorf("buyer %s wants %d units: give 1 to %d", b.Name, b.Quantity, maxStock)
	case b.Process < 0 || b.Process >= maxBuyers:
		return fmt.Errorf("buyer %s is in process %d: give 0 to %d", b.Name, b.Process, maxBuyers-1)
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
