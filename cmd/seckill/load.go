package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"seckill/internal/backend"
	"seckill/internal/fault"
	"seckill/internal/tables"
	"seckill/loadtest"
	"seckill/strategies"
)

// LoadCmd sends a load to a sale and judges the sale. Its exit status is the verdict. BeforeApply sets the
// values of the scenario file, and flags then override these values.
type LoadCmd struct {
	HelpAll  helpAll           `help:"${HelpAll}"`
	Target   []string          `placeholder:"URL" help:"${Target}"`
	Strategy string            `group:"sale" placeholder:"NAME" help:"${Strategy}"`
	File     string            `name:"scenario" placeholder:"FILE" help:"YAML file with values of the flags below, such as stock: 100."`
	Thorough bool              `group:"sale" help:"${Thorough}"`
	Scenario loadtest.Scenario `embed:""`

	Output
	PlaceFlags
}

func (c *LoadCmd) Help() string {
	return fmt.Sprintf("Exit status: %d held, %d oversold, %d lost or undersold or answers that cannot all be true, "+
		"%d held but a requirement was not met, %d nothing was oversold or lost, but the sale stood still while "+
		"buyers asked, %d the run itself was not valid, %d wrong command line or scenario.", loadtest.ExitHeld,
		loadtest.ExitOversold, loadtest.ExitLost, loadtest.ExitUnmet, loadtest.ExitBlocked, loadtest.ExitNotValid,
		statusUsage)
}

// BeforeApply sets the defaults and the values of the scenario file.
func (c *LoadCmd) BeforeApply(line *kong.Context) error {
	given := givenFlags(line)
	c.Scenario = loadtest.DefaultScenario()
	if given["thorough"] == true {
		c.Scenario = loadtest.ThoroughScenario()
	}
	c.Scenario.Seed = rand.Uint64()
	var err error
	if file, named := given["scenario"].(string); named {
		c.Scenario, err = loadtest.ReadScenario(file, c.Scenario)
	}
	c.Strategy = c.Scenario.Strategy
	return err
}

// Validate checks the scenario and the flags.
func (c *LoadCmd) Validate(line *kong.Context) error {
	s := &c.Scenario
	s.Strategy = c.Strategy
	if err := (loadtest.Config{Scenario: c.Scenario, Targets: c.Target}).Check(); err != nil {
		return err
	}
	given := givenFlags(line)
	for name, unused := range map[string]bool{"concurrency": s.Open(), "buyers": s.Profile == loadtest.Constant} {
		if given[name] != nil && unused {
			return fmt.Errorf("--%s: the profile %q does not use it", name, s.Profile)
		}
	}
	known, err := strategyNamed("--strategy", s.Strategy)
	if c.Thorough && known.Reserves && s.Reserve == 0 && !s.Async {
		s.Reserve, s.Forget = time.Second, max(s.Forget, 0.2)
	}
	if err == nil {
		s.Strategy = known.Name
	}
	switch {
	// With --target, this program may not know the strategy, because the targets may have other strategies.
	case err != nil && len(c.Target) == 0:
		return err
	case err == nil && s.Reserve > 0 && !known.Reserves:
		return fmt.Errorf("--reserve: strategy %q has no reservations", s.Strategy)
	}
	return errors.Join(c.PlaceFlags.checkPlace(c.Target), c.Output.checkOutput(loadtest.ReportName))
}

func (c *LoadCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // The user has not set GOMEMLIMIT.
		debug.SetMemoryLimit(loadtest.MaxMemory * 8 / 10) // so that Go collects garbage before MaxMemory is reached
	}
	chosen := strategies.Named(c.Scenario.Strategy) // empty if only the services of --target know the strategy
	c.warnUnfit(stderr, chosen)
	where, err := c.findPlace(ctx, stderr, c.Target, serversFor(chosen))
	if err != nil {
		return err
	}
	defer where.closeAll()
	config := where.sale
	config.Scenario = c.Scenario
	var done func()
	config.OnProgress, done = c.progressPrinter(stderr, config)
	end := c.planFault(ctx, where, &config)
	result, err := loadtest.Run(ctx, config)
	done()
	happened := end()
	if err != nil {
		return err
	}
	result.Fault = happened
	written := result.Report()
	// The JSON of a run also says where the result comes from, in the same fields as a comparison.
	written.JSON = struct {
		Command string         `json:"command"` // the command line, without passwords
		Version string         `json:"version"` // version of seckill
		Machine tables.Machine `json:"machine"`
		*loadtest.Result
	}{commandLine(), buildVersion(), tables.ThisMachine(), result}
	if err := c.Output.writeReport(stdout, written); err != nil {
		return fmt.Errorf("%w (the verdict was: %s)", err, result.Verdict)
	}
	return exitStatus(result.ExitStatus())
}

// planFault plans a fault for a thorough run in a lab of its own. When a quarter of the stock is sold,
// the fault kills a process, which is then started again. An odd seed chooses the database, an even
// seed the last service process. The returned function ends the fault and returns a
// description of the fault, or "" if the fault cannot have affected a purchase.
func (c *LoadCmd) planFault(ctx context.Context, where *place, run *loadtest.Config) func() string {
	if !c.Thorough || where.lab == nil {
		return func() string { return "" }
	}
	sale := fault.Sale{Strategy: c.Scenario.Strategy, SKU: c.Scenario.SKU}
	in := fault.NewInjector(ctx, fault.Lab{Lab: where.lab}.Inject, []fault.Sale{sale}, nil)
	planned := fault.Planned{Kind: fault.KillService, Service: len(where.lab.ServiceProcesses()), For: 500}
	if _, err := where.lab.Process(backend.NameMySQL); err == nil && run.Seed%2 > 0 {
		planned = fault.Planned{Kind: fault.RestartMySQL}
	}
	_, _ = in.Add(planned)
	show, units := run.OnProgress, c.Scenario.Stock*int64(c.Scenario.SKUs)
	run.Outage, run.Faulty = in.Outage, func() bool { return true }
	run.OnProgress = func(p loadtest.Progress) {
		if p.Left <= units*3/4 {
			in.Begin()
		}
		show(p)
	}
	return func() string {
		in.End()
		if all := in.Faults(); len(all) == 1 && all[0].Effect != nil && all[0].Effect.CouldMatter {
			return "a fault (" + strings.ReplaceAll(string(planned.Kind), "_", " ") + ")"
		}
		return ""
	}
}

// progressPrinter returns functions that show and clear the progress on a terminal. If stderr is not a
// terminal, progressPrinter itself prints one line about the run, and nothing afterwards.
func (c *LoadCmd) progressPrinter(stderr stderrWriter, run loadtest.Config) (func(loadtest.Progress), func()) {
	show, clear := linePrinter(stderr, c.Quiet)
	if !isTerminal(stderr.Writer) {
		show(fmt.Sprintf("%s: %d buyers for %d units at %s, seed %d",
			run.Strategy, run.Requests(), run.Stock, strings.Join(run.Targets, ", "), run.Seed))
		return func(loadtest.Progress) {}, clear
	}
	units := run.Stock * int64(run.SKUs)
	return func(p loadtest.Progress) { show(p.Line(units)) }, clear
}
