package counter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A number keeps the stock of each SKU in Redis: seckill:stock:1 has the units
// left of SKU 1. The other keys of a SKU use the number's name as hash tag, so
// that Redis Cluster keeps them on the same node as the number.
//
// A second key names the sale for which the number was set, as "IDENTITY RUN":
// the identity of the database and the run. A purchase that began in an
// earlier sale, or in the sale of another database, must not write its order
// into this sale. It must not give its units back to this sale, either.
type number struct {
	redis redis.UniversalClient
	store *ledger.Store
}

func numberKey(sku int64) string { return fmt.Sprintf("seckill:stock:%d", sku) }

func companion(sku int64, what string) string {
	return fmt.Sprintf("{seckill:stock:%d}:%s", sku, what)
}

func saleKey(sku int64) string { return companion(sku, "run") }

func newestKey(sku int64) string { return companion(sku, "runs") }

func scriptKeys(sku int64) []string {
	return []string{numberKey(sku), saleKey(sku),
		companion(sku, "buyers"), companion(sku, "open")}
}

var seedScript = backend.Script(files, "seed.lua")

func (n *number) sale(ctx context.Context, run int64) (string, error) {
	id, err := n.store.Identity(ctx)
	return saleIn(id, strconv.FormatInt(run, 10)), err
}

// saleIn returns the value that saleKey(sku) has during a run. The argument id
// is the identity of the database.
func saleIn(id, run string) string { return id + " " + run }

// runOf reads the run from the parameter sale, which is the value of
// saleKey(sku): a database and a run. If the value is empty or names another
// database, runOf returns an error, because nothing may be sold.
func (n *number) runOf(
	ctx context.Context, sku int64, sale string,
) (int64, error) {
	if sale == "" {
		return 0, n.missing(ctx, sku)
	}
	id, err := n.store.Identity(ctx)
	if err != nil {
		return 0, err
	}
	database, text, _ := strings.Cut(sale, " ")
	run, err := strconv.ParseInt(text, 10, 64)
	if err != nil || database != id {
		return 0, foreign(sku)
	}
	return run, nil
}

func foreign(sku int64) error {
	return fmt.Errorf("%w: %s was set for another database: reset the sale",
		seckill.ErrUnavailable, numberKey(sku))
}

// Reset sets the number to the stock in the ledger. It ignores the caller's
// stock, because a later reset may have changed the ledger meanwhile.
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
	id, err := n.store.Identity(ctx)
	if err != nil {
		return err
	}
	set, err := seedScript.Run(ctx, n.redis,
		append(scriptKeys(sku), newestKey(sku)),
		stock, id, run, onlyMissing).Int64()
	if err == nil && set < 0 {
		return n.overtaken(ctx, sku, run)
	}
	return backend.RedisError(err)
}

// overtaken returns the error of a reset that finds a newer run in Redis. If
// the ledger has a newer run, too, another reset was faster, and there is no
// error. If not, somebody has restored the database to an older state.
func (n *number) overtaken(ctx context.Context, sku, run int64) error {
	var now int64
	err := n.store.Read(ctx, &now, "SELECT run FROM stock WHERE id = ?", sku)
	if err != nil || now > run {
		return err
	}
	return fmt.Errorf("%w: Redis has sold a newer run than %d: if the "+
		"database was restored, delete %s and reset the sale",
		seckill.ErrUnavailable, run, newestKey(sku))
}

// Count returns the units left: the number, plus the units of open purchases
// without an order. An open purchase is still running, or its process died.
// The units of a purchase that never gets an order are given back.
func (n *number) Count(ctx context.Context, sku int64) (int64, error) {
	left, sale, open, err := n.readOpen(ctx, sku, "+inf", everything)
	if err != nil {
		return 0, err
	}
	var current int64
	err = n.store.Read(ctx, &current,
		"SELECT run FROM stock WHERE id = ?", sku)
	if err != nil {
		return 0, err
	}
	if now, err := n.sale(ctx, current); err != nil {
		return 0, err
	} else if sale != now {
		return 0, fmt.Errorf("%w: %s was not set for run %d",
			seckill.ErrUnknownSKU, numberKey(sku), current)
	}
	for _, p := range open {
		known, err := n.findState(ctx, p)
		if err != nil {
			return 0, err
		}
		if known != sold {
			left += p.Quantity
		}
	}
	return left, nil
}

