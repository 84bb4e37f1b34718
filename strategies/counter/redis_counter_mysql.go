package counter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

var (
	takeScript   = backend.Script(files, "undo.lua", "take.lua")
	settleScript = backend.Script(files, "undo.lua", "settle.lua")
	openScript   = backend.Script(files, "open.lua")
)

// RedisCounterMySQL lets Redis refuse most buyers. If Redis admits a buyer,
// MySQL decides whether the buyer gets the units.
var RedisCounterMySQL = family.Strategy(catalog.Info{
	Name:   "redis-counter-mysql",
	Source: "B, choice 4: counter and counter",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LeaseEnd, catalog.Clocks,
			catalog.LostReply, catalog.LateCommand, catalog.OtherSKUs),
	Stock:  seckill.InRowAndRedis,
	Stored: catalog.Stored{RedisKeys: scriptKeys},
	Also: []string{
		"take.lua", "settle.lua", "undo.lua", "open.lua",
		"count.lua", "number.go", "seed.lua", "give_back.lua"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &redisCounterMySQL{number{d.Redis, d.Ledger}, d}, nil
	},
})

type redisCounterMySQL struct {
	number
	deps catalog.Deps
}

// In take.lua a purchase takes its units, and Redis records the purchase as
// open. settle.lua closes the purchase when its state in the ledger is known.
// Only redis-counter-mysql opens purchases. The table in take.lua says what
// Redis stores of a purchase.
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

func (s *redisCounterMySQL) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	in, err := s.admit(ctx, p)
	if err != nil {
		return r, err
	}
	var tooFew *refusedByRow
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		rows, left, err := s.store.Exec(tx,
			"UPDATE stock SET num = LAST_INSERT_ID(num - ?) "+
				"WHERE id = ? AND run = ? AND num - ? >= 0",
			p.Quantity, p.SKU, in.run, p.Quantity)
		if err != nil {
			return err
		}
		if rows == 0 {
			tooFew, err = s.explainNoRow(tx, p, in)
			return err
		}
		r, err = s.store.Record(tx, p, in.run, left)
		return err
	})
	switch {
	case err == nil:
		s.settle(ctx, p, in.sale, sold, nil)
		return r, nil
	case errors.Is(err, seckill.ErrDuplicate):
		s.settleDuplicate(ctx, p, in.sale)
		return seckill.Receipt{}, err
	case seckill.NothingTaken(err):
		s.settle(ctx, p, in.sale, void, tooFew)
		return seckill.Receipt{}, err
	}
	return s.findOrder(ctx, p, in, err)
}

// A refusedByRow tells settle that the row had too few units for a purchase.
// So the number in Redis was too high, and settle lowers it.
type refusedByRow struct {
	units        int64 // the units in the row
	left, buyers int64 // the units and buyers in Redis, as take.lua answered
}

// explainNoRow finds out why the UPDATE changed no row. The SKU is sold out,
// or it does not exist, or the row has another run than Redis.
func (s *redisCounterMySQL) explainNoRow(
	tx *gorm.DB, p seckill.Purchase, in admission,
) (*refusedByRow, error) {
	var row struct{ Num, Run int64 }
	err := s.store.ReadIn(tx, &row,
		"SELECT num, run FROM stock WHERE id = ?", p.SKU)
	switch {
	case err != nil:
		return nil, err
	case row.Run != in.run:
		return nil, ledger.ErrReset
	}
	return &refusedByRow{row.Num, in.left, in.buyers}, seckill.ErrSoldOut
}

// findOrder looks for the order after a COMMIT without an answer. If there is
// an order, the purchase is sold. If not, the COMMIT may still take effect, so
// the purchase stays open. When a later buyer needs its units, that buyer's
// process looks for the order again.
func (s *redisCounterMySQL) findOrder(
	ctx context.Context, p seckill.Purchase, in admission, unknown error,
) (seckill.Receipt, error) {
	asking, cancel := detached(ctx)
	defer cancel()
	o, err := s.store.FindRequest(asking, p.SKU, p.User, p.RequestID)
	if err != nil || o.Run != in.run || o.Status == ledger.Refused {
		return seckill.Receipt{}, unknown
	}
	s.settle(ctx, p, in.sale, sold, nil)
	return o.Receipt(), nil
}

