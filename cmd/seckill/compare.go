package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/measure"
	"seckill/loadtest"
	"seckill/loadtest/compare"
)

// CompareCmd runs the same sale with one strategy after the other. BeforeApply gives
// the settings what flags then override.
type CompareCmd struct {
	HelpAll  helpAll          `help:"${HelpAll}"`
	Target   []string         `help:"Running services, beside their database (see --help-all). Without any, a lab's." placeholder:"URL,…"`
	Preset   string           `default:"flash-sale" help:"The sale, unless flags change it; see above." placeholder:"NAME"`
	Settings compare.Settings `embed:""`
	Output
	PlaceFlags // the database is also where baselines are measured

	chosen []catalog.Info
}

// Help is what seckill compare --help says below its flags.
func (CompareCmd) Help() string {
	var presets strings.Builder
	for _, p := range compare.Presets() {
		fmt.Fprintf(&presets, "  %-11s  %s\n", p.Name, p.Says)
	}
	return fmt.Sprintf(`Presets, each with strategies that show it:
%s
Exit status: %d as known (correct ones held, broken ones were caught), %d oversold,
%d lost, %d blocked, %d a broken one was not caught, %d not valid, interrupted,
or without one that was named,
%d the result could not be written, %d wrong command line.`,
		presets.String(), loadtest.ExitHeld, loadtest.ExitOversold, loadtest.ExitLost, loadtest.ExitBlocked, loadtest.ExitMissed, loadtest.ExitNotValid, statusFailed, statusUsage)
}

// BeforeApply sets what the preset says.
func (c *CompareCmd) BeforeApply(line *kong.Context) error {
	name := compare.Presets()[0].Name
	for _, given := range line.Path {
		if given.Flag != nil && given.Flag.Name == "preset" {
			name = line.FlagValue(given.Flag).(string)
		}
	}
	p, err := compare.PresetNamed(name)
	if err != nil {
		return err
	}
	c.Settings = p.Settings
	c.Settings.Seed, c.Settings.Strategies = rand.Uint64(), nil
	return nil
}

// Validate finds what is wrong with the flags and the files they name.
func (c *CompareCmd) Validate() (err error) {
	s := &c.Settings
	if len(s.Strategies) == 0 {
		p, err := compare.PresetNamed(c.Preset)
		if err != nil {
			return err
		}
		s.Strategies = p.Strategies
	}
	if c.chosen, err = chosenStrategies(s.Strategies); err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return err
	}
	if s.RelativeTo != "" && !slices.ContainsFunc(c.chosen, func(i catalog.Info) bool { return i.Name == s.RelativeTo }) {
		return fmt.Errorf("--relative-to: %s is not among the strategies that are compared", s.RelativeTo)
	}
	if err := (loadtest.Config{Scenario: loadtest.DefaultScenario(), Targets: c.Target}).Check(); err != nil {
		return err
	}
	return errors.Join(c.PlaceFlags.check(c.Target), c.Output.check(s.Preset))
}

func (c *CompareCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	where, err := c.where(ctx, stderr, c.Target)
	if err != nil {
		return err
	}
	defer where.leave()
	c.warn(stderr, c.chosen...)
	onStep, clear := steps(stderr, c.Quiet)
	options := compare.Options{Settings: c.Settings, Sale: loadtest.Config{Targets: where.targets, AdminToken: where.token},
		OnStep: func(done, total int, next compare.Step) {
			onStep(done, total, fmt.Sprintf("%s, %d at a time", next.Strategy, next.Concurrency))
		}}
	if err := where.openLedger(ctx, &options.Sale); err != nil {
		return err
	}
	result := where.compare(ctx, c.chosen, options)
	clear()
	result.Command = commandLine()
	if err := c.Output.write(stdout, result.Report()); err != nil {
		return err
	}
	return ended(result.ExitStatus())
}

// mostBaselineConns: with more connections than this a bare UPDATE is slower.
const mostBaselineConns = 256

// compare runs the sale of o with each of the chosen strategies, and baselines, on the
// servers of this place.
func (p *place) compare(ctx context.Context, chosen []catalog.Info, o compare.Options) *compare.Result {
	for _, i := range chosen {
		o.Candidates = append(o.Candidates, compare.Candidate{Strategy: i.Name, Title: i.TitleIn("en"), Breaks: i.BreaksIn(len(o.Sale.Targets))})
	}
	o.Sale.ServersTime = p.serversTime
	var problems []string
	config := p.sql.Only(backend.SQL, backend.Redis)
	config.MaxSQLConns = min(slices.Max(append(o.Crowds, o.Concurrency, 2)), mostBaselineConns)
	in, err := backend.Open(ctx, config)
	durability := []measure.ServerSetting{}
	if err != nil {
		problems, in = append(problems, err.Error()), nil
	} else {
		defer in.Close()
		durability = measure.Durability(ctx, in)
	}
	stop := func() error { return nil }
	if o.Baselines != nil {
		baselines, not, stopBaselines, err := compare.OpenBaselines(ctx, o.Baselines, in)
		if err != nil {
			problems = append(problems, fmt.Sprintf("the baselines: %v", err))
		} else {
			stop = stopBaselines
		}
		o.Candidates, o.NotRun = append(o.Candidates, baselines...), append(o.NotRun, not...)
	}
	result := compare.Run(ctx, o)
	if err := stop(); err != nil { // the database may be gone
		problems = append(problems, fmt.Sprintf("the baselines may have left something behind: %v", err))
	}
	result.Version, result.Durability = buildVersion(), durability
	result.Problems = append(result.Problems, problems...)
	return result
}
