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
	"seckill/internal/lab"
	"seckill/internal/stats"
	"seckill/internal/tables"
	"seckill/strategies"
	"seckill/strategies/mysqllock"
	"seckill/strategies/redislock"
)

// BenchCmd contains the commands that measure parts of the program on their own.
type BenchCmd struct {
	Locks    BenchLocksCmd    `cmd:"" help:"Measure the locks, alone and contended."`
	Articles BenchArticlesCmd `cmd:"" help:"Repeat the experiments of the articles, beside their own figures."`
}

// BenchFlags are the flags of every benchmark.
type BenchFlags struct {
	Output
	Given backend.Config `embed:""`
}

func (f BenchFlags) checkBench(name string, o bench.Options) error {
	switch {
	case o.Rounds < 1 || o.Rounds > stats.MaxRounds:
		return fmt.Errorf("--rounds must be 1 to %d", stats.MaxRounds)
	case o.For < 10*time.Millisecond || o.For > time.Hour:
		return errors.New("--for must be from 10ms to 1h, such as 1s")
	case f.Given.SQLitePath != "":
		return errors.New("--sqlite-path: SQLite has no locks to measure; give --mysql-dsn, or nothing")
	}
	return errors.Join(f.Given.Check(), f.Output.checkOutput(name))
}

// A measured is the result of a benchmark: a *bench.Report or a *bench.Articles.
type measured interface {
	Report(tables.Run) tables.Report
}

// runBenchmark calls the function measure and writes the report. Before that, it starts the servers
// that the locks need, unless flags give their addresses. A database that it starts flushes its log at every commit.
func (f BenchFlags) runBenchmark(ctx context.Context, stdout io.Writer, stderr stderrWriter, o bench.Options,
	measure func(bench.Options) (measured, error)) error {
	var needs []backend.Capability
	for _, info := range o.Locks {
		needs = append(needs, info.Needs...)
	}
	l, err := lab.Start(ctx, lab.Options{Host: thisHost(), Backends: backend.NamesOf(needs...), Given: f.Given})
	if err != nil {
		return err
	}
	defer endLab(stderr, l)
	for _, s := range l.Backends() {
		if !s.OK || s.Tier == backend.Embedded {
			return fmt.Errorf("a benchmark needs a real %s: install one (seckill doctor says how), "+
				"or give its address %s", s.Name, s.Error)
		}
	}
	onStep, clear := stepPrinter(stderr, f.Quiet)
	o.Progress, o.Backends = onStep, l.Config()
	begun := time.Now()
	report, err := measure(o)
	clear()
	if err != nil {
		err = fmt.Errorf("not everything could be measured: %w", err)
	}
	run := tables.Run{Command: commandLine(), Begun: begun, Machine: tables.ThisMachine(),
		Servers: backend.Versions(l.Backends())}
	return errors.Join(err, f.Output.writeReport(stdout, report.Report(run)))
}

// BenchLocksCmd measures the locks of all strategies.
type BenchLocksCmd struct {
	Locks   []string      `placeholder:"NAME" help:"Locks to measure. Default: all but the broken ones."`
	Options bench.Options `embed:""`
	BenchFlags
}

const statusOverlap = 10

func (BenchLocksCmd) Help() string {
	return fmt.Sprintf(`Servers that you do not give are started for this run and stopped after it.
Use given servers for nothing else meanwhile. The locks are those of a SKU that is not on sale;
their nodes and rows stay on given servers.

Every holder increments a counter that only the lock protects. If the counter is not exact, the lock is not valid.

Exit status: 0 everything was measured, 1 something could not be measured, 2 wrong command line,
%d a lock had two holders at a time.`, statusOverlap)
}

func (c *BenchLocksCmd) Validate() error {
	for _, n := range c.Options.Contenders {
		if n < 2 || n > 512 {
			return fmt.Errorf("--contenders must be numbers from 2 to 512, such as 8,64, not %d", n)
		}
	}
	slices.Sort(c.Options.Contenders)
	c.Options.Contenders = slices.Compact(c.Options.Contenders)
	if c.Options.Hold < 0 || c.Options.Hold > time.Second {
		return errors.New("--hold must be from 0 to 1s, such as 5ms")
	}
	all := slices.DeleteFunc(strategies.All(), func(i catalog.Info) bool { return i.Locker == nil })
	if err := checkNames("--locks", c.Locks, tables.Map(all, nameOf)); err != nil {
		return err
	}
	if len(c.Locks) == 0 {
		c.Locks = tables.Map(slices.DeleteFunc(all, catalog.Info.Broken), nameOf)
	}
	c.Options.Locks = tables.Map(c.Locks, strategies.Named)
	return errors.Join(checkNames("--crowd", c.Options.Crowd, c.Locks), checkNames("--gated", c.Options.Gated, c.Locks),
		c.checkBench(bench.LocksName, c.Options))
}

func (c *BenchLocksCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	var report *bench.Report
	err := c.runBenchmark(ctx, stdout, stderr, c.Options, func(o bench.Options) (measured, error) {
		var err error
		report, err = bench.Run(ctx, o)
		return report, err
	})
	if report == nil || len(report.Overlaps()) == 0 {
		return err
	}
	if err != nil {
		fmt.Fprintf(stderr, "seckill: %v\n", err)
	}
	return exitStatus(statusOverlap)
}

// BenchArticlesCmd repeats the experiments of the published articles about locks (see the README).
type BenchArticlesCmd struct {
	Rounds int           `default:"3" help:"How often everything is measured, in alternating order."`
	For    time.Duration `default:"1s" help:"How long one setting is measured at a time."`
	BenchFlags
}

func (c *BenchArticlesCmd) benchOptions() bench.Options {
	return bench.Options{Hold: 5 * time.Millisecond, Rounds: c.Rounds, For: c.For,
		Locks: []catalog.Info{mysqllock.LockTableCentral, mysqllock.LockTableSegmented, redislock.RedisLua}}
}

func (c *BenchArticlesCmd) Validate() error {
	return c.checkBench(bench.ArticlesName, c.benchOptions())
}

func (c *BenchArticlesCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	return c.runBenchmark(ctx, stdout, stderr, c.benchOptions(),
		func(o bench.Options) (measured, error) { return bench.RunArticles(ctx, o) })
}
