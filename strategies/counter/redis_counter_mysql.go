package counter

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

//go:embed undo.lua
var undoLua string

//go:embed take.lua
var takeLua string

//go:embed settle.lua
var settleLua string

//go:embed open.lua
var openLua string

var (
	takeScript   = redis.NewScript(undoLua + takeLua)
	settleScript = redis.NewScript(undoLua + settleLua)
	openScript   = redis.NewScript(openLua)
)

// RedisCounterMySQL lets Redis refuse most buyers. If Redis admits a buyer,
// MySQL decides whether the buyer gets the units.
var RedisCounterMySQL = catalog.Info{
	Name:   "redis-counter-mysql",
	Source: "B, choice 4: counter and counter",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LeaseEnd, catalog.Clocks,
			catalog.LostReply, catalog.LateCommand, catalog.OtherSKUs),
	Needs: []backend.Capability{backend.SQL, backend.Redis},
	Stock: seckill.InRowAndRedis,
	Also: []string{
		"take.lua", "settle.lua", "undo.lua", "open.lua", "number.go",
		"seed.lua", "count.lua", "give_back.lua"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &redisCounterMySQL{number{d.Redis, d.Ledger}, d}, nil
	},
}

type redisCounterMySQL struct {
	number
	deps catalog.Deps
}

func (s *redisCounterMySQL) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	in, err := s.admit(ctx, p)
	if err != nil {
		return r, err
	}
	// If too few units are left for p, units is the number in the stock row.
	run, units := in.run, int64(0)
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		rows, left, err := s.store.Exec(tx,
			"UPDATE stock SET num = LAST_INSERT_ID(num - ?) "+
				"WHERE id = ? AND run = ? AND num - ? >= 0",
			p.Quantity, p.SKU, run, p.Quantity)
		if err != nil {
			return err
		}
		if rows == 0 {
			units, err = s.explainNoRow(tx, p, run)
			return err
		}
		r, err = s.store.Record(tx, p, run, left)
		return err
	})
	switch {
	case err == nil:
		s.settle(ctx, p, run, sold)
		return r, nil
	case errors.Is(err, seckill.ErrDuplicate):
		s.settleDuplicate(ctx, p, run)
		return seckill.Receipt{}, err
	case errors.Is(err, seckill.ErrSoldOut):
		s.settle(ctx, p, run, void, units, in.left, in.buyers)
		return seckill.Receipt{}, err
	case seckill.NothingTaken(err):
		s.settle(ctx, p, run, void)
		return seckill.Receipt{}, err
	}
	return s.findOrder(ctx, p, run, err)
}

// explainNoRow finds out why the UPDATE changed no row. Either the SKU is sold
// out or does not exist, or the row belongs to another run than the number in
// Redis that admitted the buyer. explainNoRow returns the units in the row.
func (s *redisCounterMySQL) explainNoRow(
	tx *gorm.DB, p seckill.Purchase, run int64,
) (units int64, err error) {
	var row struct{ Num, Run int64 }
	err = s.store.ReadIn(tx, &row,
		"SELECT num, run FROM stock WHERE id = ?", p.SKU)
	switch {
	case err != nil:
		return 0, err
	case row.Run != run:
		return 0, fmt.Errorf("%w: the sale was reset meanwhile",
			seckill.ErrConflict)
	}
	return row.Num, seckill.ErrSoldOut
}

// findOrder looks for the order after a COMMIT without an answer. If there is
// an order, the purchase is sold. Otherwise the order may still come: the
// purchase stays open, and buyers who depend on its units look again later.
func (s *redisCounterMySQL) findOrder(
	ctx context.Context, p seckill.Purchase, run int64, unknown error,
) (seckill.Receipt, error) {
	asking, cancel := detached(ctx)
	defer cancel()
	o, err := s.store.FindRequest(asking, p.SKU, p.User, p.RequestID)
	if err != nil || o.Run != run || o.Status == ledger.Refused {
		return seckill.Receipt{}, unknown
	}
	s.settle(ctx, p, run, sold)
	return o.Receipt(), nil
}

// settleDuplicate closes a purchase whose user or request has an order.
func (s *redisCounterMySQL) settleDuplicate(
	ctx context.Context, p seckill.Purchase, run int64,
) {
	asking, cancel := detached(ctx)
	defer cancel()
	known, err := s.known(asking, p.SKU,
		holding{p.User, p.Quantity, p.RequestID})
	switch {
	case err != nil: // the purchase stays open until somebody needs its units
		return
	case known == absent: // the order belongs to another request of the user
		known = void
	case known == sold: // a copy of this request has bought
		known = again
	}
	s.settle(ctx, p, run, known)
}

// An admission is the answer of take.lua to a buyer who may go on to MySQL.
type admission struct{ run, left, buyers int64 }

// admit takes units from the number. If too few are left, open purchases may
// still return theirs. Then admit waits, and looks up those that have been
// open for long.
func (s *redisCounterMySQL) admit(
	ctx context.Context, p seckill.Purchase,
) (in admission, err error) {
	end := time.Now().Add(s.deps.Settings.LockWait)
	for {
		state, in, err := s.take(ctx, p)
		if errors.Is(err, redis.ErrPoolTimeout) {
			return in, backend.RedisError(err)
		}
		if err != nil {
			// The script may have admitted the buyer. Or a copy of the request
			// in another process was admitted, and goes on to sell.
			s.settle(ctx, p, anyRun, absent)
			return in, fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
		}
		switch state {
		case "taken":
			return in, nil
		case "seen":
			return in, seckill.ErrDuplicate
		case "sold out":
			return in, seckill.ErrSoldOut
		case "foreign":
			return in, foreign(p.SKU)
		case "missing":
			if err := s.rebuild(ctx, p.SKU); err != nil {
				return in, err
			}
			continue
		case "undecided": // open purchases may return missing units
		}
		closed, err := s.reconcile(ctx, p.SKU)
		if err != nil {
			return in, err
		}
		if closed {
			continue
		}
		left := time.Until(end)
		if left <= 0 {
			return in, fmt.Errorf("%w: purchases before this one are open",
				seckill.ErrBusy)
		}
		pause := min(s.deps.Settings.LockPoll, left)
		if err := tap.Sleep(ctx, pause); err != nil {
			return in, fmt.Errorf("%w: %w", seckill.ErrBusy, err)
		}
	}
}

