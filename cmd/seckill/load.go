package main

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"seckill/internal/auth"
	"seckill/internal/backend"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/ledger"
	"seckill/loadtest"
	"seckill/loadtest/report"
	"seckill/web"
)

// LoadCmd sends a load to a sale and judges it; its exit status is the verdict.
// Flags that shape the load are pointers: what is not given comes from the
// scenario file, or else from loadtest.DefaultScenario.
type LoadCmd struct {
	Target   []string `help:"Addresses of service processes, by comma. Without any: the lab that is running, else one for this run." placeholder:"URL,…"`
	Scenario string   `help:"A YAML file that says what load; flags that are given besides go before it." type:"existingfile" placeholder:"FILE"`

	Strategy      *string            `help:"How the stock is deducted (conditional)." group:"sale" placeholder:"NAME"`
	Stock         *int64             `help:"Units for sale: each SKU is reset to them (100)." group:"sale" placeholder:"N"`
	SKU           *int64             `name:"sku" help:"What is sold (1)." group:"sale" placeholder:"ID"`
	SKUs          *int               `name:"skus" help:"How many SKUs are sold, from --sku on (1)." group:"sale" placeholder:"N"`
	Zipf          *float64           `help:"The k-th SKU is wanted in proportion to 1/k^S: 0 all alike, 1 one hot key (0)." group:"sale" placeholder:"S"`
	Buyers        *int               `help:"Distinct users, one purchase each (2000)." group:"sale" placeholder:"N"`
	Quantity      *int64             `help:"Units that each buyer asks for (1)." group:"sale" placeholder:"N"`
	Quantities    *string            `help:"Units that buyers ask for, with shares: 1:9,3:1." group:"sale" placeholder:"N:SHARE,…"`
	Duplicates    *float64           `help:"Share of requests in which a buyer who has just asked asks again (0)." group:"sale" placeholder:"SHARE"`
	Cancellations *float64           `help:"Share of sales that are cancelled at once (0)." group:"sale" placeholder:"SHARE"`
	Copies        *loadtest.Fraction `help:"Share of requests, 0.01 or 1%, that are sent three times at once under one key, to different processes (1%)." group:"sale" placeholder:"SHARE"`
	Retry         *int               `help:"How often a call is made again with the same key: after a time-out, a lost connection, a 5xx, or 409 in_progress (1)." group:"sale" placeholder:"N"`
	Profile       *string            `help:"closed (--concurrency workers), spike (all --buyers at once), constant (--rate for --duration), ramp (--rate to --to-rate in --duration) or steps." group:"time" placeholder:"NAME"`
	Concurrency   *int               `help:"Buyers at a time, of the profile closed (64)." group:"time" placeholder:"N"`
	Rate          *float64           `help:"Requests a second." group:"time" placeholder:"R"`
	ToRate        *float64           `help:"Where a ramp ends." group:"time" placeholder:"R"`
	Duration      *time.Duration     `help:"How long requests become due." group:"time" placeholder:"D"`
	Steps         *string            `help:"Rates one after the other: 100x10s,200x10s." group:"time" placeholder:"RxD,…"`
	Connections   *int               `help:"The most that an open loop opens (1000)." group:"time" placeholder:"N"`
	Timeout       *time.Duration     `help:"A buyer gives up after this long (10s)." group:"time" placeholder:"D"`
	Drain         *time.Duration     `help:"How long late requests are still sent after the last was due (1m)." group:"time" placeholder:"D"`
	Seed          *uint64            `help:"Repeats a run's buyers in their order. Without it: another seed each time." group:"time" placeholder:"N"`

	Repeats   int      `default:"1" help:"Run the sale so often, each time reset and with other buyers, and say how often it held, with an interval." placeholder:"N"`
	Require   []string `help:"What the run must meet besides: p99<50ms, rate>=1000, errors==0, unknown<0.1%; may be given several times." placeholder:"METRIC<VALUE"`
	NoHistory bool     `help:"Keep no record of single requests: the verdict is from sums and the ledger alone."`
	CA        string   `name:"ca" type:"existingfile" help:"Certificates (PEM) that https targets must come from, in place of those that the system trusts." placeholder:"FILE"`
	TokenFlags
	AuthSecret   string `env:"SECKILL_AUTH_SECRET" placeholder:"FILE" help:"The targets' --auth-secret: each buyer sends a token that is signed with it."`
	AuthAudience string `default:"seckill" env:"SECKILL_AUTH_AUDIENCE" help:"The aud of these tokens."`
	JSON         bool   `name:"json" help:"Write the result as JSON."`

	TopologyFlag

	// With --target: what the verdict is read from. Else what the lab that is
	// started for the run does not start itself.
	BackendFlags

	wanted      loadtest.Scenario
	authorities *x509.CertPool
}

