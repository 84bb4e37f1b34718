// Package chaos runs a sale with a fault in its middle, for every strategy and
// every fault, and says what each pair comes to: what the judge found, how long
// nothing was sold, and whether sales went on afterwards.
//
// A cell is one sale in two parts. Buyers come at a constant rate while the fault
// happens, and there is more stock than they can buy. When it is over and every
// process runs again, others buy up what is left: so it shows whether sales go on,
// and whether more is sold than there was. A fault that did not happen, or that
// could not matter, is not tested, and the cell says so.
package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/loadtest"
)

// None is the fault of a control run.
const None fault.Name = "none"

// A Lab is what faults happen to; *lab.Lab is one.
type Lab interface {
	fault.Place
	Faults() []fault.Status
	Services() []lab.Service
	Serve(context.Context, lab.ServiceSettings) error
}

// Options say what is run, and where.
type Options struct {
	Lab        Lab
	Strategies []catalog.Info
	Faults     []fault.Name // None among them is the control run
	Services   lab.ServiceSettings
	// Sale is where the load goes; its scenario is Settings'.
	Sale     loadtest.Config
	Settings Settings
	Matrix   *measure.Matrix                    // what is known of the strategies; nil: nothing
	OnStep   func(done, total int, what string) // before each cell; nil: not called

	load func(context.Context, loadtest.Config) (*loadtest.Result, error) // nil: loadtest.Run
}

// Settings of all cells; a result repeats them.
type Settings struct {
	Seed   uint64  `json:"seed,string"`
	Rate   float64 `json:"rate"`      // buyers a second in the first part
	Before int     `json:"before_ms"` // how long they come before the fault,
	For    int     `json:"fault_ms"`  // how long a fault lasts that has an end of its own,
	After  int     `json:"after_ms"`  // and how long they come after it
	Lease  int     `json:"lease_ms"`  // of locks
	Wait   int     `json:"wait_ms"`   // for locks
	Procs  int     `json:"services"`  // service processes
	Second int     `json:"second_ms"` // the most that the second part takes
	SKU    int64   `json:"sku_id"`    // what is sold
	Where  string  `json:"topology"`  // of the lab
}

// Run runs the cells, strategy by strategy. When ctx ends, the current cell is
// left out, and the result says that it was interrupted.
func Run(ctx context.Context, o Options) *Result {
	if o.load == nil {
		o.load = loadtest.Run
	}
	begun := time.Now()
	r := &Result{Format: Format, Begun: begun.Round(time.Second), Machine: measure.ThisMachine(), Settings: o.Settings,
		Faults: o.Faults, Cells: []Cell{}, Problems: []string{}}
	total := len(o.Strategies) * len(o.Faults)
	for _, info := range o.Strategies {
		for _, name := range o.Faults {
			if ctx.Err() != nil {
				continue
			}
			if o.OnStep != nil {
				o.OnStep(len(r.Cells), total, fmt.Sprintf("%s, %s", info.Name, name))
			}
			if c := o.cell(ctx, info, name); ctx.Err() == nil {
				r.Cells = append(r.Cells, c)
			}
		}
	}
	r.Left = total - len(r.Cells)
	r.Interrupted = r.Left > 0
	r.Seconds = time.Since(begun).Seconds()
	r.conclude(o.Strategies)
	return r
}

// applies says why a fault need not be tried with a strategy; "" if it must be.
func (o Options) applies(info catalog.Info, name fault.Name) string {
	if name == None {
		return ""
	}
	all := o.Lab.Faults()
	i := slices.IndexFunc(all, func(f fault.Status) bool { return f.Kind == name })
	switch {
	case i < 0:
		return "there is no such fault"
	case !all[i].Available:
		return all[i].Missing
	case all[i].Uses != "" && !info.Needing(all[i].Uses):
		return "the strategy does not use " + all[i].Uses
	case name == fault.JumpClock && info.Guarantees[catalog.Clocks] == "":
		return "the strategy asks no clock of its own"
	}
	return ""
}

