package explore

import (
	"fmt"
	"maps"
	"slices"
)

// Bounds are what a scenario may have that comes from outside the program: from a
// file, or from a player.
type Bounds struct {
	MinBuyers, MaxBuyers int
	MinStock, MaxStock   int64 // on sale; no buyer wants more than MaxStock
	Does                 []Does
	Faults               []Fault
	MaxFaults, Renewals  int
}

// maxBuyers of any schedule: each has a letter of its own.
const maxBuyers = 8

// AllBounds are those of the explorer itself. What follows from a fault, and the passing
// of time, are no faults that a scenario lists.
func AllBounds() Bounds {
	b := Bounds{MinBuyers: 1, MaxBuyers: maxBuyers, MaxStock: 1000, MaxFaults: 10, Renewals: 10, Does: slices.Sorted(maps.Keys(actorKinds))}
	b.Faults = slices.DeleteFunc(slices.Sorted(maps.Keys(faultKinds)), func(f Fault) bool { return slices.Contains(follow, f) })
	return b
}

// Check says what makes no sense in a scenario, or is beyond the bounds; nil: nothing.
func (s *Scenario) Check(most Bounds) error {
	switch {
	case s.Stock < most.MinStock || s.Stock > most.MaxStock:
		return fmt.Errorf("the stock is %d: give %d to %d units", s.Stock, most.MinStock, most.MaxStock)
	case len(s.Buyers) < most.MinBuyers || len(s.Buyers) > most.MaxBuyers:
		return fmt.Errorf("there are %d buyers: give %d to %d", len(s.Buyers), most.MinBuyers, most.MaxBuyers)
	case s.MaxFaults < 0 || s.MaxFaults > most.MaxFaults:
		return fmt.Errorf("there may be %d faults: give 0 to %d", s.MaxFaults, most.MaxFaults)
	case s.Renewals < 0 || s.Renewals > most.Renewals:
		return fmt.Errorf("there are %d renewals: give 0 to %d", s.Renewals, most.Renewals)
	}
	for _, f := range s.Faults {
		if !slices.Contains(most.Faults, f) {
			return fmt.Errorf("there is no fault %.60q: give some of %q", f, most.Faults)
		}
	}
	for i, b := range s.Buyers {
		if err := s.checkBuyer(i, b, most); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scenario) checkBuyer(i int, b Buyer, most Bounds) error {
	switch {
	case b.Name != string(rune('A'+i)):
		return fmt.Errorf("buyer %d is called %.60q: they are A, B and so on, in this order", i+1, b.Name)
	case !slices.Contains(most.Does, b.Does):
		return fmt.Errorf("buyer %s does %.60q: give one of %q", b.Name, b.Does, most.Does)
	case b.Quantity > most.MaxStock || b.Quantity < 1 && actorKinds[b.Does].told != nil:
		return fmt.Errorf("buyer %s wants %d units: give 1 to %d", b.Name, b.Quantity, most.MaxStock)
	case b.Process < 0 || b.Process >= most.MaxBuyers:
		return fmt.Errorf("buyer %s is in process %d: give 0 to %d", b.Name, b.Process, most.MaxBuyers-1)
	case b.Again < 0 || b.Again > 9:
		return fmt.Errorf("buyer %s asks again %d times: give 0 to 9", b.Name, b.Again)
	}
	for _, other := range []string{b.Same, b.User} {
		if other != "" && !slices.ContainsFunc(s.Buyers, func(o Buyer) bool { return o.Name == other }) {
			return fmt.Errorf("buyer %s acts for %.60q, who is not there", b.Name, other)
		}
	}
	return nil
}
