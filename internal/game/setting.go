package game

import (
	"fmt"
	"slices"
	"strings"

	"seckill/internal/catalog"
	"seckill/internal/explore"
)

const (
	mostBuyers = 3
	mostStock  = 100
)

// faults are those that may be allowed, in the order in which they are listed.
var faults = []string{string(explore.LeaseEnds), string(explore.Dies), string(explore.Leaves), string(explore.ReplyLost),
	string(explore.CommandLost), string(explore.Delayed), string(explore.ClockJumps)}

// doings are what a buyer of a game may do.
var doings = []string{string(explore.Buys), string(explore.Cancels), string(explore.Locks), string(explore.Pays),
	string(explore.Releases), string(explore.Sweeps)}

// Free is the setting of free play: the first buyer wants two units, the others
// one. processes is 0 (each buyer has their own) or 1.
func Free(info catalog.Info, buyers int, stock int64, processes int) Setting {
	s := Setting{Strategy: info.Name, Stock: stock, Faults: slices.Clone(faults), MaxFaults: 2}
	for i := range buyers {
		b := Buyer{Name: string(rune('A' + i)), Quantity: 1, Does: string(explore.Buys)}
		if i == 0 {
			b.Quantity = 2
		}
		if processes != 1 {
			b.Process = i
		}
		s.Buyers = append(s.Buyers, b)
	}
	if info.Renews {
		s.Renewals = 2
	}
	return s
}

// check says what is wrong with a setting; nil: nothing.
func (s Setting) check() error {
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
			return wrong("Buyer %s does %q: give one of %s.", b.Name, b.Does, strings.Join(doings, ", "))
		case b.Process < 0 || b.Process >= mostBuyers:
			return wrong("Buyer %s is in process %d: give 0 to %d.", b.Name, b.Process, mostBuyers-1)
		case b.Same != "" && !slices.ContainsFunc(s.Buyers, func(o Buyer) bool { return o.Name == b.Same }):
			return wrong("Buyer %s cancels the order of %q, who is not there.", b.Name, b.Same)
		}
	}
	for _, f := range s.Faults {
		if !slices.Contains(faults, f) {
			return wrong("There is no fault %q: give some of %s.", f, strings.Join(faults, ", "))
		}
	}
	if s.MaxFaults < 0 || s.MaxFaults > 4 || s.Renewals < 0 || s.Renewals > 10 {
		return wrong("There are %d faults and %d renewals: give 0 to 4 and 0 to 10.", s.MaxFaults, s.Renewals)
	}
	return nil
}

// scenario is the setting, as the explorer knows it.
func (s Setting) scenario(name string) *explore.Scenario {
	out := &explore.Scenario{Name: name, Stock: s.Stock, MaxFaults: s.MaxFaults, Renewals: s.Renewals, Clears: s.Clears}
	for _, b := range s.Buyers {
		out.Buyers = append(out.Buyers, explore.Buyer{Name: b.Name, Process: b.Process, Quantity: b.Quantity,
			Does: explore.Does(b.Does), Same: b.Same, Other: b.Other})
	}
	for _, f := range s.Faults {
		out.Faults = append(out.Faults, explore.Fault(f))
	}
	return out
}

// settingFile is a Setting as it is written in the file of a level.
type settingFile struct {
	Strategy string `yaml:"strategy"`
	Stock    int64  `yaml:"stock"`
	Buyers   []struct {
		Quantity int64  `yaml:"quantity"`
		Does     string `yaml:"does"`
		Process  *int   `yaml:"process"`
		Same     string `yaml:"same"`
		Other    bool   `yaml:"other"`
	} `yaml:"buyers"`
	Faults    []string `yaml:"faults"`
	MaxFaults int      `yaml:"max_faults"`
	Renewals  int      `yaml:"renewals"`
	Clears    bool     `yaml:"clears"`
}

func (f settingFile) setting() Setting {
	s := Setting{Strategy: f.Strategy, Stock: f.Stock, Faults: f.Faults, MaxFaults: f.MaxFaults, Renewals: f.Renewals, Clears: f.Clears}
	if f.Faults == nil {
		s.Faults = []string{}
	} else if f.MaxFaults == 0 {
		s.MaxFaults = 1
	}
	for i, b := range f.Buyers {
		out := Buyer{Name: string(rune('A' + i)), Quantity: b.Quantity, Does: b.Does, Process: i, Same: b.Same, Other: b.Other}
		if b.Does == "" {
			out.Does = "buys"
		}
		if b.Quantity == 0 {
			out.Quantity = 1
		}
		if b.Process != nil {
			out.Process = *b.Process
		}
		s.Buyers = append(s.Buyers, out)
	}
	return s
}
