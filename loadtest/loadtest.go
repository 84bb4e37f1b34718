// Package loadtest sends the purchases of many buyers to a sale over HTTP and
// judges the run from the ledger and from what every buyer was told. The seckill
// program and its page call it as a library.
//
// A Scenario says what load; Run sends it to the targets of a Config, reports
// Progress meanwhile, and returns a Result, whose JSON form is stable.
package loadtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"seckill/internal/ledger"
)

// A Config is one load run: a Scenario, and against what.
type Config struct {
	Scenario
	Targets    []string // base URLs of service processes; requests go round-robin
	AdminToken string

	// Joins has the buyers join the sale that is on: nothing is reset, Stock is what
	// it was set to, and the orders of others are judged as theirs. Whether the
	// answers are linearizable is not checked, because others' are not known.
	Joins bool

	// Ledger reads the services' database. Send needs none.
	Ledger Ledger
	// Outage, if not nil, is called once after the load, if a target says how long a
	// buyer waits for a lock and a lease lasts. The sale may stand still for so much
	// longer, because planned faults held it up.
	Outage func() time.Duration
	// Faulty, if not nil, says after the load whether faults were planned for the run, or
	// added. That few buyers got an answer is then what was tried, and no problem.
	Faulty func() bool
	// ServersTime, if not nil, is the processor time that the servers behind the
	// targets have used so far, and whether that is known.
	ServersTime func() (time.Duration, bool)

	// OnProgress, if not nil, is called about ten times a second and once at
	// the end, from one goroutine.
	OnProgress func(Progress)
	// Begin and End, if not nil, synchronize concurrent runs. The load waits for
	// Begin, which is called when everything is ready; the audit waits for End,
	// because metrics do not say which run a purchase in flight belongs to.
	// Neither is called if no load is sent.
	Begin, End func()

	settling    settling      // zero: the default
	finalWithin time.Duration // how long buyers ask for the final answer; 0: the default
}

// A Ledger is where the verdict comes from; *ledger.Store is one.
type Ledger interface {
	Snapshot(ctx context.Context, sku int64) (ledger.Snapshot, error)
}

// ErrConfig marks a run that was not started because of what was asked for.
var ErrConfig = errors.New("the run cannot be started")

// Check finds what makes a run impossible or pointless, without calling any
// service; the error is an ErrConfig. Run checks too; call Check before targets
// are started.
func (c Config) Check() error {
	if err := c.Scenario.possible(); err != nil {
		return err
	}
	if !c.Joins {
		if err := c.checkReset(); err != nil {
			return err
		}
		if err := c.normal().checkDemand(); err != nil {
			return err
		}
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
