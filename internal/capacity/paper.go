package capacity

import "math"

// Costs are what one order costs, in seconds.
type Costs struct {
	Services, Database, Redis, Proxy float64 // of processor time
	// Held is how long the order keeps others from its row, or its lock.
	Held float64
	// Trips are the round trips to the database while it is held.
	Trips float64
}

// A Site is what a plan on paper assumes.
type Site struct {
	Machines   int
	Processors int     // of each machine
	SKUs       int     // wanted alike
	Share      float64 // of a processor that may be used, such as 0.7
	RoundTrip  float64 // between two machines, in seconds
}

// A Plan divides machines so that no kind of them is full before another.
type Plan struct {
	Services, Databases, Redis, Proxies int     // machines; 0: an order does not use them
	Rate                                float64 // orders a second
	Limit                               string  // what more machines of all kinds would not change; "": nothing
}

// What more machines do not change.
const (
	LimitRow      = "the row or lock of each SKU"
	LimitRedis    = "the thread of Redis of each SKU"
	LimitDatabase = "the database of each SKU"
)

// PlanFor divides the machines in proportion to what an order costs each kind (the
// utilization law: U = X·D), each kind at least one. A SKU lives on one row of one
// database, and in one Redis with one thread; SKUs are spread over databases and
// Redis servers, one for each SKU at most. So a SKU sells at most
// 1/(Held + Trips·RoundTrip). Machines that would change nothing are left over.
func PlanFor(c Costs, s Site) Plan {
	kinds := []struct {
		cost       float64
		processors int // of a machine, that the kind can use
		most       int // machines
		limit      string
	}{{c.Services, s.Processors, s.Machines, ""}, {c.Database, s.Processors, s.SKUs, LimitDatabase},
		{c.Redis, 1, s.SKUs, LimitRedis}, {c.Proxy, s.Processors, s.Machines, ""}}
	machines := make([]int, len(kinds))
	left := s.Machines
	for k, kind := range kinds {
		if kind.cost > 0 {
			machines[k] = 1
			left--
		}
	}
	full := func(k int) float64 { // orders a second that fill the kind
		if kinds[k].cost == 0 {
			return math.Inf(1)
		}
		return s.Share * float64(machines[k]*kinds[k].processors) / kinds[k].cost
	}
	tightest := func() (t int) {
		for k := range kinds {
			if full(k) < full(t) {
				t = k
			}
		}
		return t
	}
	row := math.Inf(1) // nothing is held over the network
	if c.Held > 0 {
		row = float64(s.SKUs) / (c.Held + c.Trips*s.RoundTrip)
	}
	p := Plan{}
	for ; left > 0; left-- {
		k := tightest()
		if p.Limit = kinds[k].limit; machines[k] >= kinds[k].most || full(k) >= row {
			break
		}
		machines[k]++
		p.Limit = ""
	}
	p.Services, p.Databases, p.Redis, p.Proxies, p.Rate = machines[0], machines[1], machines[2], machines[3], full(tightest())
	if row <= p.Rate {
		p.Rate, p.Limit = row, LimitRow
	}
	return p
}
