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
	// Sale is where the load goes; its scenario is that of a cell.
	Sale     loadtest.Config
	Settings Settings
	Earlier  *Result                            // of the same settings, whose cells are not run again; nil: none
	OnStep   func(done, total int, what string) // before each cell; nil: not called

	load func(context.Context, loadtest.Config) (*loadtest.Result, error) // nil: loadtest.Run
}

// Settings of all cells; a result repeats them.
type Settings struct {
	Seed  uint64  `json:"seed,string"`
	Rate  float64 `json:"rate"`     // buyers a second in the first part
	Where string  `json:"topology"` // of the lab
	lab.ServiceSettings
}

// Default settings: a lease ends within a fault that lasts.
var Default = Settings{Rate: 200, Where: lab.Single, ServiceSettings: lab.ServiceSettings{Services: 2, Lease: 1000, Wait: 500, Poll: 10}}

// The course of a cell, which takes about six seconds.
const (
	sku        = 1
	before     = 500 * time.Millisecond  // buyers come before the fault,
	lasts      = 1600 * time.Millisecond // while it lasts, if it has an end of its own,
	after      = time.Second             // and after it
	still      = 10 * time.Second        // the second part goes on for so long without a sale,
	longest    = 6 * still               // and for so long in all
	afterwards = 16                      // buyers at a time in the second part
	more       = 50                      // how many more there are than there need be
	// crowd is how many buyers ask until still is over if each waits for a lock in vain.
	crowd = 20 * afterwards
)

// stock is more than the buyers of the first part can buy.
func (s Settings) stock() int64 { return int64(s.Rate*(before+lasts+after).Seconds()) + 100 }

// slack is how much longer a sale may stand still, besides the fault, than a buyer's
// wait and the lease of a holder that died: an etcd lease has two seconds at least, and
// ends later on a busy machine.
func (s Settings) slack() time.Duration {
	return time.Duration(max(0, 2000-s.Lease))*time.Millisecond + 3*time.Second
}

