package capacity

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.Abs(got-want) > within*want {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

// Networks whose answer is known: one customer takes the sum of all, many are
// bound by the slowest, and two balanced stations make N/(D(N+1)).
func TestSolve(t *testing.T) {
	row := Station{Name: "row", Demand: .002}
	cpu := Station{Name: "processors", Demand: .004, Servers: 4}
	near(t, "one customer", Solve([]Station{row, cpu}, .004, 1).Rate, 100, 1e-9)
	a := Solve([]Station{row, cpu}, .004, 500)
	near(t, "many customers", a.Rate, 500, .01)
	if a.Busiest != "row" || a.Utilization > 1 {
		t.Errorf("%+v: the row is the slowest, and no more than full", a)
	}
	cpu.Servers = 1
	if a := Solve([]Station{row, cpu}, 0, 64); a.Busiest != "processors" {
		t.Errorf("%+v: one processor is the slowest", a)
	}
	for _, n := range []int{1, 2, 10, 64} {
		near(t, "two alike", Solve([]Station{row, row}, 0, n).Rate, float64(n)/(.002*float64(n+1)), 1e-9)
	}
	if !math.IsInf(Solve(nil, 0, 3).Rate, 1) {
		t.Error("what costs nothing has no bound")
	}
}

// The delay that is found explains the rate that was measured.
func TestDelay(t *testing.T) {
	all := []Station{{Name: "row", Demand: .001}, {Name: "processors", Demand: .001, Servers: 2}}
	near(t, "found again", Solve(all, Delay(all, 8, 250), 8).Rate, 250, 1e-6)
	if d := Delay(all, 64, 5000); d != 0 {
		t.Errorf("a row of 1 ms does not make 5000/s, with a delay of %g either", d)
	}
}

func TestBusy(t *testing.T) {
	for _, rho := range []float64{.01, .5, .9, .99} {
		near(t, "utilization", Busy(rho*rho/(1-rho)), rho, 1e-9)
	}
	if Busy(0) != 0 || Busy(-1) != 0 {
		t.Error("nobody waits where nothing is busy")
	}
}

// Ten times the machines sell ten times as much of many SKUs, and no more of one.
func TestPlan(t *testing.T) {
	c := Costs{Services: .0003, Database: .0006, Proxy: .00005, Held: .0005, Trips: 2}
	site := Site{Machines: 10, Processors: 2, SKUs: 1000, Share: .7, RoundTrip: .0002}
	ten := PlanFor(c, site)
	if ten.Services+ten.Databases+ten.Redis+ten.Proxies != 10 || ten.Redis != 0 || ten.Databases <= ten.Services || ten.Limit != "" {
		t.Errorf("%+v", ten)
	}
	site.Machines = 100
	hundred := PlanFor(c, site)
	near(t, "a hundred machines", hundred.Rate, 10*ten.Rate, .15)
	site.SKUs = 1
	if one := PlanFor(c, site); one.Limit != LimitRow {
		t.Errorf("one SKU is bound by its row: %+v", one)
	} else {
		near(t, "one SKU", one.Rate, 1/.0009, 1e-9)
	}
	if p := PlanFor(Costs{Services: .0001, Database: .001}, site); p.Limit != LimitDatabase || p.Databases != 1 {
		t.Errorf("one SKU without a queue at its row is bound by its database: %+v", p)
	}
	if p := PlanFor(Costs{Services: .0001, Redis: .00002}, site); p.Limit != LimitRedis || p.Redis != 1 || p.Rate > .7/.00002+1 {
		t.Errorf("one SKU in Redis is bound by its thread: %+v", p)
	}
}
