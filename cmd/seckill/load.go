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
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/ledger"
	"seckill/loadtest"
	"seckill/strategies"
)

// LoadCmd storms a sale and judges it; its exit status is the verdict.
type LoadCmd struct {
	Target      []string      `help:"Addresses of service processes, by comma. Without any: the lab that is running, else one for this run." placeholder:"URL,…"`
	Strategy    string        `help:"How the stock is deducted." default:"conditional"`
	Stock       int64         `help:"Units for sale: the SKU is reset to them." default:"100"`
	Buyers      int           `help:"Distinct users, one purchase each." default:"2000"`
	Concurrency int           `help:"Buyers at a time." default:"64"`
	Quantity    int64         `help:"Units that each buyer asks for." default:"1"`
	SKU         int64         `name:"sku" help:"What is sold." default:"1"`
	Timeout     time.Duration `help:"A buyer gives up after this long." default:"10s"`
	Seed        *uint64       `help:"Repeats a run's buyers in their order. Without it: another seed each time."`
	Token       string        `help:"The targets' admin token, if they have one." env:"SECKILL_TOKEN"`
	JSON        bool          `name:"json" help:"Write the result as JSON."`

	// With --target: what the verdict is read from. Else what the lab that is
	// started for the run does not start itself.
	BackendFlags
}

func (c *LoadCmd) Help() string {
	return fmt.Sprintf("Exit status: %d held, %d oversold, %d lost or undersold, %d the run itself was not valid, %d wrong command line.",
		loadtest.ExitHeld, loadtest.ExitOversold, loadtest.ExitLost, loadtest.ExitNotValid, statusUsage)
}

// Validate finds what is wrong with the flags alone.
func (c *LoadCmd) Validate() error { return c.run().Check() }

func (c *LoadCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	config := c.run()
	where, err := c.where(ctx, stderr)
	if err != nil {
		return err
	}
	defer where.leave()
	config.Targets = where.targets
	if config.Ledger, err = where.openLedger(ctx); err != nil {
		return err
	}
	watch, done := progress(stderr, config)
	config.OnProgress = watch
	result, err := loadtest.Run(ctx, config)
	done()
	if errors.Is(err, loadtest.ErrConfig) {
		return usage(stderr, err)
	}
	if err != nil {
		return err
	}
	if err := c.write(stdout, result); err != nil {
		return fmt.Errorf("the result could not be written: %w (the verdict was: %s)", err, result.Verdict)
	}
	if status := result.ExitStatus(); status != 0 {
		return exitStatus(status)
	}
	return nil
}

func (c *LoadCmd) run() loadtest.Config {
	seed := rand.Uint64()
	if c.Seed != nil {
		seed = *c.Seed
	}
	return loadtest.Config{
		Scenario: loadtest.Scenario{
			Strategy: c.Strategy, SKU: c.SKU, Stock: c.Stock, Buyers: c.Buyers, Concurrency: c.Concurrency,
			Quantity: c.Quantity, Timeout: c.Timeout, Seed: seed,
		},
		Targets: c.Target, AdminToken: c.Token,
	}
}

// A place is where a run takes place, and how to leave it.
type place struct {
	targets []string
	sql     backend.Config // what the ledger is read from, if anything
	closers []func()       // the last is called first
}

func (p *place) leave() {
	for _, f := range slices.Backward(p.closers) {
		f()
	}
}

// where finds the targets: those that were given, a lab that is running, or
// one that is started for this run alone.
func (c *LoadCmd) where(ctx context.Context, stderr io.Writer) (*place, error) {
	if len(c.Target) > 0 {
		return &place{targets: c.Target, sql: c.BackendFlags.config()}, nil
	}
	running, err := lab.Running()
	if err != nil {
		return nil, err
	}
	if running != nil {
		return &place{targets: running.Services, sql: running.Config}, nil
	}
	if !slices.Contains(names(), c.Strategy) {
		return nil, usage(stderr, fmt.Errorf("there is no strategy %q; there are: %s", c.Strategy, strings.Join(names(), ", ")))
	}
	fmt.Fprintln(stderr, "No lab is running: starting one for this run. (seckill up keeps one.)")
	own, err := lab.Start(ctx, lab.Options{Given: c.BackendFlags.config()})
	if err != nil {
		return nil, fmt.Errorf("start a lab for this run: %w", err)
	}
	p := &place{closers: []func(){func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		if err := own.Stop(ctx); err != nil {
			fmt.Fprintf(stderr, "seckill: stop the lab: %v\n", err)
		}
	}}}
	if err := own.StartServices(ctx, 2); err != nil {
		p.leave()
		return nil, fmt.Errorf("start the lab's services: %w", err)
	}
	for _, s := range own.Services() {
		p.targets = append(p.targets, s.URL)
	}
	p.sql = own.Config()
	return p, nil
}

func names() (all []string) {
	for _, s := range strategies.All() {
		all = append(all, s.Name)
	}
	return all
}

// openLedger connects to the database that the verdict is taken from. Nil:
// none is known, so the service will be asked.
func (p *place) openLedger(ctx context.Context) (loadtest.Ledger, error) {
	sql := backend.Config{MySQLDSN: p.sql.MySQLDSN, SQLitePath: p.sql.SQLitePath, MaxSQLConns: 2}
	if sql.MySQLDSN == "" && sql.SQLitePath == "" {
		return nil, nil
	}
	if sql.SQLitePath != "" {
		if _, err := os.Stat(sql.SQLitePath); err != nil { // opening it would create it
			return nil, fmt.Errorf("the ledger: %w", err)
		}
	}
	in, err := backend.Open(ctx, sql)
	if err != nil {
		return nil, fmt.Errorf("the ledger: %w", err)
	}
	p.closers = append(p.closers, func() { _ = in.Close() })
	return ledger.NewStore(in.DB), nil
}

func (c *LoadCmd) write(w io.Writer, r *loadtest.Result) error {
	if !c.JSON {
		_, terminal := columns(w)
		return r.WriteText(w, terminal && os.Getenv("NO_COLOR") == "")
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// progress shows a bar on a terminal; a file gets one line at the start.
func progress(stderr stderrWriter, c loadtest.Config) (watch func(loadtest.Progress), done func()) {
	if _, terminal := columns(stderr.Writer); !terminal {
		fmt.Fprintf(stderr, "%s: %d buyers for %d units at %s\n", c.Strategy, c.Buyers, c.Stock, strings.Join(c.Targets, ", "))
		return nil, func() {}
	}
	bar := loadtest.Bar{W: stderr, Width: func() int {
		n, _ := columns(stderr.Writer)
		return n
	}}
	return bar.Show, bar.Clear
}

// columns is the width of w, if it is a terminal that can move its cursor.
func columns(w io.Writer) (n int, ok bool) {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return 0, false
	}
	return loadtest.Columns(f)
}

// usage says what is wrong with the command line.
func usage(stderr io.Writer, err error) error {
	fmt.Fprintf(stderr, "seckill: %v\nTry: seckill load --help\n", err)
	return exitStatus(statusUsage)
}