// Run runs the cells, strategy by strategy. When ctx ends, the current cell is
// left out; the result says how many are left.
func Run(ctx context.Context, o Options) *Result {
	if o.load == nil {
		o.load = loadtest.Run
	}
	here := o.Lab.Faults()
	r := &Result{Begun: time.Now().UTC().Format(time.DateOnly), Machine: measure.ThisMachine().String(), Settings: o.Settings, Servers: []string{}, Faults: o.Faults, Rows: []Row{},
		Repeat: fmt.Sprintf("seckill chaos --strategies STRATEGY --faults FAULT --seed %d --rate %v --topology %s", o.Settings.Seed, o.Settings.Rate, o.Settings.Where)}
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
			if row.Cells[i] == nil {
				r.Left++
			}
			done++
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// applies reports whether a fault must be tried with a strategy: it can be had here, and
// is of a backend that the strategy uses, or of all.
func applies(info catalog.Info, name fault.Name, here []fault.Status) bool {
	return name == None || slices.ContainsFunc(here, func(f fault.Status) bool {
		return f.Kind == name && f.Available && (f.Uses == "" || slices.Contains(info.Needs, f.Uses))
	})
}

// may reports whether a strategy breaks by itself, or does not promise to withstand
// a fault.
func (o Options) may(info catalog.Info, name fault.Name) bool {
	if info.BreaksIn(o.Settings.Services) || info.Unfit(o.Settings.Where) != "" {
		return true
	}
	known, err := fault.Find(name)
	return err == nil && info.Guarantees[known.Question] != catalog.Holds // else there was none
}

// cell runs one sale.
func (o Options) cell(ctx context.Context, info catalog.Info, name fault.Name) *Cell {
	t := &trial{fault: name, sale: o.Sale}
	t.sale.Scenario = o.scenario(info.Name, name)
	if err := o.sell(ctx, t); err != nil {
		if t.problems = append(t.problems, err.Error()); !t.broken() { // damage that was proven before stays proven
			t.verdict = ledger.NotValid
		}
	}
	wrongAnswers := info.Broken() || info.Guarantees[catalog.SoldOut] == catalog.Breaks
	return t.cell(o.may(info, name) || t.onlyAnswers() && wrongAnswers)
}

// scenario is the first part of a cell's sale: buyers send copies, retry and cancel. The
// seed follows from the run's and from the cell, so that a cell that is run alone has the
// same buyers.
func (o Options) scenario(strategy string, name fault.Name) loadtest.Scenario {
	s := loadtest.DefaultScenario()
	s.Strategy, s.SKU, s.Stock, s.Seed = strategy, sku, o.Settings.stock(), o.Settings.Seed
	for _, b := range []byte(strategy + "\x00" + string(name)) { // FNV-1a
		s.Seed = (s.Seed ^ uint64(b)) * 0x100000001b3
	}
	s.Buyers, s.Concurrency, s.Profile, s.Rate, s.Duration = 0, 0, loadtest.Constant, o.Settings.Rate, before+lasts+after
	s.Duplicates, s.Copies, s.Cancellations, s.Retry = 0, 0.02, 0.02, 1
	s.Timeout = lasts + 3*time.Second
	s.Plenty = true // the second part wants the rest
	return s
}

// sell sells both parts. The error says what stood in the way.
func (o Options) sell(ctx context.Context, t *trial) error {
	if err := o.Lab.Serve(ctx, o.Settings.ServiceSettings); err != nil {
		return fmt.Errorf("the service processes could not be started: %w", err)
	}
	left, err := o.first(ctx, t)
	if err != nil {
		return err
	}
	if err := o.Lab.Serve(ctx, o.Settings.ServiceSettings); err != nil {
		return fmt.Errorf("the service processes could not be started after the fault: %w", err)
	}
	if err := o.second(ctx, t, left); err != nil {
		return fmt.Errorf("after the fault: %w", err)
	}
	return nil
}

// first has buyers come while the fault happens, and says how many units they left.
func (o Options) first(ctx context.Context, t *trial) (left int64, err error) {
	sale := t.sale
	var began time.Time // when the buyers came
	sale.OnProgress = func(p loadtest.Progress) {
		// A pause means nothing when no more buyers come.
		if at := tenths(time.Since(began)); !p.Settling && !began.IsZero() && at <= tenths(sale.Duration) {
			t.Course = append(t.Course, [3]int{at, p.Counts[ledger.OutcomeSold], p.Uncertain()})
		}
	}
	in := fault.NewInjector(ctx, o.Lab, []fault.Sale{{Strategy: sale.Strategy, SKU: sku}}, nil)
	if known, err := fault.Find(t.fault); err == nil {
		planned := fault.Planned{Kind: t.fault, At: int(before.Milliseconds()), Busy: true}
		if !known.Holder {
			planned.Service = 1
		}
		if known.Lasts {
			planned.For = int(lasts.Milliseconds())
		}
		in.Add(planned)
	}
	sale.Begin = func() {
		began = time.Now()
		in.Begin()
	}
	sale.Outage = func() time.Duration { return in.Outage() + o.Settings.slack() }
	first, err := o.load(ctx, sale)
	in.End()
	if err != nil {
		return 0, err
	}
	if began.IsZero() { // what others would buy from is not there
		return 0, fmt.Errorf("no buyer came: %v", first.Problems)
	}
	if all := in.Faults(); len(all) > 0 {
		t.happened = &all[0]
	}
	t.take(first, true)
	if first.Audit == nil {
		return sale.Stock, nil
	}
	return max(0, first.Audit.Initial-first.Audit.Sold), nil
}

func tenths(d time.Duration) int {
	return int(d.Round(100*time.Millisecond) / (100 * time.Millisecond))
}

// second has others buy up what the first part left.
func (o Options) second(ctx context.Context, t *trial, left int64) error {
	sale := t.sale
	sale.Seed = loadtest.SeedAfter(sale.Seed, sale.Requests())
	sale.Profile, sale.Rate, sale.Duration, sale.Cancellations = loadtest.Closed, 0, 0, 0
	sale.Joins, sale.Concurrency, sale.Buyers, sale.Outage = true, afterwards, max(int(left), crowd)+more, o.Settings.slack
	// A sale that stands still has shown what it can. One that is slow goes on: it
	// shows only at its end whether more is sold than there was.
	short, cancel := context.WithTimeout(ctx, longest)
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
		return err
	}
	t.take(second, false)
	t.Units[leftOver], t.After = left, second.Counts[ledger.OutcomeSold]
	return nil
}
