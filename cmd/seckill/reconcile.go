package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/reconcile"
	"seckill/strategies"
)

// ReconcileCmd compares what is kept in several places.
type ReconcileCmd struct {
	Given backend.Config `embed:""`
	SecureFlags
	Fix    bool          `help:"Mend what can be mended beside a sale."`
	DryRun bool          `help:"Say what --fix would do, and change nothing: the default."`
	Late   time.Duration `default:"1m" help:"How long a lock without an end, or a reservation after its deadline, is left to those who may still mend it."`
	Rest   time.Duration `default:"2s" help:"How long a counter must stand still before it is judged."`
	JSON   bool          `name:"json" help:"Print the findings as JSON."`
}

const statusLeft = 10 // something does not fit

// Validate checks the flags before anything is opened.
func (c *ReconcileCmd) Validate() error {
	switch {
	case c.Given.MySQLDSN == "" && c.Given.SQLitePath == "":
		return errors.New("the ledger is missing: give --mysql-dsn (SECKILL_MYSQL_DSN), or --sqlite-path (SECKILL_SQLITE_PATH)")
	case c.Fix && c.DryRun:
		return errors.New("--fix and --dry-run are both given: give one of them")
	case c.Late < time.Second:
		return errors.New("--late must be 1s or longer, and longer than a purchase may take, such as 1m")
	case c.Rest <= 0:
		return errors.New("--rest must be longer than 0, such as 2s")
	}
	return c.SecureFlags.check()
}

// Run looks, and with --fix mends.
func (c *ReconcileCmd) Run(ctx context.Context, stdout io.Writer) error {
	config := c.Given
	if err := c.SecureFlags.into(&config); err != nil {
		return err
	}
	in, err := backend.Open(ctx, config)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := ledger.Migrate(ctx, in.DB); err != nil {
		return err
	}
	store := ledger.NewStore(in.DB)
	var sellers []catalog.Seller
	for _, info := range strategies.All() {
		s := catalog.Seller{Info: info}
		if len(info.Missing(in)) == 0 {
			s.Strategy, err = catalog.Build(info, catalog.Deps{Instance: in, Ledger: store, Settings: catalog.DefaultSettings()})
			if err != nil {
				return fmt.Errorf("the strategy %s: %w", info.Name, err)
			}
		}
		sellers = append(sellers, s)
	}
	report, err := reconcile.Look(ctx, reconcile.Place{Store: store, Sellers: sellers, Late: c.Late, Rest: c.Rest})
	if err != nil {
		return err
	}
	if c.Fix {
		report.Fix(ctx)
	}
	if err := c.print(stdout, report); err != nil {
		return err
	}
	if report.Left() > 0 {
		return exitStatus(statusLeft)
	}
	return nil
}

func (c *ReconcileCmd) print(stdout io.Writer, r reconcile.Report) error {
	if c.JSON {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(stdout, "%s: %s\n", about(f), f.What)
		switch {
		case f.Fixed:
			fmt.Fprintf(stdout, "  fixed: %s\n", f.Would)
		case f.Error != "":
			fmt.Fprintf(stdout, "  failed: %s\n", f.Error)
		case f.Would != "":
			fmt.Fprintf(stdout, "  --fix would: %s\n", f.Would)
		}
		if f.Advice != "" {
			fmt.Fprintf(stdout, "  %s\n", f.Advice)
		}
	}
	for _, sku := range r.Moving {
		fmt.Fprintf(stdout, "SKU %d: its counter moves; a sale is on, ask again when it is at rest\n", sku)
	}
	_, err := fmt.Fprintf(stdout, "%d SKUs: %d findings, %d left\n", r.SKUs, len(r.Findings), r.Left())
	return err
}

func about(f reconcile.Finding) string {
	if f.SKU == 0 {
		return f.Kind
	}
	return fmt.Sprintf("%s, SKU %d", f.Kind, f.SKU)
}

// startLimit bounds the look at the start, and mostLogged what the log has of it.
const (
	startLimit = 30 * time.Second
	mostLogged = 20
)

// reportAtStart logs what does not fit when a service starts. It mends nothing, and
// a sale goes on meanwhile.
func reportAtStart(ctx context.Context, log *slog.Logger, store *ledger.Store, sellers []catalog.Seller) {
	limited, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	r, err := reconcile.Look(limited, reconcile.Place{Store: store, Sellers: sellers, Late: time.Minute, Rest: time.Second})
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		log.Warn("reconcile could not look at everything", "error", err)
	}
	for i, f := range r.Findings {
		if i == mostLogged {
			log.Warn("reconcile found more: seckill reconcile shows all", "findings", len(r.Findings))
			return
		}
		log.Warn("reconcile: "+f.What, "kind", f.Kind, "sku", f.SKU, "to_do", f.Advice+f.Would)
	}
}
