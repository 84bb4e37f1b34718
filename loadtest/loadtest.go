// Package loadtest lets many buyers storm a sale over HTTP and then judges
// the run from the ledger and from what every buyer was told. It is a library;
// the seckill program and its page only call it.
//
// A Scenario says what load; Run puts it on the targets of a Config, reports
// Progress while it does, and returns a Result, whose JSON form is stable.
package loadtest

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"seckill/internal/fault"
	"seckill/internal/ledger"
)

// A Config is one load run: a Scenario, and against what.
type Config struct {
	Scenario
	Targets    []string // base URLs of service processes; requests go round-robin
	AdminToken string
	// Sign makes the token that a buyer sends with each call. Nil: none is sent.
	Sign func(user int64) (string, error)
	// Authorities are whose certificates https targets must show; nil: those
	// that the system trusts.
	Authorities *x509.CertPool

	// Ledger reads the stores. Nil: the service is asked for its ledger.
	Ledger Ledger
	// Totals sends a scenario's own audit query (see Adapter.Audit).
	Totals func(ctx context.Context, query string) (ledger.Totals, error)
	// Patience is for how long a sale may stand still while units are left and
	// buyers ask for them; 0: as long as a buyer waits for a lock and a lease
	// lasts, as the targets say. Outage, if not nil, is added: it is asked when
	// the sale is over for how long faults lasted that were to hold it up.
	Patience time.Duration
	Outage   func() time.Duration
	// Counterexamples are the orders known to break strategies of ours, which a
	// run that held names.
	Counterexamples fault.Counterexamples

	// OnProgress, if not nil, is called about ten times a second and once at
	// the end, from one goroutine.
	OnProgress func(Progress)
	// Begin and End, if not nil, are for runs that are held beside others. The
	// storm waits for Begin, which is called when all is ready; the audit waits
	// for End, because while another storm is on, nobody can tell whose
	// purchases are still running. Neither is called if there is no storm.
	Begin, End func()

	protocol *protocol // nil: what the scenario says
	patience patience  // zero: the default; tests have less
}

// A Ledger is where the verdict comes from; *ledger.Store is one.
type Ledger interface {
	Snapshot(ctx context.Context, sku int64) (ledger.Snapshot, error)
}

// ErrConfig marks a run that was not started because of what was asked for.
var ErrConfig = errors.New("the run cannot be started")

// Check finds what makes a run impossible or pointless, without touching any
// service; the error is an ErrConfig. Run checks too: this is for those who
// have yet to start the targets.
func (c Config) Check() error {
	if err := c.Scenario.Check(); err != nil {
		return err
	}
	for _, t := range c.Targets {
		if err := checkTarget(t); err != nil {
			return err
		}
	}
	return nil
}

func configError(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...)
}
