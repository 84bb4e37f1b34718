package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

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
	BenchFlags
}

// Validate finds what is wrong with the flags alone.
func (c *BenchArticlesCmd) Validate() error {
	if _, err := c.polling(); err != nil {
		return err
	}
	switch {
	case c.Task < time.Millisecond || c.Task > time.Second:
		return errors.New("--task must be from 1ms to 1s, such as 5ms")
	case c.Workers < 1 || c.Workers > 100:
		return errors.New("--workers must be 1 to 100")
	}
	return c.check(bench.ArticlesName, bench.Options{Rounds: c.Rounds, For: c.For})
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
	polling, err := c.polling()
	if err != nil {
		return err
	}
	settings := catalog.DefaultSettings()
	e := bench.Experiment{Central: mysqllock.LockTableCentral, Segmented: mysqllock.LockTableSegmented, Polling: polling,
		Settings: settings, Workers: c.Workers}
	return c.run(ctx, stdout, stderr, bench.Options{Hold: c.Task, Rounds: c.Rounds, For: c.For},
		[]bench.Candidate{bench.Ours(polling, settings), bench.Ours(e.Central, settings)},
		func(o bench.Options) (measured, error) { return bench.RunArticles(ctx, o, e) })
}
