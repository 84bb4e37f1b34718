package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/bench"
	"seckill/internal/catalog"
	"seckill/internal/lab"
	"seckill/internal/measure"
	"seckill/strategies"
)

// BenchCmd measures parts by themselves.
type BenchCmd struct {
	Locks    BenchLocksCmd    `cmd:"" help:"Measure locks, ours beside those of other libraries."`
	Articles BenchArticlesCmd `cmd:"" help:"Measure what the articles say, beside their own figures."`
}

// BenchFlags are those of every benchmark.
type BenchFlags struct {
	Output
	Given backend.Config `embed:""`
}

func (f BenchFlags) check(name string, o bench.Options) error {
	switch {
	case o.Rounds < 1 || o.Rounds > 100:
		return errors.New("--rounds must be 1 to 100")
	case o.For < 10*time.Millisecond || o.For > time.Hour:
		return errors.New("--for must be from 10ms to 1h, such as 1s")
	case f.Given.SQLitePath != "":
		return errors.New("--sqlite-path: no lock lives in SQLite; give --mysql-dsn, or nothing")
	}
	return f.Output.check(name)
}

// A measured is a *bench.Report or a *bench.Articles.
type measured interface {
	Ran(command string, servers []backend.Status)
	Report() measure.Report
}

// run starts the servers that the locks need and that were not given, of which every
// commit is flushed, measures there, and writes the report.
func (f BenchFlags) run(ctx context.Context, stdout io.Writer, stderr stderrWriter, o bench.Options, locks []bench.Candidate,
	measure func(bench.Options) (measured, error)) error {
	if err := f.Output.prepare(); err != nil {
		return err
	}
	var needs []backend.Capability
	for _, c := range locks {
		needs = append(needs, c.Needs...)
	}
	l, err := lab.Start(ctx, lab.Options{Host: host(), Backends: backend.NamesOf(needs...), Given: f.Given})
	if err != nil {
		return err
	}
	defer stopLab(l)
	for _, s := range l.Backends() {
		if !s.OK || s.Tier == backend.Embedded {
			return fmt.Errorf("a benchmark needs a real %s: install one (seckill doctor says how), or give its address %s", s.Name, s.Error)
		}
	}
	onStep, clear := steps(stderr, f.Quiet)
	o.Progress, o.Backends = onStep, l.Config()
	report, err := measure(o)
	clear()
	report.Ran(commandLine(), l.Backends())
	if err != nil {
		err = fmt.Errorf("not everything could be measured: %w", err)
	}
	return errors.Join(err, f.Output.write(stdout, report.Report()))
}

// BenchLocksCmd runs our locks and foreign ones side by side.
type BenchLocksCmd struct {
	Locks     []string      `placeholder:"NAME" help:"Our locks to measure, by comma. Default: all but the broken ones."`
	Foreign   []string      `placeholder:"NAME" xor:"foreign" help:"Locks of other libraries to measure beside them, by comma. Default: all."`
	NoForeign bool          `xor:"foreign" help:"Leave out the locks of other libraries."`
	Options   bench.Options `embed:""`
	Poll      time.Duration `default:"${LockPoll}" help:"About how long a polling lock pauses between two attempts."`
	Lease     time.Duration `default:"${LockLease}" help:"How long a lock lives unrenewed."`
	BenchFlags
}

// statusOverlap is the exit status when a lock let two holders in at a time.
const statusOverlap = 10

// Help is what seckill bench locks --help says below its flags.
func (BenchLocksCmd) Help() string {
	return fmt.Sprintf(`Servers that are not given are started for this run and stopped after it. Given servers must not be used by others meanwhile.

Locks of other libraries: %s. With few locks it is quick, as in
--locks etcd --foreign etcd-mutex --contenders 8.

Every holder increments a counter that only the lock protects. If the counter is not exact, the lock is not valid.

Exit status: 0 when everything was measured, 1 when it could not be finished, 2 for a wrong command line,
%d when a lock let two holders in at a time.`, strings.Join(foreignKeys(), ", "), statusOverlap)
}

// Validate finds what is wrong with the flags alone.
func (c *BenchLocksCmd) Validate() error {
	for _, n := range c.Options.Contenders {
		if n < 2 || n > 512 {
			return fmt.Errorf("--contenders must be numbers from 2 to 512, such as 8,64, not %d", n)
		}
	}
	if slices.Sort(c.Options.Contenders); len(slices.Compact(slices.Clone(c.Options.Contenders))) < len(c.Options.Contenders) {
		return errors.New("--contenders names a number twice")
	}
	switch {
	case c.Options.Hold < 0 || c.Options.Hold > time.Second:
		return errors.New("--hold must be from 0 to 1s, such as 5ms")
	case c.Poll <= 0:
		return errors.New("--poll must be longer than 0, such as 10ms")
	case c.Lease < time.Second:
		return errors.New("--lease must be 1s or longer: etcd grants nothing less than two")
	}
	measured, err := c.candidates(catalog.DefaultSettings())
	if err != nil {
		return err
	}
	if _, err := pick("--crowd", c.Options.Crowd, measured, keyOf); c.Options.Crowd != nil && err != nil {
		return err
	}
	return c.check(bench.LocksName, c.Options)
}

func keyOf(c bench.Candidate) string { return c.Key }

// locks are the strategies that are one.
func locks() []catalog.Info {
	return slices.DeleteFunc(slices.Clone(strategies.All()), func(i catalog.Info) bool { return i.Locker == nil })
}

// candidates are our locks that are measured, then those of others.
func (c *BenchLocksCmd) candidates(settings catalog.Settings) (all []bench.Candidate, err error) {
	ours := slices.DeleteFunc(locks(), catalog.Info.Broken)
	if len(c.Locks) > 0 {
		if ours, err = pick("--locks", c.Locks, locks(), nameOf); err != nil {
			return nil, err
		}
	}
	for _, info := range ours {
		all = append(all, bench.Ours(info, settings))
	}
	foreign := bench.Foreign(settings)
	switch {
	case c.NoForeign:
		return all, nil
	case len(c.Foreign) > 0:
		foreign, err = pick("--foreign", c.Foreign, foreign, keyOf)
	}
	return append(all, foreign...), err
}

func foreignKeys() (keys []string) {
	for _, f := range bench.Foreign(catalog.DefaultSettings()) {
		keys = append(keys, f.Key)
	}
	return keys
}

func (c *BenchLocksCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	settings := catalog.DefaultSettings()
	settings.LockPoll, settings.LockLease = c.Poll, c.Lease
	candidates, err := c.candidates(settings)
	if err != nil {
		return err
	}
	options := c.Options
	options.Candidates = candidates
	var report *bench.Report
	err = c.run(ctx, stdout, stderr, options, candidates, func(o bench.Options) (_ measured, err error) {
		report, err = bench.Run(ctx, o)
		return report, err
	})
	switch {
	case err != nil:
		return err
	case len(report.Overlaps()) > 0:
		return exitStatus(statusOverlap)
	case len(report.Failed()) > 0:
		return fmt.Errorf("not everything could be measured: %s", strings.Join(report.Failed(), ", "))
	}
	return nil
}

func commandLine() string {
	line := "seckill"
	for _, arg := range os.Args[1:] {
		line += " " + backend.Redact(arg)
	}
	return line
}
