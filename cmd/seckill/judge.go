package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/loadtest"
	"seckill/loadtest/adapter"
	"seckill/loadtest/told"
	"seckill/strategies"
)

// JudgeCmd judges what any load generator recorded against the ledger.
type JudgeCmd struct {
	Told     string        `required:"" placeholder:"FILE" help:"What buyers were told, as JSON lines; - is standard input. See loadtest/examples."`
	Patience time.Duration `default:"15s" help:"The longest wait plus lease: a sale that stands still for longer, with units left and buyers asking, is blocked."`
	Scenario string        `placeholder:"FILE" help:"Read the books by the audit query of this scenario file, sent to --mysql-dsn: for a service that is not ours. They are totals, so single orders, and whether the sale was blocked, are not judged."`
	JSON     bool          `name:"json" help:"Write the report as JSON."`

	service *adapter.Service // of the scenario; nil: our own books

	Given backend.Config `embed:""`
}

func (c *JudgeCmd) Help() string {
	return fmt.Sprintf(`The first line of the file says what was set, {"sku_id":1,"stock":100,"run":7,"strategy":"conditional"} (run: the ledger's
current one if left out), each other line one call: {"call":"buy|cancel|pay","request_id","user_id","sku_id","quantity","outcome":
"sold|sold_out|busy|duplicate|conflict|in_progress|accepted|expired|cancelled|unknown|error","order_id","remaining","sent_at",
"answered_at"}; call is buy if it is left out, times are RFC 3339. Copies and retries of one request are lines of their own.

With --scenario the stock in the first line is what there was with nothing sold yet, and a sale may lack order_id and remaining.

Exit status: %d held, %d oversold, %d lost or undersold, %d held but blocked, %d the run itself was not valid, %d wrong command line or file.`,
		loadtest.ExitHeld, loadtest.ExitOversold, loadtest.ExitLost, loadtest.ExitBlocked, loadtest.ExitNotValid, statusUsage)
}

func (c *JudgeCmd) Validate() error {
	switch {
	case c.Given.MySQLDSN == "" && c.Given.SQLitePath == "":
		return errors.New("the ledger is missing: say with --mysql-dsn or --sqlite-path where the orders are")
	case c.Patience <= 0:
		return errors.New("--patience must be longer than 0, such as 15s")
	}
	return nil
}

func (c *JudgeCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	if err := c.readScenario(); err != nil {
		fmt.Fprintf(stderr, "seckill: --scenario: %v\nTry: seckill judge --help\n", err)
		return exitStatus(statusUsage)
	}
	sales, err := c.read()
	if err != nil {
		fmt.Fprintf(stderr, "seckill: --told %s: %v\nTry: seckill judge --help\n", c.Told, err)
		return exitStatus(statusUsage)
	}
	if c.Given.SQLitePath != "" {
		if _, err := os.Stat(c.Given.SQLitePath); err != nil { // opening it would create it
			return fmt.Errorf("the ledger: %w", err)
		}
	}
	config := c.Given
	config.MaxSQLConns = 2
	in, err := backend.Open(ctx, config)
	if err != nil {
		return fmt.Errorf("the ledger: %w", err)
	}
	defer in.Close()
	judge := c.judgeTotals(in)
	if c.service == nil {
		store := ledger.NewStore(in.DB)
		sellers, err := counting(in, store)
		if err != nil {
			return err
		}
		judge = func(ctx context.Context, sale *told.Sale) (ledger.Report, error) {
			return c.judge(ctx, store, sale, sellers)
		}
	}
	var reports []ledger.Report
	for _, sale := range sales {
		report, err := judge(ctx, sale)
		if err != nil {
			return fmt.Errorf("SKU %d: %w", sale.SKU, err)
		}
		reports = append(reports, report)
	}
	all := ledger.Sum(reports)
	all.Verdict = proven(all.Verdict, sales)
	if err := c.write(stdout, all, sales); err != nil {
		return err
	}
	if status := judgedStatus(all); status != 0 {
		return exitStatus(status)
	}
	return nil
}

func (c *JudgeCmd) read() ([]*told.Sale, error) {
	read := told.Read
	if c.service != nil {
		read = told.ReadForTotals
	}
	if c.Told == "-" {
		return read(os.Stdin)
	}
	f, err := os.Open(c.Told)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f)
}

// readScenario reads from a scenario file how its service's ledger is read.
func (c *JudgeCmd) readScenario() error {
	if c.Scenario == "" {
		return nil
	}
	file, err := loadtest.ReadScenario(c.Scenario, loadtest.DefaultScenario())
	if err != nil {
		return err
	}
	s := file.Scenario
	if s.Service == nil {
		return fmt.Errorf("%s has no service with an audit query: for the books of seckill serve leave --scenario out", c.Scenario)
	}
	s.Strategy = ""
	c.service = s.Service
	return file.Explain(s.Check())
}

