// Package chaos runs a sale with a fault in the middle, for every strategy and every fault. The result has
// a cell for each pair: the judge's verdict, the longest time without a sale, and whether sales went on.
//
// A cell's sale has two parts. In the first part, buyers send requests at a constant rate while the fault happens,
// and there is more stock than they can buy. The second part begins when the fault is over and every process runs
// again. In the second part, other buyers buy the units that are left. It shows whether sales go on, and whether
// more units are sold than there were. A cell is "not tested" if its fault took no effect or could not matter.
package chaos

import (
	"context"
	"fmt"
	"slices"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/judge"
	"seckill/internal/lab"
	"seckill/internal/tables"
	"seckill/loadtest"
)

// None stands for a control run without a fault.
const None fault.Name = "none"

// A Lab runs the service processes and injects faults; fault.Lab implements it.
type Lab interface {
	Inject(context.Context, fault.Name, fault.Aim) (*fault.Injection, error)
	Faults() []fault.Status
	Serve(context.Context, lab.ServiceSettings) error
}

// Options select the strategies, the faults and the service processes of a run. A cell is one strategy with one fault.
type Options struct {
	Lab        Lab
	Strategies []catalog.Info
	Faults     []fault.Name    // may contain None, which stands for a control run without a fault
	Sale       loadtest.Config // has the targets of requests; each cell sets its own scenario
	Settings   Settings
	Earlier    *Result                            // an earlier result, whose tested cells are not run again; may be nil
	OnStep     func(done, total int, what string) // called before each cell; may be nil

	load func(context.Context, loadtest.Config) (*loadtest.Result, error) // runs a sale; nil stands for loadtest.Run
}

// Settings apply to all cells.
type Settings struct {
	Seed  uint64  `json:"seed,string"`
	Rate  float64 `json:"rate"`     // buyers per second in the first part
	Where string  `json:"topology"` // the topology of the lab
	lab.ServiceSettings
}

// Default holds the default settings. The lease is shorter than faultDuration, so it can end during a fault.
var Default = Settings{Rate: 200, Where: lab.Single,
	ServiceSettings: lab.ServiceSettings{Services: 2, Lease: 1000, Wait: 500, Poll: 10}}

// The times and sizes of a cell's sale. A cell takes about six seconds.
const (
	sku = 1

	loadBeforeFault = 500 * time.Millisecond
	faultDuration   = 1600 * time.Millisecond // the duration of a fault that ends by itself
	loadAfterFault  = time.Second
	firstPart       = loadBeforeFault + faultDuration + loadAfterFault

	maxStandstill  = 10 * time.Second // the second part of a sale ends after this time without a sold unit
	maxSecondPart  = 6 * maxStandstill
	followUpBuyers = 16 // the number of buyers that buy at the same time in the second part of a sale
	extraBuyers    = 50 // the number of buyers in the second part of a sale in addition to one for each unit
	// minFollowUps is the minimum number of buyers in the second part of a sale. In a sale that stands still, each
	// buyer waits for a lock until a timeout. With this number of buyers, the waits take longer than maxStandstill
	// in all, so the standstill is noticed.
	minFollowUps = 20 * followUpBuyers
)

// stock returns more units than the buyers of the first part can buy.
func (s Settings) stock() int64 { return int64(s.Rate*firstPart.Seconds()) + 100 }

// slack returns an extra time. A sale counts as blocked if it stands still for longer than the fault, a buyer's wait,
// the lease and this time together. A lease in etcd lasts at least two seconds, and the machine may be busy.
func (s Settings) slack() time.Duration {
	return time.Duration(max(0, 2000-s.Lease))*time.Millisecond + 3*time.Second
}