func (s *redisCounterMySQL) settleDuplicate(
	ctx context.Context, p seckill.Purchase, sale string,
) {
	asking, cancel := detached(ctx)
	defer cancel()
	known, err := s.findState(asking, p)
	switch {
	case err != nil: // the purchase stays open until a buyer needs its units
		return
	case known == absent: // another request of the user has the order
		known = void
	case known == sold: // this request was sent twice, and has already bought
		known = again
	}
	s.settle(ctx, p, sale, known, nil)
}

// An admission is the answer of take.lua to a buyer who may go on to MySQL.
type admission struct {
	sale              string // the database and the run, as one text
	run, left, buyers int64
}

// admit takes units from the number of units left in Redis. If too few are
// left, admit waits for open purchases: MySQL has not decided them yet, so
// they may give units back. Meanwhile it closes purchases that have been open
// for long.
func (s *redisCounterMySQL) admit(
	ctx context.Context, p seckill.Purchase,
) (in admission, err error) {
	id, err := s.store.Identity(ctx)
	if err != nil {
		return in, err
	}
	end := time.Now().Add(s.deps.Settings.LockWait)
	for {
		answer, in, err := s.take(ctx, p, id)
		if errors.Is(err, redis.ErrPoolTimeout) {
			return in, backend.RedisError(err)
		}
		if err != nil {
			// The lost reply may have admitted the buyer, so settle gives the
			// units back. Another process may still sell to the same request.
			// So the state is absent and not void. Only the lost reply has the
			// run, so any run will do.
			s.settle(ctx, p, saleIn(id, anyRun), absent, nil)
			return in, fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
		}
		switch answer {
		case "taken":
			return in, nil
		case "seen":
			return in, seckill.ErrDuplicate
		case "sold out":
			return in, seckill.ErrSoldOut
		case "foreign":
			return in, foreign(p.SKU)
		case "missing":
			err = s.rebuild(ctx, p.SKU)
		case "undecided":
			err = s.awaitOpen(ctx, p.SKU, end)
		}
		if err != nil {
			return in, err
		}
	}
}

func (s *redisCounterMySQL) take(
	ctx context.Context, p seckill.Purchase, id string,
) (answer string, in admission, err error) {
	all, err := takeScript.Run(ctx, s.redis, scriptKeys(p.SKU),
		p.Quantity, p.User, p.RequestID, s.deps.Now().UnixMilli(),
		id).Slice()
	if err != nil {
		return "", in, err
	}
	answer, _ = all[0].(string)
	if answer == "taken" {
		in.left, _ = all[1].(int64)
		run, _ := all[2].(string)
		in.buyers, _ = all[3].(int64)
		in.sale = saleIn(id, run)
		in.run, err = strconv.ParseInt(run, 10, 64)
	}
	return answer, in, err
}

// anyRun makes settle accept any run of the database.
const anyRun = ""

// settle closes p in Redis. The argument known is the state of p in the
// ledger. The argument tooFew is set only if the row had too few units. If
// settle fails, p stays open until a buyer who needs its units closes it.
func (s *redisCounterMySQL) settle(
	ctx context.Context, p seckill.Purchase, sale, known string,
	tooFew *refusedByRow,
) (closed bool) {
	ctx, cancel := detached(ctx)
	defer cancel()
	args := []any{sale, p.User, p.Quantity, p.RequestID, known}
	if tooFew != nil {
		args = append(args, tooFew.units, tooFew.left, tooFew.buyers)
	}
	err := settleScript.Run(ctx, s.redis, scriptKeys(p.SKU), args...).Err()
	if err != nil {
		s.deps.Log.WarnContext(ctx, "a purchase stays open in Redis",
			"sku", p.SKU, "user", p.User, "error", err)
	}
	return err == nil
}

// awaitOpen closes purchases that have been open for long. If there are none,
// awaitOpen pauses for a short time. If the buyer's time has ended, it returns
// ErrBusy instead.
func (s *redisCounterMySQL) awaitOpen(
	ctx context.Context, sku int64, end time.Time,
) error {
	closed, err := s.reconcile(ctx, sku)
	if err != nil || closed {
		return err
	}
	left := time.Until(end)
	if left <= 0 {
		return fmt.Errorf("%w: purchases before this one are open",
			seckill.ErrBusy)
	}
	err = tap.Sleep(ctx, min(s.deps.Settings.LockPoll, left))
	if err != nil {
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	}
	return nil
}