func (c *LoadCmd) Help() string {
	return fmt.Sprintf("Exit status: %d held, %d oversold, %d lost or undersold or answers that cannot all be true, "+
		"%d held but a requirement was not met, %d nothing was oversold or lost and the sale stood still while buyers asked, "+
		"%d the run itself was not valid, %d wrong command line or scenario. With --repeats: that of the worst run.",
		loadtest.ExitHeld, loadtest.ExitOversold, loadtest.ExitLost, loadtest.ExitUnmet, loadtest.ExitBlocked, loadtest.ExitNotValid, statusUsage)
}

// Validate reads the scenario and checks it and the flags.
func (c *LoadCmd) Validate() (err error) {
	if c.wanted, err = c.scenario(); err != nil {
		return err
	}
	if c.wanted.Service != nil && len(c.Target) == 0 {
		return errors.New("the scenario describes a service that is not ours: say with --target where it is")
	}
	if c.wanted.Service != nil && c.MySQLDSN == "" && c.SQLitePath == "" {
		return errors.New("the verdict is read from the service's own database: say with --mysql-dsn or --sqlite-path where it is")
	}
	if c.Repeats < 1 || c.Repeats > mostRepeats {
		return fmt.Errorf("--repeats must be 1 to %d", mostRepeats)
	}
	if c.authorities, err = readAuthorities(c.CA); err != nil {
		return err
	}
	if err := c.TokenFlags.check(); err != nil {
		return err
	}
	return loadtest.Config{Scenario: c.wanted, Targets: c.Target}.Check()
}

// signer signs buyers' tokens; nil without --auth-secret.
func (c *LoadCmd) signer() (func(user int64) (string, error), error) {
	if c.AuthSecret == "" {
		return nil, nil
	}
	secret, err := readAuthSecret(c.AuthSecret)
	if err != nil {
		return nil, err
	}
	if _, err := auth.WithSecret(secret, c.AuthAudience); err != nil {
		return nil, fmt.Errorf("--auth-secret %s: %w", c.AuthSecret, err)
	}
	const lifetime = 5 * time.Minute // of a token, which is made for each call
	return func(user int64) (string, error) { return auth.Sign(secret, c.AuthAudience, user, lifetime) }, nil
}

// readAuthorities reads a file of --ca; none is nil.
func readAuthorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("--ca: there is no certificate in %s: give a file in PEM, as -----BEGIN CERTIFICATE-----", file)
	}
	return pool, nil
}

func (c *LoadCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	config := loadtest.Config{Scenario: c.wanted, Authorities: c.authorities}
	var err error
	if config.Counterexamples, err = counterexamples(); err != nil {
		return err
	}
	where, err := c.where(ctx, stderr)
	if err != nil {
		return err
	}
	defer where.leave()
	if config.Sign, err = c.signer(); err != nil {
		return err
	}
	config.Targets, config.AdminToken = where.targets, where.token
	if err := where.openLedger(ctx, &config); err != nil {
		return err
	}
	if c.Repeats > 1 {
		return c.repeat(ctx, config, stdout, stderr)
	}
	watch, done := progress(stderr, config)
	config.OnProgress = watch
	result, err := loadtest.Run(ctx, config)
	done()
	if errors.Is(err, loadtest.ErrConfig) {
		return usage(stderr, "load", err)
	}
	if err != nil {
		return err
	}
	if err := c.write(stdout, result); err != nil {
		return c.rescue(stderr, result, err)
	}
	if status := result.ExitStatus(); status != 0 {
		return exitStatus(status)
	}
	return nil
}

// counterexamples are those of the matrix that the program was built with.
func counterexamples() (fault.Counterexamples, error) {
	f, err := web.Guarantees().Open("matrix.json")
	if err != nil {
		return nil, fmt.Errorf("the guarantee matrix cannot be read: %w", err)
	}
	defer f.Close()
	return fault.ReadCounterexamples(f)
}

// rescue writes a result elsewhere when standard output fails, such as with a full
// disk.
func (c *LoadCmd) rescue(stderr io.Writer, r *loadtest.Result, because error) error {
	because = fmt.Errorf("the result could not be written to standard output: %w (the verdict was: %s)", because, r.Verdict)
	f, err := os.CreateTemp("", "seckill-load-*.json")
	if err == nil {
		if err = errors.Join(encode(f, r), f.Close()); err == nil {
			return fmt.Errorf("%w; it is in %s", because, f.Name())
		}
		_ = os.Remove(f.Name())
	}
	if err := report.Write(stderr, r, false); err != nil {
		return errors.Join(because, err)
	}
	return fmt.Errorf("%w; it is above, because it could not be written to a file of its own either: %w", because, err)
}

// A place is where a run takes place.
type place struct {
	targets []string
	token   string         // of the targets' admin calls; "": none is known
	sql     backend.Config // what the ledger is read from, if anything
	closers []func()       // the last is called first
	// serversTime is the processor time of the servers; nil: not known.
	serversTime func() (time.Duration, bool)
}