// Run runs the cells, one strategy after another. When ctx ends, the current cell and all later cells are missing in
// the result.
func Run(ctx context.Context, o Options) *Result {
	if o.load == nil {
		o.load = loadtest.Run
	}
	available, s := o.Lab.Faults(), o.Settings
	r := &Result{Begun: time.Now().UTC().Format(time.DateOnly), Machine: tables.ThisMachine().String(),
		Settings: s, Servers: []string{}, Faults: o.Faults, Rows: []Row{},
		Repeat: fmt.Sprintf("seckill chaos --strategies STRATEGY --faults FAULT --seed %d --rate %v --topology %s",
			s.Seed, s.Rate, s.Where)}
	total, done := len(o.Strategies)*len(o.Faults), 0
	for _, info := range o.Strategies {
		row := Row{info.Name, make([]*Cell, len(o.Faults))}
		for i, name := range o.Faults {
			if row.Cells[i] = o.Earlier.testedCell(info.Name, name); row.Cells[i] == nil && ctx.Err() == nil {
				if o.OnStep != nil {
					o.OnStep(done, total, fmt.Sprintf("%s, %s", info.Name, name))
				}
				c := new(Cell)
				if isApplicable(info, name, available) {
					c = o.runCell(ctx, info, name)
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

// isApplicable reports whether the lab can inject a fault that the strategy can notice. A strategy
// does not notice a fault of a backend that it does not use.
func isApplicable(info catalog.Info, name fault.Name, available []fault.Status) bool {
	return name == None || slices.ContainsFunc(available, func(f fault.Status) bool {
		return f.Kind == name && f.Available && (f.Uses == "" || slices.Contains(info.Needs, f.Uses))
	})
}

// mayBreak reports whether the strategy breaks even without a fault, or does not promise to withstand this fault. With
// such a strategy, a broken sale is no surprise.
func (o Options) mayBreak(info catalog.Info, name fault.Name) bool {
	if info.BreaksIn(o.Settings.Services) || info.Unfit(o.Settings.Where) != "" {
		return true
	}
	f, err := fault.Find(name) // an error means that this is the control run, which has no fault
	return err == nil && info.Guarantees[f.Question] != catalog.Holds
}

func (o Options) runCell(ctx context.Context, info catalog.Info, name fault.Name) *Cell {
	t := &trial{fault: name, sale: o.Sale}
	t.sale.Scenario = o.scenario(info.Name, name)
	if err := o.runBothParts(ctx, t); err != nil {
		// An error does not disprove damage that was found before, so a broken sale stays broken.
		if t.problems = append(t.problems, err.Error()); !t.isBroken() {
			t.verdict = judge.NotValid
		}
	}
	mayAnswerWrongly := info.Broken() || info.Guarantees[catalog.SoldOut] == catalog.Breaks
	onlyAnswersAreWrong := onlyRule(t.violations, judge.RuleNotLinearizable) // if true, the orders are right
	return t.newCell(o.mayBreak(info, name) || mayAnswerWrongly && onlyAnswersAreWrong)
}

// scenario returns the scenario of the first part of a cell's sale. Its buyers send requests twice, retry and cancel.
// The seed depends only on the run's seed and on the cell. So a cell has the same buyers when it is run alone.
func (o Options) scenario(strategy string, name fault.Name) loadtest.Scenario {
	s := loadtest.DefaultScenario()
	s.Strategy, s.SKU, s.Stock, s.Seed = strategy, sku, o.Settings.stock(), o.Settings.Seed
	for _, b := range []byte(strategy + "\x00" + string(name)) { // FNV-1a
		s.Seed = (s.Seed ^ uint64(b)) * 0x100000001b3
	}
	s.Buyers, s.Concurrency, s.Profile, s.Rate, s.Duration = 0, 0, loadtest.Constant, o.Settings.Rate, firstPart
	s.Duplicates, s.Copies, s.Cancellations, s.Retry = 0, 0.02, 0.02, 1
	s.Timeout = faultDuration + 3*time.Second
	s.Plenty = true // the stock exceeds the demand on purpose, to leave units for the second part
	return s
}

func (o Options) runBothParts(ctx context.Context, t *trial) error {
	if err := o.Lab.Serve(ctx, o.Settings.ServiceSettings); err != nil {
		return fmt.Errorf("the service processes could not be started: %w", err)
	}
	left, err := o.runFirstPart(ctx, t)
	if err != nil {
		return err
	}
	if err := o.Lab.Serve(ctx, o.Settings.ServiceSettings); err != nil {
		return fmt.Errorf("the service processes could not be started after the fault: %w", err)
	}
	if err := o.runSecondPart(ctx, t, left); err != nil {
		return fmt.Errorf("after the fault: %w", err)
	}
	return nil
}

// runFirstPart injects the fault while buyers send requests. It returns the number of unsold units.
func (o Options) runFirstPart(ctx context.Context, t *trial) (int64, error) {
	sale := t.sale
	var began time.Time // the time of the first requests
	sale.OnProgress = func(p loadtest.Progress) {
		// A pause after the last request is no standstill, so it is not recorded.
		if at := tenths(time.Since(began)); !p.Settling && !began.IsZero() && at <= tenths(sale.Duration) {
			t.Course = append(t.Course, [3]int{at, p.Counts[judge.OutcomeSold], p.Counts.Uncertain()})
		}
	}
	in := fault.NewInjector(ctx, o.Lab.Inject, []fault.Sale{{Strategy: sale.Strategy, SKU: sku}}, nil)
	if f, err := fault.Find(t.fault); err == nil {
		planned := fault.Planned{Kind: t.fault, At: int(loadBeforeFault.Milliseconds())}
		if !f.AtHolder() {
			planned.Service = 1
		}
		if f.Lasts {
			planned.For = int(faultDuration.Milliseconds())
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
	// No request was sent and no stock was set, so the second part could not sell either.
	if began.IsZero() {
		return 0, fmt.Errorf("no buyer came: %v", first.Problems)
	}
	if all := in.Faults(); len(all) > 0 {
		t.happened = &all[0]
	}
	t.addPart(first, true)
	if first.Audit == nil {
		return sale.Stock, nil
	}
	return max(0, first.Audit.Initial-first.Audit.Sold), nil
}

func tenths(d time.Duration) int {
	return int(d.Round(100*time.Millisecond) / (100 * time.Millisecond))
}

// runSecondPart lets other buyers buy the units that the first part left.
func (o Options) runSecondPart(ctx context.Context, t *trial, left int64) error {
	sale := t.sale
	sale.Seed = loadtest.SeedAfter(sale.Seed, sale.Requests())
	sale.Profile, sale.Rate, sale.Duration, sale.Cancellations = loadtest.Closed, 0, 0, 0
	sale.Joins, sale.Concurrency, sale.Outage = true, followUpBuyers, o.Settings.slack
	sale.Buyers = max(int(left), minFollowUps) + extraBuyers
	// A sale ends if no unit is sold for maxStandstill. Any other sale may take up to maxSecondPart, because only a
	// complete sale shows whether more units are sold than there were.
	limited, cancel := context.WithTimeout(ctx, maxSecondPart)
	defer cancel()
	standstill := time.AfterFunc(maxStandstill, cancel)
	defer standstill.Stop()
	sold := -1
	sale.OnProgress = func(p loadtest.Progress) {
		if now := p.Counts[judge.OutcomeSold]; now > sold {
			sold = now
			standstill.Reset(maxStandstill)
		}
	}
	second, err := o.load(limited, sale)
	if err != nil {
		return err
	}
	t.addPart(second, false)
	t.Units[unitsLeft], t.After = left, second.Counts[judge.OutcomeSold]
	return nil
}
