package counter

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// A number is where this family keeps a SKU's stock: seckill:stock:1 holds
// what is left. What belongs to it has the same hash tag, so that a Cluster
// keeps it on the same node; the number's own name needs no braces for that,
// because a tag is hashed like a whole name.
//
// Beside it stands the run that it was set for. It has nothing to do with
// buyers: a purchase that began in the last sale must not write its order into
// this one, nor give its units back to it.
type number struct {
	redis redis.UniversalClient
	store *ledger.Store
}

func numberKey(sku int64) string { return fmt.Sprintf("seckill:stock:%d", sku) }

func companion(sku int64, what string) string {
	return fmt.Sprintf("{seckill:stock:%d}:%s", sku, what)
}

func runKey(sku int64) string    { return companion(sku, "run") }
func buyersKey(sku int64) string { return companion(sku, "buyers") }
func openKey(sku int64) string   { return companion(sku, "open") }
func seededKey(sku int64) string { return companion(sku, "seeded") }

//go:embed seed.lua
var seedLua string

//go:embed count.lua
var countLua string

var (
	seedScript  = redis.NewScript(seedLua)
	countScript = redis.NewScript(countLua)
)

// Resets of one sale follow each other within this time.
const seededFor = 5 * time.Second

// Reset sets the number to what the ledger has set: the reset that it belongs
// to may have been overtaken by another.
func (n *number) Reset(ctx context.Context, sku, _ int64) error {
	var set struct{ Initial, Run int64 }
	err := n.store.Read(ctx, &set,
		"SELECT initial, run FROM stock WHERE id = ?", sku)
	if err != nil {
		return err
	}
	return n.seed(ctx, sku, set.Initial, set.Run, false)
}

func (n *number) seed(
	ctx context.Context, sku, stock, run int64, onlyMissing bool,
) error {
	return sent(seedScript.Run(ctx, n.redis,
		[]string{numberKey(sku), runKey(sku), buyersKey(sku), openKey(sku),
			seededKey(sku)},
		stock, run, seededFor.Milliseconds(), onlyMissing).Err())
}

// Count is what the number says is left, and with it the units of purchases
// that are open and have no order: they were taken by somebody who is on his
// way, or died on it, and go back if no order comes. (Only
// redis-counter-mysql opens purchases.)
func (n *number) Count(ctx context.Context, sku int64) (int64, error) {
	left, run, open, err := n.look(ctx, sku, "+inf", everything)
	if err != nil {
		return 0, err
	}
	var current int64
	err = n.store.Read(ctx, &current,
		"SELECT run FROM stock WHERE id = ?", sku)
	if err != nil {
		return 0, err
	}
	if run != strconv.FormatInt(current, 10) {
		return 0, fmt.Errorf("%w: %s was not set for run %d",
			seckill.ErrUnknownSKU, numberKey(sku), current)
	}
	for _, h := range open {
		known, err := n.known(ctx, sku, h)
		if err != nil {
			return 0, err
		}
		if known != sold {
			left += h.quantity
		}
	}
	return left, nil
}

// What the ledger knows of a holding.
const (
	sold   = "sold"   // its order is there
	void   = "void"   // it has none and never will, or it is cancelled
	absent = "absent" // it has none now: its COMMIT may be on its way
)

// known asks the ledger about h. A request that has bought another SKU will
// not buy this one: its id is used up.
func (n *number) known(
	ctx context.Context, sku int64, h holding,
) (string, error) {
	o, err := n.store.Requested(ctx, h.user, h.request)
	switch {
	case errors.Is(err, seckill.ErrUnknownOrder):
		return absent, nil
	case err != nil:
		return "", err
	case o.SKUID != sku || o.Status != ledger.Active:
		return void, nil
	}
	return sold, nil
}

// A holding is what a buyer has taken from the number.
type holding struct {
	user, quantity int64
	request        string
}

const everything = -1

// look reads the number, its run, and the holdings that are open since before
// some time, so many at most.
func (n *number) look(
	ctx context.Context, sku int64, before string, most int,
) (left int64, run string, open []holding, err error) {
	found, err := countScript.Run(ctx, n.redis,
		[]string{numberKey(sku), runKey(sku), buyersKey(sku), openKey(sku)},
		before, most).StringSlice()
	if err != nil {
		return 0, "", nil, sent(err)
	}
	if run = found[1]; run == "" {
		return 0, "", nil, fmt.Errorf("%w: there is no %s",
			seckill.ErrUnknownSKU, numberKey(sku))
	}
	if left, err = strconv.ParseInt(found[0], 10, 64); err != nil {
		return 0, "", nil, fmt.Errorf("%w: %s holds %q",
			seckill.ErrUnknownSKU, numberKey(sku), found[0])
	}
	for i := 2; i+1 < len(found); i += 2 {
		h := holding{}
		h.user, _ = strconv.ParseInt(found[i], 10, 64)
		quantity, request, _ := strings.Cut(found[i+1], " ")
		h.quantity, _ = strconv.ParseInt(quantity, 10, 64)
		h.request = request
		open = append(open, h)
	}
	return left, run, open, nil
}

// missing says why there is no number: there is no such SKU, or Redis has
// lost it. Nobody sells from a number that is not there.
func (n *number) missing(ctx context.Context, sku int64) error {
	var run int64
	err := n.store.Read(ctx, &run,
		"SELECT run FROM stock WHERE id = ?", sku)
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: %s is gone, Redis has lost it: reset the sale",
		seckill.ErrUnavailable, numberKey(sku))
}

// What was taken goes back although the buyer has gone, but a Redis that
// hangs is not waited for any longer.
const afterwards = 2 * time.Second

func after(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), afterwards)
}

// sent classifies the error of a command that changes the number. Where Redis
// was not reached, or answered that it refuses, nothing was changed; any other
// failure may have come after the change.
func sent(err error) error {
	var refused redis.Error
	var network *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused), errors.Is(err, redis.ErrPoolTimeout),
		errors.Is(err, backend.ErrKilled),
		errors.As(err, &network) && network.Op == "dial":
		return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: no answer from Redis: %w", seckill.ErrUnknown, err)
}