// cell runs one sale.
func (o Options) cell(ctx context.Context, info catalog.Info, name fault.Name) Cell {
	c := Cell{Strategy: info.Name, Fault: name, Seed: o.seed(info.Name, name), Verdict: ledger.NotValid,
		Violations: []ledger.Violation{}, Problems: []string{}, Course: []Point{}}
	c.Command = o.Settings.command(c)
	c.May = o.may(info, name)
	if c.NotTested = o.applies(info, name); c.NotTested != "" {
		c.Verdict = ""
		return c
	}
	if err := o.Lab.Serve(ctx, o.Services); err != nil {
		return c.failed("the service processes could not be started: %v", err)
	}
	first := o.first(ctx, &c)
	if first == nil {
		return c
	}
	c.take(first, true)
	healing := time.Now()
	if err := o.Lab.Serve(ctx, o.Services); err != nil {
		c = c.failed("the service processes could not be started after the fault: %v", err)
	} else {
		o.second(ctx, &c, first, healing)
	}
	c.weigh(first)
	c.May = o.mayHave(info, c)
	return c
}

// seed follows from the run's and from the cell, so that a cell that is run
// alone has the same buyers.
func (o Options) seed(strategy string, name fault.Name) uint64 {
	seed := o.Settings.Seed
	for _, b := range []byte(strategy + "\x00" + string(name)) { // FNV-1a
		seed = (seed ^ uint64(b)) * 0x100000001b3
	}
	return seed
}

// first has buyers come while the fault happens. nil: c says why it could not.
func (o Options) first(ctx context.Context, c *Cell) *loadtest.Result {
	s := o.Settings
	sale := o.Sale
	sale.Scenario, sale.Rest = s.scenario(*c), true
	watch := &watch{}
	sale.OnProgress = watch.see
	in := fault.NewInjector(ctx, o.Lab, []fault.Sale{{Strategy: c.Strategy, SKU: s.SKU}}, nil)
	if c.Fault != None {
		in.Add(s.planned(c.Fault))
	}
	sale.Begin = func() {
		watch.begin()
		in.Begin()
	}
	sale.Patience = s.patience()
	sale.Outage = in.Outage
	first, err := o.load(ctx, sale)
	in.End()
	if err != nil {
		*c = c.failed("%v", err)
		return nil
	}
	if watch.began.IsZero() { // what it would buy from is not there
		*c = c.failed("no buyer came: %s", strings.Join(first.Problems, "; "))
		return nil
	}
	c.Course = watch.until(s.lasts())
	if all := in.Faults(); len(all) > 0 {
		c.Happened = &all[0]
	}
	c.stood()
	return first
}

// second has others buy up what the first part left.
func (o Options) second(ctx context.Context, c *Cell, first *loadtest.Result, healing time.Time) {
	s := o.Settings
	left := s.stock()
	if first.Audit != nil {
		left = max(0, first.Audit.Initial-first.Audit.Sold)
	}
	sale := o.Sale
	sale.Scenario = s.scenario(*c)
	sale.Profile, sale.Rate, sale.Duration, sale.Cancellations = loadtest.Closed, 0, 0, 0
	sale.Joins, sale.Concurrency = true, afterwards
	sale.Buyers = max(int(left), s.crowd()) + more
	sale.Patience = s.patience()
	sale.Seed = loadtest.SeedAfter(sale.Seed, first.Settings.Requests())
	watch := &watch{}
	sale.OnProgress, sale.Begin = watch.see, watch.begin
	short, cancel := context.WithTimeout(ctx, time.Duration(s.Second)*time.Millisecond)
	defer cancel()
	second, err := o.load(short, sale)
	if err != nil {
		*c = c.failed("after the fault: %v", err)
		return
	}
	c.take(second, false)
	c.Left, c.SoldAfter = left, second.Counts[ledger.OutcomeSold]
	c.GoesOn = c.SoldAfter > 0 || left == 0
	if c.Recovered == nil && c.Happened != nil {
		if at, ok := watch.firstSale(); ok {
			c.Recovered = new(float64)
			*c.Recovered = watch.began.Add(at).Sub(healing).Seconds() + c.silentEnd()
		}
	}
}

const (
	afterwards = 16 // buyers at a time in the second part,
	more       = 50 // and how many more than there need be
)