func (s *redisCounterMySQL) take(
	ctx context.Context, p seckill.Purchase,
) (state string, in admission, err error) {
	id, err := s.store.Identity(ctx)
	if err != nil {
		return "", in, err
	}
	answer, err := takeScript.Run(ctx, s.redis, s.keys(p.SKU),
		p.Quantity, p.User, p.RequestID, s.deps.Now().UnixMilli(),
		id).Slice()
	if err != nil {
		return "", in, err
	}
	state, _ = answer[0].(string)
	if state == "taken" {
		in.left, _ = answer[1].(int64)
		text, _ := answer[2].(string)
		in.buyers, _ = answer[3].(int64)
		in.run, err = strconv.ParseInt(text, 10, 64)
	}
	return state, in, err
}

func (s *redisCounterMySQL) keys(sku int64) []string {
	return []string{numberKey(sku), saleKey(sku), buyersKey(sku),
		openKey(sku)}
}

// anyRun stands for any run of the sale. settle needs it after a lost reply,
// which would have said the run for which the units were taken.
const anyRun = 0

// settle closes p in Redis. If that fails, p stays open until a buyer who
// needs its units closes it. If the row had too few units for p, seen has the
// units in the row, and the units and the buyers of the admission.
func (s *redisCounterMySQL) settle(
	ctx context.Context, p seckill.Purchase, run int64, known string,
	seen ...any,
) (closed bool) {
	ctx, cancel := detached(ctx)
	defer cancel()
	sale, err := s.sale(ctx, run)
	if run == anyRun {
		sale = strings.TrimSuffix(sale, "0")
	}
	if err == nil {
		err = settleScript.Run(ctx, s.redis, s.keys(p.SKU),
			append([]any{sale, p.User, p.Quantity, p.RequestID, known},
				seen...)...).Err()
	}
	if err != nil {
		s.deps.Log.WarnContext(ctx, "a purchase stays open in Redis",
			"sku", p.SKU, "user", p.User, "error", err)
	}
	return err == nil
}

// fewLeftovers bounds the open purchases that reconcile looks up in one call.
const fewLeftovers = 10

// reconcile looks up purchases that have been open for longer than a lease,
// and closes them. A purchase that is still running may yet be sold. Then it
// calls settle itself, which takes the units that reconcile has returned.
func (s *redisCounterMySQL) reconcile(
	ctx context.Context, sku int64,
) (closed bool, err error) {
	before := s.deps.Now().Add(-s.deps.Settings.LockLease).UnixMilli()
	_, of, open, err := s.look(ctx, sku,
		strconv.FormatInt(before, 10), fewLeftovers)
	if err != nil {
		return false, err
	}
	run, err := s.runOf(ctx, sku, of)
	if err != nil {
		return false, err
	}
	for _, h := range open {
		known, err := s.known(ctx, sku, h)
		if err != nil {
			return closed, err
		}
		closed = s.settle(ctx, seckill.Purchase{SKU: sku, User: h.user,
			Quantity: h.quantity, RequestID: h.request}, run, known) || closed
	}
	return closed, nil
}

// rebuild sets a number that Redis has lost to the units in the row.
// Afterwards Redis knows neither the purchases under way nor the users who
// have bought. MySQL still refuses users who have bought and missing units.
func (s *redisCounterMySQL) rebuild(ctx context.Context, sku int64) error {
	var now struct{ Num, Run int64 }
	err := s.store.Read(ctx, &now,
		"SELECT num, run FROM stock WHERE id = ?", sku)
	if err != nil {
		return err
	}
	if err := s.seed(ctx, sku, now.Num, now.Run, true); err != nil {
		// %v hides ErrUnknown: no units were taken, whatever happened.
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
	if o.Status == ledger.Active {
		if err := s.open(ctx, o); err != nil {
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
	lost := err
	if seckill.NothingTaken(err) { // another call may have cancelled the order
		asking, cancel := detached(ctx)
		defer cancel()
		known, lost = s.known(asking, o.SKUID, holding{user: o.UserID,
			quantity: o.Quantity, request: o.RequestID})
	}
	if lost == nil { // otherwise the mark stays until somebody looks it up
		s.settle(ctx, seckill.Purchase{SKU: o.SKUID, User: o.UserID,
			Quantity: o.Quantity, RequestID: o.RequestID}, o.Run, known)
	}
	return err
}

// returned is the state of an order that the caller of settle has just
// cancelled. settle returns its units even if Redis has forgotten the order.
// That may admit one buyer too many, whom MySQL refuses. The opposite mistake
// would leave units unsold.
const returned = "returned"

// open marks in Redis the order that is about to be cancelled. Before, it
// rebuilds the number of units left if Redis has lost this number. If it were
// rebuilt during the cancellation, it might or might not include the units.
func (s *redisCounterMySQL) open(ctx context.Context, o ledger.Order) error {
	sale, err := s.sale(ctx, o.Run)
	if err != nil {
		return err
	}
	for range 2 {
		state, err := openScript.Run(ctx, s.redis, s.keys(o.SKUID), sale,
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
