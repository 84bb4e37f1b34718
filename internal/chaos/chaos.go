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

// A Lab is what faults happen to; fault.Lab is one.
type Lab interface {
	fault.Place
	Faults() []fault.Status
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
	Earlier  *Result                            // of the same settings, whose cells are not run again; nil: none
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
	Second int     `json:"second_ms"` // how long the second part goes on without a sale
	SKU    int64   `json:"sku_id"`    // what is sold
	Where  string  `json:"topology"`  // of the lab
}

// Run runs the cells, strategy by strategy. When ctx ends, the current cell is
// left out; the result says how many are left.
func Run(ctx context.Context, o Options) *Result {
	if o.load == nil {
		o.load = loadtest.Run
	}
	here := o.Lab.Faults()
	r := &Result{Begun: time.Now().UTC().Format(time.DateOnly), Machine: measure.ThisMachine().String(), Settings: o.Settings,
		Repeat: o.Settings.command(), Servers: []string{}, Faults: o.Faults, Rows: []Row{}}
	total, done := len(o.Strategies)*len(o.Faults), 0
	for _, info := range o.Strategies {
		row := Row{info.Name, make([]*Cell, len(o.Faults))}
		for i, name := range o.Faults {
			if row.Cells[i] = o.Earlier.proven(info.Name, name); row.Cells[i] == nil && ctx.Err() == nil {
				if o.OnStep != nil {
					o.OnStep(done, total, fmt.Sprintf("%s, %s", info.Name, name))
				}
				c := new(Cell)
				if applies(info, name, here) {
					c = o.cell(ctx, info, name)
				}
				if ctx.Err() == nil {
					row.Cells[i] = c
				}
			}
			done++
		}
		r.Rows = append(r.Rows, row)
	}
	r.conclude(o.Strategies)
	return r
}

// applies reports whether a fault must be tried with a strategy: it can be had here, and
// is of a server that the strategy uses.
func applies(info catalog.Info, name fault.Name, here []fault.Status) bool {
	if name == None {
		return true
	}
	i := slices.IndexFunc(here, func(f fault.Status) bool { return f.Kind == name })
	return i >= 0 && here[i].Available && concerns(here[i], info)
}

// concerns reports whether a fault is of a backend that a strategy uses, or of all.
func concerns(f fault.Status, info catalog.Info) bool {
	return f.Uses == "" || slices.Contains(info.Needs, f.Uses)
}

// cell runs one sale.
func (o Options) cell(ctx context.Context, info catalog.Info, name fault.Name) *Cell {
	seed := o.seed(info.Name, name)
	t := &trial{strategy: info.Name, fault: name, seed: seed, verdict: ledger.NotValid}
	if err := o.Lab.Serve(ctx, o.Services); err != nil {
		t.failed("the service processes could not be started: %v", err)
		return t.cell(o.may(info, name))
	}
	first := o.first(ctx, t)
	if first == nil {
		return t.cell(o.may(info, name))
	}
	t.take(first, true)
	if err := o.Lab.Serve(ctx, o.Services); err != nil {
		t.failed("the service processes could not be started after the fault: %v", err)
	} else {
		o.second(ctx, t, first)
	}
	wrongAnswers := info.Broken() || info.Guarantees[catalog.SoldOut] == catalog.Breaks
	return t.cell(o.may(info, name) || t.onlyAnswers() && wrongAnswers)
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

// first has buyers come while the fault happens. nil: t says why it could not.
func (o Options) first(ctx context.Context, t *trial) *loadtest.Result {
	s := o.Settings
	sale := o.Sale
	sale.Scenario = s.scenario(t)
	sale.Plenty = true  // the second part wants the rest
	var began time.Time // when the buyers came
	sale.OnProgress = func(p loadtest.Progress) {
		// A pause means nothing when no more buyers come.
		if at := tenths(time.Since(began)); !p.Settling && !began.IsZero() && at <= tenths(s.lasts()) {
			t.Course = append(t.Course, [3]int{at, p.Counts[ledger.OutcomeSold], p.Uncertain()})
		}
	}
	in := fault.NewInjector(ctx, o.Lab, []fault.Sale{{Strategy: t.strategy, SKU: s.SKU}}, nil)
	if t.fault != None {
		in.Add(s.planned(t.fault))
	}
	sale.Begin = func() {
		began = time.Now()
		in.Begin()
	}
	sale.Outage = func() time.Duration { return in.Outage() + s.slack() }
	first, err := o.load(ctx, sale)
	in.End()
	if err != nil {
		t.failed("%v", err)
		return nil
	}
	if began.IsZero() { // what it would buy from is not there
		t.failed("no buyer came")
		t.because(first.Problems)
		return nil
	}
	if all := in.Faults(); len(all) > 0 {
		t.happened = &all[0]
	}
	return first
}

func tenths(d time.Duration) int {
	return int(d.Round(100*time.Millisecond) / (100 * time.Millisecond))
}

// second has others buy up what the first part left.
func (o Options) second(ctx context.Context, t *trial, first *loadtest.Result) {
	s := o.Settings
	left := s.stock()
	if first.Audit != nil {
		left = max(0, first.Audit.Initial-first.Audit.Sold)
	}
	sale := o.Sale
	sale.Scenario = s.scenario(t)
	sale.Profile, sale.Rate, sale.Duration, sale.Cancellations = loadtest.Closed, 0, 0, 0
	sale.Joins, sale.Concurrency = true, afterwards
	sale.Buyers = max(int(left), s.crowd()) + more
	sale.Outage = s.slack
	sale.Seed = loadtest.SeedAfter(sale.Seed, first.Settings.Requests())
	// A sale that stands still has shown what it can. One that is slow goes on: it
	// shows only at its end whether more is sold than there was.
	still := time.Duration(s.Second) * time.Millisecond
	short, cancel := context.WithTimeout(ctx, longest*still)
	defer cancel()
	standing := time.AfterFunc(still, cancel)
	defer standing.Stop()
	sold := -1
	sale.OnProgress = func(p loadtest.Progress) {
		if now := p.Counts[ledger.OutcomeSold]; now > sold {
			sold = now
			standing.Reset(still)
		}
	}
	second, err := o.load(short, sale)
	if err != nil {
		t.failed("after the fault: %v", err)
		return
	}
	t.take(second, false)
	t.Units[leftOver], t.After = left, second.Counts[ledger.OutcomeSold]
	t.goesOn = t.After > 0 || left == 0
}

const (
	afterwards = 16 // buyers at a time in the second part,
	more       = 50 // and how many more than there need be
	longest    = 6  // the most that it takes, in Settings.Second
)
