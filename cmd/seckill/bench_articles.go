package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"seckill/internal/backend"
	"seckill/internal/bench"
	"seckill/internal/catalog"
	"seckill/strategies/mysqllock"
)

// BenchArticlesCmd repeats the experiments that the articles describe.
type BenchArticlesCmd struct {
	Lock    string        `default:"redis-lua" help:"A polling lock, for the sweeps over pause and lease."`
	Task    time.Duration `default:"5ms" help:"How long each holder works; the sweeps' pauses and leases are multiples of it."`
	Rounds  int           `default:"3" help:"How often everything is measured, in alternating order."`
	For     time.Duration `default:"1s" help:"How long one setting is measured at a time."`
	Workers int           `default:"50" help:"Goroutines of article B's experiment with the lock table."`
	Output
	Given backend.Config `embed:""`
}

// Validate finds what is wrong with the flags alone.
func (c *BenchArticlesCmd) Validate() error {
	if _, err := c.polling(); err != nil {
		return err
	}
	switch {
	case c.Task < time.Millisecond || c.Task > time.Second:
		return errors.New("--task must be from 1ms to 1s, such as 5ms")
	case c.Rounds < 1 || c.Rounds > 100:
		return errors.New("--rounds must be 1 to 100")
	case c.For < 10*time.Millisecond || c.For > time.Hour:
		return errors.New("--for must be from 10ms to 1h, such as 1s")
	case c.Workers < 1 || c.Workers > 100:
		return errors.New("--workers must be 1 to 100")
	case c.Given.SQLitePath != "":
		return errors.New("--sqlite-path: no lock lives in SQLite; give --mysql-dsn, or nothing")
	}
	return c.Output.check(bench.ArticlesName)
}

func (c *BenchArticlesCmd) polling() (catalog.Info, error) {
	found, err := pick("--lock", []string{c.Lock}, locks(), nameOf)
	if err != nil {
		return catalog.Info{}, err
	}
	info := found[0]
	takes := func(flag string) bool {
		return slices.ContainsFunc(info.Options, func(o catalog.Option) bool { return o.Flag == flag })
	}
	if info.Broken() || !takes("--lock-poll") || !takes("--lock-lease") {
		return info, fmt.Errorf("--lock: %q is no lock that polls and has a lease; redis-lua and redis-set-nx-px are", c.Lock)
	}
	return info, nil
}

func (c *BenchArticlesCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	if err := c.Output.prepare(); err != nil {
		return err
	}
	polling, err := c.polling()
	if err != nil {
		return err
	}
	settings := catalog.DefaultSettings()
	onStep, clear := steps(stderr, c.Quiet)
	options := bench.Options{Hold: c.Task, Rounds: c.Rounds, For: c.For, Progress: onStep}
	e := bench.Experiment{Central: mysqllock.LockTableCentral, Segmented: mysqllock.LockTableSegmented, Polling: polling,
		Settings: settings, Workers: c.Workers}
	l, err := startServers(ctx, []bench.Candidate{bench.Ours(polling, settings), bench.Ours(e.Central, settings)}, c.Given)
	if err != nil {
		return err
	}
	defer stopLab(l)
	options.Backends = l.Config()
	articles, err := bench.RunArticles(ctx, options, e)
	clear()
	articles.Command, articles.Servers = commandLine(), l.Backends()
	if written := c.Output.write(stdout, articles.Report()); written != nil {
		return errors.Join(err, written)
	}
	if err != nil {
		return fmt.Errorf("not everything could be measured: %w", err)
	}
	return nil
}
