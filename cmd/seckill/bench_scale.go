package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/bench/scale"
	"seckill/internal/catalog"
	"seckill/internal/lab"
	"seckill/internal/measure"
	"seckill/internal/packages"
	"seckill/loadtest"
	"seckill/loadtest/compare"
)

// BenchScaleCmd measures what more processes and more SKUs sell.
type BenchScaleCmd struct {
	Strategies []string      `default:"conditional,one-trip,merged,redis-lua,redis-counter-mysql,redis-stream" placeholder:"NAME" help:"Strategies by comma (${default})."`
	Processes  []int         `default:"1,2,4,8" placeholder:"N" help:"Numbers of service processes, by comma (${default})."`
	SKUs       []int         `name:"skus" default:"1,4,16,64" placeholder:"N" help:"Numbers of SKUs, by comma (${default})."`
	Behind     []string      `default:"haproxy" placeholder:"PROXY" help:"What stands before the services besides nothing: haproxy; --behind= is nothing else."`
	Buyers     int           `default:"64" placeholder:"N" help:"Buyers at a time (${default})."`
	Rounds     int           `default:"3" help:"How often everything is measured, in alternating order."`
	Within     time.Duration `default:"20m" help:"About how long it may take: each measurement gets its share."`

	BenchOutput

	chosen []catalog.Info
}

// Help is what seckill bench scale --help says below its flags.
func (BenchScaleCmd) Help() string {
	return `The same sale, every buyer of which gets a unit: of one SKU with each number of service processes; with the middle one of
these numbers of each number of SKUs, of the most of them with one hot, and behind the proxy. It says what was full or
waited for each time, and what a small model, calibrated on the first cell of a strategy alone, had predicted.

Servers are started for this run and stopped after it. The load generator shares the machine with them. Every sale is
audited from the ledger. Processor times are read from the system: Linux only.

Exit status: 0 when everything was measured and held, 1 when not, 2 for a wrong command line.`
}

// behindHAProxy is what --behind can say.
const behindHAProxy = "haproxy"

// Validate finds what is wrong with the flags alone.
func (c *BenchScaleCmd) Validate() (err error) {
	if c.chosen, err = chosenStrategies(c.Strategies); err != nil {
		return err
	}
	for _, info := range c.chosen {
		switch {
		case info.Broken():
			return fmt.Errorf("--strategies: %s is broken on purpose: its sales are not held, and have no rate", info.Name)
		case inProcess(info):
			return fmt.Errorf("--strategies: %s is right in one process only", info.Name)
		}
	}
	if err := compare.CheckCrowds([]int{c.Buyers}); err != nil {
		return fmt.Errorf("--buyers: %w", err)
	}
	if c.Processes, err = ascending("--processes", c.Processes, lab.MostServices); err != nil {
		return err
	}
	if c.SKUs, err = ascending("--skus", c.SKUs, 256); err != nil {
		return err
	}
	for i, b := range c.Behind {
		if b != behindHAProxy || i > 0 {
			return fmt.Errorf("--behind %s: there is haproxy, or nothing (--behind=)", strings.Join(c.Behind, ","))
		}
	}
	if err := checkTurns(c.turns(), c.Rounds, c.Within, "--strategies, --processes, --skus"); err != nil {
		return err
	}
	return c.BenchOutput.of(nil, nil).check()
}

// ascending checks a list of numbers and sorts it.
func ascending(flag string, all []int, most int) ([]int, error) {
	all = slices.Sorted(slices.Values(all))
	if len(all) == 0 || all[0] < 1 || all[len(all)-1] > most || len(slices.Compact(slices.Clone(all))) < len(all) {
		return nil, fmt.Errorf("%s must be different numbers from 1 to %d by comma, such as 1,2,4", flag, most)
	}
	return all, nil
}

func (c *BenchScaleCmd) turns() int {
	return c.Rounds * len(c.chosen) * len(scale.Shapes(c.Processes, c.SKUs, c.Behind))
}

