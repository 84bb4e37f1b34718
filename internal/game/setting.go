package game

import (
	"cmp"
	"fmt"
	"slices"

	"seckill/internal/catalog"
	"seckill/internal/explore"
)

const (
	mostBuyers = 3
	mostStock  = 100
)

// faults are those that may be allowed, in the order in which they are listed.
var faults = []explore.Fault{explore.LeaseEnds, explore.Dies, explore.Leaves, explore.ReplyLost, explore.CommandLost,
	explore.Delayed, explore.ClockJumps}

// doings are what a buyer of a game may do.
var doings = []explore.Does{explore.Buys, explore.Cancels, explore.Locks, explore.Pays, explore.Releases, explore.Sweeps}

// Free is the setting of free play: the first buyer wants two units, the others
// one. processes is 0 (each buyer has their own) or 1.
func Free(info catalog.Info, buyers int, stock int64, processes int) Setting {
	s := Setting{info.Name, explore.Scenario{Stock: stock, Faults: slices.Clone(faults), MaxFaults: 2}}
	s.Buyers = make([]explore.Buyer, min(max(buyers, 0), mostBuyers+1)) // Check refuses what is too many
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

// Check says what is wrong with a setting; nil: nothing.
func (s Setting) Check() error {
	wrong := func(format string, args ...any) error { return &Mistake{Invalid, fmt.Sprintf(format, args...)} }
	if s.Stock < 1 || s.Stock > mostStock {
		return wrong("The stock is %d: give 1 to %d units.", s.Stock, mostStock)
	}
	if len(s.Buyers) < 2 || len(s.Buyers) > mostBuyers {
		return wrong("There are %d buyers: give 2 or %d.", len(s.Buyers), mostBuyers)
	}
	for i, b := range s.Buyers {
		switch {
		case b.Name != string(rune('A'+i)):
			return wrong("Buyer %d is called %q: they are A, B and C, in this order.", i+1, b.Name)
		case b.Quantity < 1 || b.Quantity > mostStock:
			return wrong("Buyer %s wants %d units: give 1 to %d.", b.Name, b.Quantity, mostStock)
		case !slices.Contains(doings, b.Does):
			return wrong("Buyer %s does %q: give one of %v.", b.Name, b.Does, doings)
		case b.Process < 0 || b.Process >= mostBuyers:
			return wrong("Buyer %s is in process %d: give 0 to %d.", b.Name, b.Process, mostBuyers-1)
		case b.Same != "" && !slices.ContainsFunc(s.Buyers, func(o explore.Buyer) bool { return o.Name == b.Same }):
			return wrong("Buyer %s cancels the order of %q, who is not there.", b.Name, b.Same)
		}
	}
	for _, f := range s.Faults {
		if !slices.Contains(faults, f) {
			return wrong("There is no fault %q: give some of %q.", f, faults)
		}
	}
	if s.MaxFaults < 0 || s.MaxFaults > 4 || s.Renewals < 0 || s.Renewals > 10 {
		return wrong("There are %d faults and %d renewals: give 0 to 4 and 0 to 10.", s.MaxFaults, s.Renewals)
	}
	return nil
}