func (p *place) leave() {
	for _, f := range slices.Backward(p.closers) {
		f()
	}
}

// where finds the targets: those given, a lab that is running, or one started for
// this run.
func (c *LoadCmd) where(ctx context.Context, stderr io.Writer) (*place, error) {
	elsewhere := ""
	if len(c.Target) > 0 {
		elsewhere = "--target names services that run already: leave out one of them"
	}
	if err := c.TopologyFlag.check(elsewhere, c.BackendFlags); err != nil {
		return nil, usage(stderr, "load", err)
	}
	if len(c.Target) > 0 {
		token, err := c.TokenFlags.read()
		return &place{targets: c.Target, token: token, sql: c.BackendFlags.config()}, err
	}
	running, err := lab.Running(host())
	if err != nil {
		return nil, err
	}
	if running != nil {
		if err := c.TopologyFlag.check("the lab that is running is used: stop it first", c.BackendFlags); err != nil {
			return nil, usage(stderr, "load", err)
		}
		return &place{targets: running.Services, token: running.Token, sql: running.Config}, nil
	}
	if _, err := strategyNamed("--strategy", c.wanted.Strategy); err != nil {
		return nil, usage(stderr, "load", err)
	}
	return startPlace(ctx, stderr, lab.Options{Host: host(), Given: c.BackendFlags.config(), Topology: c.Topology})
}

// startPlace starts a lab that ends when the place is left.
func startPlace(ctx context.Context, stderr io.Writer, o lab.Options) (*place, error) {
	fmt.Fprintln(stderr, "No lab is running: starting one for this run. (seckill up keeps one.)")
	own, err := lab.Start(ctx, o)
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
	p.token, p.sql, p.serversTime = own.Token(), own.Config(), own.ServersTime
	return p, nil
}

// openLedger connects to the database that the verdict is taken from. If none is
// known, the service will be asked.
func (p *place) openLedger(ctx context.Context, c *loadtest.Config) error {
	sql := backend.Config{MySQLDSN: p.sql.MySQLDSN, SQLitePath: p.sql.SQLitePath, MaxSQLConns: 2}
	if sql.MySQLDSN == "" && sql.SQLitePath == "" {
		return nil
	}
	if sql.SQLitePath != "" {
		if _, err := os.Stat(sql.SQLitePath); err != nil { // opening it would create it
			return fmt.Errorf("the ledger: %w", err)
		}
	}
	in, err := backend.Open(ctx, sql)
	if err != nil {
		return fmt.Errorf("the ledger: %w", err)
	}
	p.closers = append(p.closers, func() { _ = in.Close() })
	c.Ledger = ledger.NewStore(in.DB)
	c.Totals = totals(in)
	return nil
}

// totals sends a scenario's audit query to the ledger's database.
func totals(in *backend.Instance) func(ctx context.Context, query string) (ledger.Totals, error) {
	return func(ctx context.Context, query string) (t ledger.Totals, err error) {
		row := in.DB.WithContext(ctx).Raw(query).Row()
		if err = row.Scan(&t.Initial, &t.Remaining, &t.Sold); err != nil {
			err = fmt.Errorf("the query must answer initial, remaining and sold: %w", err)
		}
		return t, err
	}
}

func (c *LoadCmd) write(w io.Writer, r *loadtest.Result) error {
	if !c.JSON {
		_, terminal := columns(w)
		return report.Write(w, r, terminal && os.Getenv("NO_COLOR") == "")
	}
	return encode(w, r)
}

func encode(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// progress shows the progress of the run.
func progress(stderr stderrWriter, c loadtest.Config) (watch func(loadtest.Progress), done func()) {
	stock := c.Stock * int64(max(1, c.SKUs))
	if _, terminal := columns(stderr.Writer); !terminal {
		fmt.Fprintf(stderr, "%s: %d buyers for %d units at %s, seed %d\n", cmp.Or(c.Strategy, "a foreign service"), c.Requests(), c.Stock, strings.Join(c.Targets, ", "), c.Seed)
		return (&report.Lines{W: stderr, Stock: stock}).Show, func() {}
	}
	live := &report.Live{W: stderr, Color: os.Getenv("NO_COLOR") == "", Stock: stock, Width: func() int {
		n, _ := columns(stderr.Writer)
		return n
	}}
	return live.Show, live.Clear
}

// columns is the width of w, if it is a terminal that can move its cursor.
func columns(w io.Writer) (n int, ok bool) {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return 0, false
	}
	return report.Columns(f)
}

// usage says what is wrong with the command line of a command.
func usage(stderr io.Writer, command string, err error) error {
	fmt.Fprintf(stderr, "seckill: %v\nTry: seckill %s --help\n", err, command)
	return exitStatus(statusUsage)
}