func (c *BenchScaleCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	if err := c.BenchOutput.of(nil, nil).prepare(); err != nil {
		return err
	}
	if proxy := packages.NewSearch(host().Getenv).Find(packages.HAProxy); len(c.Behind) > 0 && !proxy.Found() {
		return fmt.Errorf("--behind haproxy: %s, or give --behind=", proxy.Missing())
	}
	if !c.Quiet {
		announceTurns(stderr, c.turns(), c.Rounds, c.Within)
	}
	report := &scale.Report{Command: commandLine(), Began: time.Now(), Machine: measure.ThisMachine()}
	r, err := c.measure(ctx, stderr)
	if r == nil {
		return err
	}
	report.Result = r
	_, written := c.BenchOutput.of(report.Tables(), report.WriteJSON).write(stdout)
	return measured(written, err, report.Failed())
}

// measure runs everything on servers of its own. The result is nil if they did
// not start.
func (c *BenchScaleCmd) measure(ctx context.Context, stderr stderrWriter) (*scale.Result, error) {
	needs := []backend.Capability{backend.SQL, backend.RowLocks}
	for _, info := range c.chosen {
		needs = append(needs, info.Needs...)
	}
	own, err := lab.Start(ctx, lab.Options{Host: host(), Backends: backend.NamesOf(needs...)})
	if err != nil {
		return nil, fmt.Errorf("start a lab for this run: %w", err)
	}
	p := &place{sql: own.Config(), closers: []func(){func() { _ = stopLab(own) }}}
	defer p.leave()
	o := scale.Options{Strategies: strategyNames(c.chosen), Processes: c.Processes, SKUs: c.SKUs, Behind: c.Behind, Buyers: c.Buyers,
		Rounds: c.Rounds, Within: c.Within, Times: own.ProcessorTimes, Serve: (&fleet{lab: own}).serve}
	o.Sale = loadtest.Config{Scenario: loadtest.DefaultScenario(), AdminToken: own.Token()}
	o.Sale.Copies, o.Sale.Retry, o.Sale.Seed, o.Sale.Connected = 0, 0, rand.Uint64(), true
	if err := p.openLedger(ctx, &o.Sale); err != nil {
		return nil, err
	}
	if o.In, err = backend.Open(ctx, p.sql.Only(backend.SQL, backend.RowLocks, backend.Redis)); err != nil {
		return nil, err
	}
	p.closers = append(p.closers, func() { _ = o.In.Close() })
	onStep, clear := steps(stderr, c.Quiet)
	o.Progress = onStep
	r, err := scale.Run(ctx, o)
	clear()
	r.Durability = measure.Durability(context.WithoutCancel(ctx), o.In)
	return r, err
}

// A fleet is service processes of a lab, and what stands before them.
type fleet struct {
	lab   *lab.Lab
	proxy *lab.Process // nil: none
}

// serve has so many processes run, and says where buyers go.
func (f *fleet) serve(ctx context.Context, processes int, behind string) (targets []string, err error) {
	if f.proxy != nil {
		if err := f.proxy.Terminate(ctx); err != nil {
			return nil, err
		}
		f.proxy = nil
	}
	usual := catalog.DefaultSettings()
	settings := lab.ServiceSettings{Services: processes, Lease: int(usual.LockLease.Milliseconds()),
		Wait: int(usual.LockWait.Milliseconds()), Poll: int(usual.LockPoll.Milliseconds())}
	if err := f.lab.Serve(ctx, settings); err != nil {
		return nil, err
	}
	var addresses []string
	for _, s := range f.lab.Services() {
		targets = append(targets, s.URL)
		addresses = append(addresses, strings.TrimPrefix(s.URL, "http://"))
	}
	if behind == scale.Straight {
		return targets, nil
	}
	if f.proxy, err = f.lab.StartProxy(ctx, addresses); err != nil {
		return nil, err
	}
	return []string{"http://" + f.proxy.Addr}, nil
}
