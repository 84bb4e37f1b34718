package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/bench/hot"
	"seckill/internal/catalog"
	"seckill/internal/lab"
	"seckill/internal/measure"
	"seckill/loadtest"
	"seckill/loadtest/compare"
	"seckill/strategies"
)

// BenchHotCmd measures what one hot row sells.
type BenchHotCmd struct {
	Strategies []string      `placeholder:"NAME" help:"Strategies by comma. Default: conditional, redis-counter and the family hotsku, without the broken ones and careless twins."`
	Buyers     []int         `default:"1,16,64,256,512,1024" help:"Numbers of buyers at a time, by comma."`
	Rounds     int           `default:"3" help:"How often everything is measured, in alternating order."`
	Within     time.Duration `default:"6m" help:"About how long it may take: each measurement gets its share."`
	Binlog     []string      `default:"off,on" help:"The private database's binary log: off, on (synced at every commit), or both in turn. Means nothing with --mysql-dsn."`
	Processes  int           `default:"1" help:"Service processes."`
	Profile    bool          `help:"Afterwards say where the time goes: sell once more with each strategy, with samples of the service and times of the database's statements."`

	HTML     string `name:"html" default:"seckill-hot.html" help:"The report with its charts, one self-contained page; --html= writes none." placeholder:"FILE"`
	JSON     string `name:"json" placeholder:"FILE" help:"Write the figures as JSON; - is standard output, in place of the tables."`
	Markdown string `placeholder:"FILE" help:"Write the tables as Markdown; - is standard output."`
	Quiet    bool   `short:"q" help:"No progress."`

	Given backend.Config `embed:""`

	chosen []catalog.Info
}

// Help is what seckill bench hot --help says below its flags.
func (BenchHotCmd) Help() string {
	return `Measures durable orders per second over HTTP, on real servers and seckill serve processes, with connections that are kept.
In the same rounds it measures baselines: the strategy conditional as it once was (four trips to the tables of then), a
bare UPDATE of one row, the bare transaction, a gin handler that does nothing, one with a Redis script, one with DECR and an
INSERT, and INSERTs of many rows. Every sale is audited from the ledger.

Servers that are not given are started for this run and stopped after it. A given database keeps its binary log as it is.

Exit status: 0 when everything was measured and held, 1 when not, 2 for a wrong command line.`
}

// usual are measured besides the family hotsku.
var usual = []string{"conditional", "redis-counter"}

// Validate finds what is wrong with the flags alone.
func (c *BenchHotCmd) Validate() (err error) {
	if c.chosen, err = c.strategies(); err != nil {
		return err
	}
	if err := compare.CheckCrowds(c.Buyers); err != nil {
		return fmt.Errorf("--buyers: %w", err)
	}
	switch {
	case len(c.Buyers) == 0:
		return errors.New("--buyers names no number: give some by comma, such as 1,64,512")
	case c.Processes < 1 || c.Processes > lab.MostServices:
		return fmt.Errorf("--processes must be 1 to %d", lab.MostServices)
	case c.Given.SQLitePath != "":
		return errors.New("--sqlite-path: it locks its whole file, not a row; give --mysql-dsn, or nothing")
	case len(c.Given.RedisAddresses()) > 1:
		return errors.New("--redis-addrs, --redis-sentinels: the baselines need one Redis; give one address, or nothing")
	}
	slices.Sort(c.Buyers)
	if err := c.checkBinlog(); err != nil {
		return err
	}
	if err := checkTurns(c.turns(), c.Rounds, c.Within, "--strategies, --buyers"); err != nil {
		return err
	}
	return c.of(&hot.Report{}).check()
}

func (c *BenchHotCmd) checkBinlog() error {
	for i, how := range c.Binlog {
		if how != lab.BinlogOff && how != lab.BinlogOn || slices.Index(c.Binlog, how) < i {
			return errors.New("--binlog must be off, on, or off,on")
		}
	}
	if len(c.Binlog) == 0 {
		return errors.New("--binlog must be off, on, or off,on")
	}
	if c.Given.MySQLDSN != "" {
		c.Binlog = []string{hot.Given}
	}
	return nil
}

func (c *BenchHotCmd) turns() int {
	return len(c.Binlog) * hot.Turns(strategyNames(c.chosen), len(c.Buyers), c.Rounds)
}

func (c *BenchHotCmd) strategies() (chosen []catalog.Info, err error) {
	if len(c.Strategies) > 0 {
		chosen, err = chosenStrategies(c.Strategies)
	} else {
		for _, info := range strategies.All() {
			if !info.Broken() && !isTwin(info) && (info.Family == "hotsku" || slices.Contains(usual, info.Name)) {
				chosen = append(chosen, info)
			}
		}
	}
	for _, info := range chosen {
		if info.Broken() {
			return nil, fmt.Errorf("--strategies: %s is broken on purpose: its sales are not held, and have no rate", info.Name)
		}
	}
	return chosen, err
}

// isTwin: merged-early is the careless form of merged.
func isTwin(info catalog.Info) bool {
	return slices.ContainsFunc(strategies.All(), func(other catalog.Info) bool {
		return other.Family == info.Family && strings.HasPrefix(info.Name, other.Name+"-")
	})
}

