package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/chaos"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/tables"
	"seckill/loadtest"
)

// ChaosCmd runs a sale of each strategy with each fault. The fault happens in the middle of the sale.
type ChaosCmd struct {
	Strategies []string `default:"all" help:"${StrategyNames}" placeholder:"NAME"`
	Faults     []string `default:"all" help:"${Faults}" placeholder:"FAULT"`
	List       bool     `help:"List the faults."`
	Resume     string   `placeholder:"FILE" help:"${Resume}"`

	Rate float64 `default:"200" help:"Buyers a second." group:"sale"`
	Seed *uint64 `group:"sale" placeholder:"N" help:"Repeat the same buyers in the same order (default: a new seed)."`

	Output
	TopologyFlag

	chosen   []catalog.Info
	faults   []fault.Name
	settings chaos.Settings
	earlier  *chaos.Result // the result in the file that --resume names; nil if there is none
}

func (ChaosCmd) Help() string {
	return fmt.Sprintf(`Each sale has two parts: buyers come while the fault happens, then others buy what is left.
It starts a lab of its own, and harms nothing else.

Exit status: %d every promise held, %d a strategy oversold that promises not to, %d one lost or undersold,
%d one stood still, or did not go on after the fault, %d interrupted, or a sale proves nothing,
%d the result could not be written, %d wrong command line.`,
		loadtest.ExitHeld, loadtest.ExitOversold, loadtest.ExitLost, loadtest.ExitBlocked, loadtest.ExitNotValid,
		statusFailed, statusUsage)
}

// Validate checks the flags and the file that --resume names.
func (c *ChaosCmd) Validate() error {
	if c.List {
		return nil
	}
	if !(c.Rate >= 1 && c.Rate <= 10_000) {
		return errors.New("--rate: give 1 to 10000 buyers a second")
	}
	var err error
	c.settings = chaos.Default
	c.settings.Rate, c.settings.Where = c.Rate, c.Topology
	c.settings.Seed = rand.Uint64()
	if c.Seed != nil {
		c.settings.Seed = *c.Seed
	}
	if c.Resume != "" {
		if c.earlier, err = readChaos(c.Resume); err != nil {
			return fmt.Errorf("--resume: %w", err)
		}
		c.faults, c.settings = c.earlier.Faults, c.earlier.Settings
		c.Strategies = tables.Map(c.earlier.Rows, func(row chaos.Row) string { return row.Strategy })
	} else if c.faults, err = chosenFaults(c.Faults); err != nil {
		return err
	}
	if c.chosen, err = chosenStrategies(c.Strategies); err != nil {
		return err
	}
	return c.Output.checkOutput(chaos.Name)
}

func readChaos(file string) (*chaos.Result, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var r chaos.Result
	if err := json.Unmarshal(text, &r); err != nil || r.Repeat == "" || r.Rows == nil {
		return nil, fmt.Errorf("%s is not a result of seckill chaos --json", file)
	}
	return &r, nil
}

// chosenFaults returns the faults that --faults names. The name "all" means every fault, and also a sale
// without a fault.
func chosenFaults(named []string) ([]fault.Name, error) {
	all := []string{string(chaos.None)}
	for _, f := range fault.All {
		all = append(all, string(f.Name))
	}
	if slices.Equal(named, []string{"all"}) {
		named = all
	}
	return tables.Map(named, func(name string) fault.Name { return fault.Name(name) }), checkNames("--faults", named, all)
}

func (c *ChaosCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	if c.List {
		return listFaults(stdout)
	}
	c.warnUnfit(stderr, c.chosen...)
	options := chaos.Options{Strategies: c.chosen, Faults: c.faults, Settings: c.settings, Earlier: c.earlier}
	where, err := startPlace(ctx, stderr, c.settings.ServiceSettings, lab.Options{
		Host: thisHost(), Backends: serversFor(c.chosen...), Topology: c.settings.Where, Links: true,
		ServiceArgs: []string{"--zookeeper-session", fmt.Sprintf("%dms", c.settings.Lease)}})
	if err != nil {
		return err
	}
	defer where.closeAll()
	options.Lab, options.Sale = fault.Lab{Lab: where.lab}, where.sale
	onStep, clear := stepPrinter(stderr, c.Quiet)
	options.OnStep = onStep
	r := chaos.Run(ctx, options)
	clear()
	r.Command, r.Servers = commandLine(), backend.Versions(where.lab.Backends())
	if err := c.Output.writeReport(stdout, r.Report()); err != nil {
		return err
	}
	return exitStatus(r.ExitStatus())
}

func listFaults(w io.Writer) error {
	t := tables.Table{Title: "Faults", Head: []string{"name", "what happens"}, Words: 2,
		Rows: [][]string{{string(chaos.None), "nothing: the control run"}}}
	for _, f := range fault.All {
		t.Rows = append(t.Rows, []string{string(f.Name), f.Describe})
	}
	return tables.Report{Tables: []tables.Table{t}}.WriteText(w)
}
