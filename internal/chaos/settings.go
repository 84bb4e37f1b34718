package chaos

import (
	"fmt"
	"time"

	"seckill/internal/fault"
	"seckill/loadtest"
)

// Default settings: a lease ends within a fault that lasts, and a cell takes
// about six seconds.
var Default = Settings{Rate: 200, Before: 500, For: 1600, After: 1000, Lease: 1000, Wait: 500, Procs: 2, Second: 10_000, SKU: 1, Where: "single"}

// lasts is how long buyers come in the first part.
func (s Settings) lasts() time.Duration {
	return time.Duration(s.Before+s.For+s.After) * time.Millisecond
}

// stock is more than the buyers of the first part can buy.
func (s Settings) stock() int64 { return int64(s.Rate*s.lasts().Seconds()) + 100 }

// scenario is the first part of a cell's sale: buyers send copies, retry and
// cancel.
func (s Settings) scenario(t *trial) loadtest.Scenario {
	sale := loadtest.DefaultScenario()
	sale.Strategy, sale.SKU, sale.Stock, sale.Seed = t.strategy, s.SKU, s.stock(), t.seed
	sale.Buyers, sale.Concurrency = 0, 0
	sale.Profile, sale.Rate, sale.Duration = loadtest.Constant, s.Rate, s.lasts()
	sale.Duplicates, sale.Copies, sale.Cancellations, sale.Retry = 0, 0.02, 0.02, 1
	sale.Timeout = time.Duration(s.For)*time.Millisecond + 3*time.Second
	return sale
}

// slack is how much longer a sale may stand still, besides the fault, than a buyer's
// wait and the lease of a holder that died: an etcd lease has two seconds at least, and
// ends later on a busy machine.
func (s Settings) slack() time.Duration {
	return time.Duration(max(0, 2000-s.Lease))*time.Millisecond + 3*time.Second
}

// crowd is how many buyers there must be so that they ask until the second part
// is over, if each waits for a lock in vain.
func (s Settings) crowd() int { return afterwards * s.Second / s.Wait }

// planned is the fault in the middle of the first part.
func (s Settings) planned(name fault.Name) fault.Planned {
	p := fault.Planned{Kind: name, At: s.Before, Busy: true}
	known, _ := fault.Find(name)
	if !known.Holder {
		p.Service = 1
	}
	if known.Lasts {
		p.For = s.For
	}
	return p
}

// command repeats a cell, once STRATEGY and FAULT are filled in.
func (s Settings) command() string {
	text := fmt.Sprintf("seckill chaos --strategies STRATEGY --faults FAULT --seed %d", s.Seed)
	if s.Where != Default.Where {
		text += " --topology " + s.Where
	}
	if s.Rate != Default.Rate {
		text += fmt.Sprintf(" --rate %v", s.Rate)
	}
	return text
}