func (c *BenchHotCmd) of(r *hot.Report) result {
	tables := r.Tables()
	return result{"bench", []form{
		{"--json", c.JSON, r.WriteJSON}, {"--html", c.HTML, r.WriteHTML},
		{"--markdown", c.Markdown, func(w io.Writer) error { return measure.WriteMarkdown(w, tables) }},
	}, func(w io.Writer) error { return measure.WriteText(w, tables) }, r.WriteJSON}
}

func (c *BenchHotCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	if err := c.of(&hot.Report{}).prepare(); err != nil {
		return err
	}
	if !c.Quiet {
		announceTurns(stderr, c.turns(), c.Rounds, c.Within)
	}
	report := &hot.Report{Command: commandLine(), Began: time.Now(), Machine: measure.ThisMachine()}
	var err error
	for _, binlog := range c.Binlog {
		var r *hot.Result
		r, err = c.measure(ctx, stderr, binlog)
		if r != nil {
			r.Compare()
			report.Results = append(report.Results, r)
		}
		if err == nil && c.Profile {
			r.Profiles, err = c.profile(ctx, stderr, binlog)
		}
		if err != nil {
			break
		}
	}
	printed, written := c.of(report).write(stdout)
	if printed && written == nil && c.HTML != "" {
		fmt.Fprintf(stdout, "\nReport: %s\n", c.HTML)
	}
	return measured(written, err, report.Failed())
}

// measure runs everything on servers of its own. The result is nil if they did
// not start.
func (c *BenchHotCmd) measure(ctx context.Context, stderr stderrWriter, binlog string) (*hot.Result, error) {
	p, err := c.start(ctx, stderr, lab.Options{Binlog: binlog})
	if err != nil {
		return nil, err
	}
	defer p.leave()
	o, clear, err := c.options(ctx, p, stderr, binlog)
	if err != nil {
		return nil, err
	}
	config := p.sql
	config.MaxSQLConns = min(slices.Max(c.Buyers)+1, mostBaselineConns)
	if o.In, err = backend.Open(ctx, config.Only(backend.SQL, backend.RowLocks, backend.Redis)); err != nil {
		return nil, err
	}
	p.closers = append(p.closers, func() { _ = o.In.Close() })
	bare, err := startGin(ctx, p.sql)
	if err != nil {
		return nil, fmt.Errorf("start the baselines over HTTP: %w", err)
	}
	p.closers = append(p.closers, bare.stop)
	o.Bare = bare.url
	r, err := hot.Run(ctx, o)
	clear()
	r.Binlog, r.Processes, r.Durability = binlog, c.Processes, measure.Durability(context.WithoutCancel(ctx), o.In)
	return r, err
}

// options are those of sales at a place; clear ends their progress.
func (c *BenchHotCmd) options(ctx context.Context, p *place, stderr stderrWriter, binlog string) (o hot.Options, clear func(), err error) {
	o = hot.Options{Strategies: strategyNames(c.chosen), Buyers: c.Buyers, Rounds: c.Rounds, Within: c.Within / time.Duration(len(c.Binlog))}
	o.Sale = loadtest.Config{Scenario: loadtest.DefaultScenario(), Targets: p.targets, AdminToken: p.token, ServersTime: p.serversTime}
	o.Sale.Copies, o.Sale.Retry, o.Sale.Seed = 0, 0, rand.Uint64() // rates of one call each can be compared
	o.Sale.Connected = true
	onStep, clear := steps(stderr, c.Quiet)
	o.Progress = func(done, total int, what string) { onStep(done, total, what+", binlog "+binlog) }
	return o, clear, p.openLedger(ctx, &o.Sale)
}

// profile has servers of its own: a database that times its statements is slower.
// They are sent as text, because MariaDB does not time those that are prepared.
func (c *BenchHotCmd) profile(ctx context.Context, stderr stderrWriter, binlog string) ([]*hot.Profile, error) {
	p, err := c.start(ctx, stderr, lab.Options{Binlog: binlog, Statements: true, ServiceArgs: []string{"--mysql-text"}})
	if err != nil {
		return nil, err
	}
	defer p.leave()
	o, clear, err := c.options(ctx, p, stderr, binlog)
	defer clear()
	if err != nil {
		return nil, err
	}
	dsn := p.adminDSN
	if dsn == "" {
		dsn = p.sql.MySQLDSN
	}
	admin, err := sql.Open("mysql", dsn)
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	return hot.ProfileAll(ctx, o, &hot.Statements{Admin: admin})
}

// mostBaselineConns: with more connections than this a bare UPDATE is slower.
const mostBaselineConns = 256

func strategyNames(all []catalog.Info) (names []string) {
	for _, info := range all {
		names = append(names, info.Name)
	}
	return names
}

// start starts the servers that are needed and not given, and the services.
func (c *BenchHotCmd) start(ctx context.Context, stderr stderrWriter, o lab.Options) (*place, error) {
	needs := []backend.Capability{backend.SQL, backend.RowLocks, backend.Redis}
	for _, info := range c.chosen {
		needs = append(needs, info.Needs...)
	}
	o.Host, o.Backends, o.Given = host(), backend.NamesOf(needs...), c.Given
	if o.Binlog == hot.Given {
		o.Binlog = ""
	}
	return startOwn(ctx, stderr, o, c.Processes)
}
