// Package loadtest lets many buyers storm a sale over HTTP and then judges
// the run from the ledger and from what every buyer was told. It is a library;
// the seckill program and its page only call it.
package loadtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// A Config is one load run.
type Config struct {
	Targets  []string // base URLs of service processes; requests go round-robin
	Strategy string
	// ByDefault names no strategy in the requests: Strategy must be the one
	// that the targets were started with, and every answer is checked for it.
	ByDefault   bool
	SKU         int64
	Stock       int64 // the SKU is reset to this many units first
	Buyers      int   // distinct users, one purchase each
	Concurrency int   // buyers at a time
	Quantity    int64 // units each buyer asks for
	AdminToken  string
	Timeout     time.Duration // a buyer gives up after this long: unknown
	Seed        uint64        // user ids and their order follow from it

	// Ledger reads the stores. Nil: the service is asked for its ledger.
	Ledger Ledger
	// OnProgress, if not nil, is called about ten times a second and once at
	// the end, from one goroutine.
	OnProgress func(Progress)

	patience patience // zero: the default; tests have less
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
	demand := int64(c.Buyers) * c.Quantity
	switch {
	case c.Strategy == "":
		return configError("no strategy: name one")
	case c.SKU < 1:
		return configError("SKU %d: ids start at 1", c.SKU)
	case c.Stock < 1 || c.Stock > seckill.MaxStock:
		return configError("a stock of %d: give 1 to %d units", c.Stock, seckill.MaxStock)
	case c.Quantity < 1 || c.Quantity > seckill.MaxQuantity:
		return configError("a quantity of %d: give 1 to %d units", c.Quantity, seckill.MaxQuantity)
	case c.Buyers < 1 || c.Buyers > maxBuyers:
		return configError("%d buyers: give 1 to %d", c.Buyers, maxBuyers)
	case c.Concurrency < 1:
		return configError("a concurrency of %d: let at least one buyer in at a time", c.Concurrency)
	case c.Timeout <= 0:
		return configError("a time-out of %s: give the buyers some time", c.Timeout)
	case c.Quantity > c.Stock:
		return configError("every buyer asks for %d units of a stock of %d: nobody could buy anything", c.Quantity, c.Stock)
	case demand <= c.Stock:
		return configError("%d buyers × %d = %d units wanted of a stock of %d: nothing could be oversold, so nothing would be proven; "+
			"give more than %d buyers, or less stock", c.Buyers, c.Quantity, demand, c.Stock, c.Stock/c.Quantity)
	}
	for _, t := range c.Targets {
		u, err := url.Parse(t)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return configError("target %q is not an address such as http://127.0.0.1:8081", t)
		}
	}
	return nil
}

func configError(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...)
}
