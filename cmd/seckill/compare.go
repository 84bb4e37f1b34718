package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"seckill/internal/catalog"
	"seckill/internal/tables"
	"seckill/loadtest"
	"seckill/loadtest/compare"
)

// CompareCmd runs the same sale with one strategy after the other. BeforeApply sets the values of a preset,
// and flags then override these values.
type CompareCmd struct {
	HelpAll  helpAll          `help:"${HelpAll}"`
	Target   []string         `placeholder:"URL" help:"${Target}"`
	Preset   string           `default:"flash-sale" placeholder:"NAME" help:"The sale, unless flags change it."`
	Settings compare.Settings `embed:""`
	Output
	PlaceFlags // has the flags for the database, which the verdict and the baselines need

	preset compare.Preset
	chosen []catalog.Info
}

func (CompareCmd) Help() string {
	var presets strings.Builder
	for _, p := range compare.Presets() {
		fmt.Fprintf(&presets, "  %-11s  %s\n", p.Name, p.Says)
	}
	return fmt.Sprintf(`Presets, each with strategies that show it:
%s
Exit status: %d correct strategies held, %d oversold, %d lost, %d blocked,
%d not valid, interrupted, or a strategy that was named did not run,
%d the result could not be written, %d wrong command line.`,
		presets.String(), loadtest.ExitHeld, loadtest.ExitOversold, loadtest.ExitLost, loadtest.ExitBlocked,
		loadtest.ExitNotValid, statusFailed, statusUsage)
}

// BeforeApply sets the values of the preset that the flags name.
func (c *CompareCmd) BeforeApply(line *kong.Context) error {
	name, _ := givenFlags(line)["preset"].(string)
	var err error
	c.preset, err = compare.PresetNamed(cmp.Or(name, compare.Presets()[0].Name))
	c.Settings = c.preset.Settings
	c.Settings.Seed, c.Settings.Strategies = rand.Uint64(), nil
	return err
}

// Validate checks the flags and the files to write.
func (c *CompareCmd) Validate() error {
	s := &c.Settings
	if len(s.Strategies) == 0 {
		s.Strategies = c.preset.Strategies
	}
	var err error
	if c.chosen, err = chosenStrategies(s.Strategies); err != nil {
		return err
	}
	if !slices.Equal(s.Strategies, []string{compare.All}) {
		s.Strategies = tables.Map(c.chosen, nameOf)
	}
	if err := s.Check(); err != nil {
		return err
	}
	if err := (loadtest.Config{Scenario: loadtest.DefaultScenario(), Targets: c.Target}).Check(); err != nil {
		return err
	}
	return errors.Join(c.PlaceFlags.checkPlace(c.Target), c.Output.checkOutput(s.Preset))
}

func (c *CompareCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	where, err := c.findPlace(ctx, stderr, c.Target, nil)
	if err != nil {
		return err
	}
	defer where.closeAll()
	c.warnUnfit(stderr, c.chosen...)
	onStep, clear := stepPrinter(stderr, c.Quiet)
	options := compare.Options{Settings: c.Settings, Sale: where.sale, Servers: where.sql}
	options.OnStep = func(done, total int, next compare.Step) {
		onStep(done, total, fmt.Sprintf("%s, %d at a time", next.Strategy, next.Concurrency))
	}
	if where.lab != nil {
		options.Sale.ServersTime = where.lab.ServersTime
	}
	result := runComparison(ctx, c.chosen, options)
	clear()
	result.Command = commandLine()
	if err := c.Output.writeReport(stdout, result.Report()); err != nil {
		return err
	}
	return exitStatus(result.ExitStatus())
}

func runComparison(ctx context.Context, chosen []catalog.Info, o compare.Options) *compare.Result {
	for _, i := range chosen {
		o.Candidates = append(o.Candidates, compare.Candidate{Strategy: i.Name, Title: i.TitleIn("en"),
			Breaks: i.BreaksIn(len(o.Sale.Targets)), ProofBreaks: strings.Join(i.Breaks(), ", ")})
	}
	result := compare.Run(ctx, o)
	result.Version = buildVersion()
	return result
}