// judgeTotals judges by the scenario's audit query. Nothing was sold when the stock
// of the file was set.
func (c *JudgeCmd) judgeTotals(in *backend.Instance) func(context.Context, *told.Sale) (ledger.Report, error) {
	ask := totals(in)
	return func(ctx context.Context, sale *told.Sale) (ledger.Report, error) {
		sums, err := sale.Sums()
		if err != nil {
			return ledger.Report{}, err
		}
		query, err := c.service.AuditQuery(sale.SKU)
		if err != nil {
			return ledger.Report{}, err
		}
		books, err := ask(ctx, query)
		if err != nil {
			return ledger.Report{}, fmt.Errorf("service.audit of %s: %w", c.Scenario, err)
		}
		set := ledger.Totals{Initial: sale.Stock, Remaining: sale.Stock}
		return ledger.JudgeTotals(sale.SKU, sale.Stock, set, books, sums), nil
	}
}

// counting builds the strategies that count outside the stock row, to read what is
// left there; of the others the judge needs only the names.
func counting(in *backend.Instance, store *ledger.Store) (sellers []catalog.Seller, err error) {
	for _, info := range strategies.All() {
		seller := catalog.Seller{Info: info}
		if info.Stock.Counter() != "" && len(info.Missing(in)) == 0 {
			if seller.Strategy, err = catalog.Build(info, catalog.Deps{Instance: in, Ledger: store}); err != nil {
				return nil, fmt.Errorf("the strategy %s: %w", info.Name, err)
			}
		}
		sellers = append(sellers, seller)
	}
	return sellers, nil
}

func (c *JudgeCmd) judge(ctx context.Context, store *ledger.Store, sale *told.Sale, sellers []catalog.Seller) (ledger.Report, error) {
	var trial *ledger.Trial
	err := store.Walk(ctx, sale.SKU, func(s ledger.Stock) {
		e := ledger.Evidence{Snapshot: ledger.Snapshot{Stock: s}, Initial: sale.Stock, Run: sale.Run,
			StockStoreOf: catalog.StockStoreOf(sellers), Told: sale.Told, Patience: c.Patience}
		if s.StartsAt != nil && !sale.Began.IsZero() {
			e.Started = max(1, s.StartsAt.Time().Sub(sale.Began))
		}
		trial = ledger.NewTrial(e)
	}, func(o *ledger.Order) { trial.Order(o) })
	if err == nil { // after the orders: what is refused meanwhile is not lost
		trial.Snapshot.Refusals, err = store.Refusals(ctx, sale.SKU)
	}
	if err != nil {
		return ledger.Report{}, err
	}
	return trial.Report(catalog.StockStores(ctx, sale.SKU, sellers)), nil
}

func judgedStatus(r ledger.Report) int {
	switch {
	case r.Verdict == ledger.NotValid:
		return loadtest.ExitNotValid
	case r.Verdict == ledger.Oversold:
		return loadtest.ExitOversold
	case r.Verdict == ledger.Lost:
		return loadtest.ExitLost
	case r.Served.Blocked():
		return loadtest.ExitBlocked
	}
	return loadtest.ExitHeld
}

func (c *JudgeCmd) write(w io.Writer, r ledger.Report, sales []*told.Sale) error {
	if c.JSON {
		return encode(w, r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d calls judged; %d of %d units sold", strings.ToUpper(string(r.Verdict)), calls(sales), r.Sold, r.Initial)
	if c.service != nil {
		fmt.Fprintf(&b, ", %d left (totals, by the audit query of %s)\n", r.Remaining, c.Scenario)
	} else {
		fmt.Fprintf(&b, " in %d orders, %d cancelled, %d left (run %d)\n", r.Orders, r.Cancelled, r.Remaining, r.Run)
	}
	if calls(sales) == 0 {
		b.WriteString("The file has no calls: it proves nothing.\n")
	}
	if s := r.Served; s != nil {
		switch s.State {
		case ledger.ServedBlocked:
			fmt.Fprintf(&b, "BLOCKED: no sale for %.1f s from %.1f s on, with %d units left and %d calls for them (allowed: %s)\n",
				s.LongestMs/1000, s.FromMs/1000, s.Left, s.Asked, c.Patience)
		case ledger.ServedYes:
			fmt.Fprintf(&b, "SERVED: the longest time without a sale, while buyers asked for what there was: %.1f s (allowed: %s)\n", s.LongestMs/1000, c.Patience)
		default:
			b.WriteString("SERVED: not known (sent_at and answered_at are missing, or the stock cannot be trusted)\n")
		}
	}
	if a := r.Accepted; a != nil {
		fmt.Fprintf(&b, "ACCEPTED: %d requests; %d have orders, %d were refused afterwards, %d are lost\n", a.Requests, a.Ordered, a.Refused, a.Lost)
	}
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "  %s (%s, %d): %s\n", v.Rule, v.Verdict, v.Count, v.Message)
		for _, e := range v.Examples {
			fmt.Fprintf(&b, "    %s\n", e)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// calls is how many buyers' calls there are.
func calls(sales []*told.Sale) (n int) {
	for _, s := range sales {
		n += len(s.Told)
	}
	return n
}

// proven is a verdict on these sales: without a call, that nothing is wrong proves
// nothing.
func proven(v ledger.Verdict, sales []*told.Sale) ledger.Verdict {
	if v == ledger.Held && calls(sales) == 0 {
		return ledger.NotValid
	}
	return v
}
