package counter

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// In take.lua a purchase takes its units, and Redis records it as open.
// settle.lua closes the purchase when its state in the ledger is known. Only
// redis-counter-mysql opens purchases. The table in take.lua says what Redis
// stores of a purchase.
//
// These are the states, as settle.lua reads them.
const (
	sold      = "sold"      // the purchase has an order
	again     = "again"     // the purchase had an order before this attempt
	void      = "void"      // the purchase has no order and never will
	absent    = "absent"    // the purchase has no order, but may still get one
	cancelled = "cancelled" // the order is cancelled
	// returned means that the caller of settle has just cancelled the order.
	// settle returns its units even if Redis has forgotten the order. Redis
	// may then admit one buyer too many, whom MySQL refuses. The opposite
	// mistake would leave units unsold.
	returned = "returned"
)

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

//go:embed count.lua
var countLua string

var countScript = redis.NewScript(countLua)

const everything = -1

// readOpen reads the number, its sale, and the purchases that are open. It
// leaves out purchases that were opened after openedUntil (in ms), and returns
// at most maxCount of them.
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
	if sale = found[1]; sale == "" {
		return 0, "", nil, fmt.Errorf("%w: there is no %s",
			seckill.ErrUnknownSKU, numberKey(sku))
	}
	if left, err = strconv.ParseInt(found[0], 10, 64); err != nil {
		return 0, "", nil, fmt.Errorf("%w: %s holds %q",
			seckill.ErrUnknownSKU, numberKey(sku), found[0])
	}
	for i := 2; i+1 < len(found); i += 2 {
		p := seckill.Purchase{SKU: sku}
		user, _, _ := strings.Cut(found[i], " ")
		p.User, _ = strconv.ParseInt(user, 10, 64)
		quantity, request, _ := strings.Cut(found[i+1], " ")
		p.Quantity, _ = strconv.ParseInt(quantity, 10, 64)
		p.RequestID = request
		open = append(open, p)
	}
	return left, sale, open, nil
}