// fewLeftovers bounds the open purchases that reconcile looks up in one call.
const fewLeftovers = 10

// reconcile looks up purchases that have been open for longer than a lease,
// and closes them. A purchase may be closed although it is still running, and
// its units are given back. If this purchase then sells, its own call of
// settle takes the units again.
func (s *redisCounterMySQL) reconcile(
	ctx context.Context, sku int64,
) (closed bool, err error) {
	openedUntil := s.deps.Now().Add(-s.deps.Settings.LockLease).UnixMilli()
	_, sale, open, err := s.readOpen(ctx, sku,
		strconv.FormatInt(openedUntil, 10), fewLeftovers)
	if err != nil {
		return false, err
	}
	if _, err := s.runOf(ctx, sku, sale); err != nil {
		return false, err
	}
	for _, p := range open {
		known, err := s.findState(ctx, p)
		if err != nil {
			return closed, err
		}
		closed = s.settle(ctx, p, sale, known, nil) || closed
	}
	return closed, nil
}

// rebuild sets the number to the units in the row, after Redis has lost the
// number. Redis has then also lost the open purchases and the users who have
// bought. So it may admit too many buyers, but MySQL refuses them.
func (s *redisCounterMySQL) rebuild(ctx context.Context, sku int64) error {
	var now struct{ Num, Run int64 }
	err := s.store.Read(ctx, &now,
		"SELECT num, run FROM stock WHERE id = ?", sku)
	if err != nil {
		return err
	}
	if err := s.seed(ctx, sku, now.Num, now.Run, true); err != nil {
		// No units were taken, even if the reply was lost. So hide ErrUnknown
		// with %v.
		return fmt.Errorf("%w: %v", seckill.ErrUnavailable, err)
	}
	return nil
}

// Restore cancels the order in MySQL, and then returns its units in Redis.
// Before that, it marks the order as open in Redis. If this process dies in
// between, another process finds the mark and returns the units.
func (s *redisCounterMySQL) Restore(
	ctx context.Context, orderID string,
) error {
	o, err := s.store.Order(ctx, orderID)
	if err != nil {
		return err
	}
	sale, err := s.sale(ctx, o.Run)
	if err != nil {
		return err
	}
	if o.Status == ledger.Active {
		if err := s.open(ctx, o, sale); err != nil {
			return err
		}
	}
	known := cancelled
	err = s.store.CancelOrder(ctx, orderID, func(
		tx *gorm.DB, o ledger.Order,
	) error {
		known = returned
		return s.store.ReturnUnits(tx, o)
	})
	p := seckill.Purchase{SKU: o.SKUID, User: o.UserID,
		Quantity: o.Quantity, RequestID: o.RequestID}
	lost := err
	// This call changed nothing, but another may have cancelled the order.
	if seckill.NothingTaken(err) {
		asking, cancel := detached(ctx)
		defer cancel()
		known, lost = s.findState(asking, p)
	}
	// If the state is unknown, the order stays open, and reconcile closes it.
	if lost == nil {
		s.settle(ctx, p, sale, known, nil)
	}
	return err
}

// open marks the order as open in Redis before the order is cancelled. If
// Redis has lost the number of units left, open first rebuilds the number. If
// the number were rebuilt later, during the cancellation, it would be unclear
// whether it includes the order's units.
func (s *redisCounterMySQL) open(
	ctx context.Context, o ledger.Order, sale string,
) error {
	for range 2 {
		state, err := openScript.Run(ctx, s.redis, scriptKeys(o.SKUID), sale,
			o.UserID, o.Quantity, o.RequestID,
			s.deps.Now().UnixMilli()).Text()
		switch {
		case errors.Is(err, redis.ErrPoolTimeout):
			return backend.RedisError(err)
		case err != nil:
			return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
		case state != "missing":
			return nil
		}
		if err := s.rebuild(ctx, o.SKUID); err != nil {
			return err
		}
	}
	return s.missing(ctx, o.SKUID)
}