// findState returns the state of the purchase p in the ledger: sold, void,
// absent or cancelled.
func (n *number) findState(
	ctx context.Context, p seckill.Purchase,
) (string, error) {
	o, err := n.store.FindRequest(ctx, p.SKU, p.User, p.RequestID)
	switch {
	case errors.Is(err, seckill.ErrUnknownOrder):
		return absent, nil
	case err != nil:
		return "", err
	case o.Status == ledger.Refused:
		return void, nil
	case o.Status != ledger.Active:
		return cancelled, nil
	}
	return sold, nil
}

var countScript = backend.Script(files, "count.lua")

const everything = -1

// readOpen reads the number, its sale, and at most maxCount open purchases. It
// leaves out purchases that were opened after openedUntil (in ms).
func (n *number) readOpen(
	ctx context.Context, sku int64, openedUntil string, maxCount int,
) (left int64, sale string, open []seckill.Purchase, err error) {
	found, err := countScript.Run(ctx, n.redis, scriptKeys(sku),
		openedUntil, maxCount).StringSlice()
	if err = backend.RedisError(err); errors.Is(err, seckill.ErrUnknown) {
		// A read takes no units, so its failure must not count as an unknown
		// outcome. %v instead of %w hides ErrUnknown from errors.Is.
		err = fmt.Errorf("%w: %v", seckill.ErrUnavailable, err)
	}
	if err != nil {
		return 0, "", nil, err
	}
	if left, err = strconv.ParseInt(found[0], 10, 64); err != nil {
		return 0, "", nil, fmt.Errorf("%w: %s holds %q",
			seckill.ErrUnknownSKU, numberKey(sku), found[0])
	}
	for i := 2; i+1 < len(found); i += 2 {
		p := seckill.Purchase{SKU: sku}
		_, _ = fmt.Sscan(found[i], &p.User)
		_, _ = fmt.Sscan(found[i+1], &p.Quantity, &p.RequestID)
		open = append(open, p)
	}
	return left, found[1], open, nil
}

// missing returns the error if Redis has no number for a SKU: the SKU does not
// exist, or Redis has lost the number.
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

var giveBackScript = backend.Script(files, "give_back.lua")

// giveBack gives the units back and then returns its argument cause. If the
// reply is lost, giveBack returns ErrUnknown. It does not try again, because
// the lost call may have given the units back already.
func (n *number) giveBack(
	ctx context.Context, sku, quantity int64, sale string, cause error,
) error {
	ctx, cancel := detached(ctx)
	defer cancel()
	err := giveBackScript.Run(ctx, n.redis,
		[]string{numberKey(sku), saleKey(sku)}, quantity, sale).Err()
	if err != nil {
		return fmt.Errorf("%w: the units may not have come back: %w",
			seckill.ErrUnknown, err)
	}
	return cause
}

// Restore cancels the order first, and then gives the units back. A failure
// between the two steps loses the units. In the reverse order, a second call
// after a failure would give the units back twice.
func (n *number) Restore(ctx context.Context, orderID string) error {
	var o ledger.Order
	var back bool
	err := n.store.Tx(ctx, func(tx *gorm.DB) (err error) {
		o, back, err = n.store.Cancel(tx, orderID)
		return err
	})
	if err != nil || !back {
		return err
	}
	sale, err := n.sale(ctx, o.Run)
	if err != nil {
		return fmt.Errorf("%w: the units did not come back: %w",
			seckill.ErrUnknown, err)
	}
	return n.giveBack(ctx, o.SKUID, o.Quantity, sale, nil)
}

// afterwards is the timeout of commands that are sent even after the buyer has
// left, such as the command that gives units back.
const afterwards = 2 * time.Second

func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return tap.WithTimeout(context.WithoutCancel(ctx), afterwards)
}
