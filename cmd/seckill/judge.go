package main

import (
	"context"
	"encoding/json"
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
	"seckill/strategies"
)

// JudgeCmd judges what any load generator recorded against the ledger.
type JudgeCmd struct {
	Told     string        `required:"" placeholder:"FILE" help:"What buyers were told, as JSON lines; - is standard input. See loadtest/examples."`
	Patience time.Duration `default:"15s" help:"The longest wait plus lease: a sale that stands still for longer, with units left and buyers asking, is blocked."`
	JSON     bool          `name:"json" help:"Write the report as JSON."`

	BackendFlags
}

func (c *JudgeCmd) Help() string {
	return fmt.Sprintf(`The first line of the file says what was set, {"sku_id":1,"stock":100,"run":7,"strategy":"conditional"} (run: the ledger's
current one if left out), each other line one call: {"call":"buy|cancel|pay","request_id","user_id","sku_id","quantity","outcome":
"sold|sold_out|busy|duplicate|conflict|in_progress|accepted|expired|cancelled|unknown|error","order_id","remaining","sent_at",
"answered_at"}; call is buy if it is left out, times are RFC 3339. Copies and retries of one request are lines of their own.

Exit status: %d held, %d oversold, %d lost or undersold, %d held but blocked, %d the run itself was not valid, %d wrong command line or file.`,
		loadtest.ExitHeld, loadtest.ExitOversold, loadtest.ExitLost, loadtest.ExitBlocked, loadtest.ExitNotValid, statusUsage)
}

func (c *JudgeCmd) Validate() error {
	switch {
	case c.MySQLDSN == "" && c.SQLitePath == "":
		return errors.New("the ledger is missing: say with --mysql-dsn or --sqlite-path where the orders are")
	case c.Patience <= 0:
		return errors.New("--patience must be longer than 0, such as 15s")
	}
	return nil
}

func (c *JudgeCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	sales, err := c.read()
	if err != nil {
		fmt.Fprintf(stderr, "seckill: --told %s: %v\nTry: seckill judge --help\n", c.Told, err)
		return exitStatus(statusUsage)
	}
	if c.SQLitePath != "" {
		if _, err := os.Stat(c.SQLitePath); err != nil { // opening it would create it
			return fmt.Errorf("the ledger: %w", err)
		}
	}
	config := c.BackendFlags.config()
	config.MaxSQLConns = 2
	in, err := backend.Open(ctx, config)
	if err != nil {
		return fmt.Errorf("the ledger: %w", err)
	}
	defer in.Close()
	store := ledger.NewStore(in.DB)
	sellers, err := counting(in, store)
	if err != nil {
		return err
	}
	var reports []ledger.Report
	for _, sale := range sales {
		report, err := c.judge(ctx, store, sale, sellers)
		if err != nil {
			return fmt.Errorf("SKU %d: %w", sale.SKU, err)
		}
		reports = append(reports, report)
	}
	all := ledger.Sum(reports)
	if err := c.write(stdout, all, sales); err != nil {
		return err
	}
	if status := judgedStatus(all); status != 0 {
		return exitStatus(status)
	}
	return nil
}

func (c *JudgeCmd) read() ([]*loadtest.ToldSale, error) {
	if c.Told == "-" {
		return loadtest.ReadTold(os.Stdin)
	}
	f, err := os.Open(c.Told)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return loadtest.ReadTold(f)
}

// counting builds the strategies that count outside the stock row, to ask what
// is left there; of the others the judge needs the names alone.
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

func (c *JudgeCmd) judge(ctx context.Context, store *ledger.Store, sale *loadtest.ToldSale, sellers []catalog.Seller) (ledger.Report, error) {
	var trial *ledger.Trial
	err := store.Walk(ctx, sale.SKU, func(s ledger.Stock) {
		e := ledger.Evidence{Snapshot: ledger.Snapshot{Stock: s}, Initial: sale.Stock, Run: sale.Run,
			HomeOf: catalog.HomeOf(sellers), Told: sale.Told, Patience: c.Patience}
		if s.StartsAt != nil && !sale.Began.IsZero() {
			e.Started = max(1, s.StartsAt.Time().Sub(sale.Began))
		}
		trial = ledger.NewTrial(e)
	}, func(o *ledger.Order) { trial.Order(o) })
	if err != nil {
		return ledger.Report{}, err
	}
	return trial.Report(catalog.Homes(ctx, sale.SKU, sellers)), nil
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

func (c *JudgeCmd) write(w io.Writer, r ledger.Report, sales []*loadtest.ToldSale) error {
	if c.JSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	calls := 0
	for _, s := range sales {
		calls += len(s.Told)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d calls judged; %d of %d units sold in %d orders, %d cancelled, %d left (run %d)\n",
		strings.ToUpper(string(r.Verdict)), calls, r.Sold, r.Initial, r.Orders, r.Cancelled, r.Remaining, r.Run)
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
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "  %s (%s, %d): %s\n", v.Rule, v.Verdict, v.Count, v.Message)
		for _, e := range v.Examples {
			fmt.Fprintf(&b, "    %s\n", e)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
