package hotsku

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

//go:embed stream_next.lua
var streamNextLua string

//go:embed stream_settle.lua
var streamSettleLua string

var (
	streamNext   = redis.NewScript(streamNextLua)
	streamSettle = redis.NewScript(streamSettleLua)
)

// mostEntries bounds one transaction.
const mostEntries = 256

// A streamBatch is what one round reads and writes.
type streamBatch struct {
	sku, run, epoch int64
	sale            string
	entries         []entry
}

// A decision is what the database says of an entry.
type decision struct {
	entry
	state string // as Redis remembers it
	reply
}

// round reads entries, writes them, and tells those who wait for them. moved
// means that something was told or written.
func (s *redisStream) round(
	ctx context.Context, ws *waiters, sku int64,
) (moved bool, err error) {
	b, told, err := s.next(ctx, ws, sku)
	if err != nil || len(b.entries) == 0 {
		return told, err
	}
	decisions, err := s.write(ctx, b)
	s.settle(ctx, b, decisions)
	ws.tellOf(b.run, decisions)
	if errors.Is(err, errStale) {
		return true, s.overtook(ctx, ws, b)
	}
	return true, err
}

// next reads what is to be written, and tells those whose entries other
// processes have written.
func (s *redisStream) next(
	ctx context.Context, ws *waiters, sku int64,
) (b streamBatch, told bool, err error) {
	id, err := s.store.Identity(ctx)
	if err != nil {
		return b, false, err
	}
	asked := ws.asked()
	args := []any{s.consumer, mostEntries,
		s.deps.Settings.LockLease.Milliseconds(), ws.epoch, id}
	for _, w := range asked {
		args = append(args, w.who)
	}
	found, err := streamNext.Run(ctx, s.redis, []string{
		beside(sku, "orders"), beside(sku, "run"), beside(sku, "requests"),
		beside(sku, "epoch")}, args...).Slice()
	if err != nil {
		return b, false, answered(err)
	}
	b = streamBatch{sku: sku, sale: text(found[0])}
	b.entries = entriesOf(sku, found[2])
	b.epoch, _ = found[1].(int64)
	b.run, err = s.runOf(ctx, b.sale)
	switch {
	case err != nil:
		return b, false, err
	case b.sale == "":
		return b, false, errForgotten
	case b.run == 0:
		return b, false, errForeign
	}
	answers := s.ofOldSales(ctx, ws, b.run)
	states, _ := found[3].([]any)
	for i, w := range asked {
		if a, known := s.meaning(w, text(states[i])); known && w.run == b.run {
			answers[w] = a
		}
	}
	ws.tell(answers)
	return b, len(answers) > 0, nil
}

var (
	errForgotten = errors.New("what Redis had accepted is forgotten")
	errForeign   = fmt.Errorf("%w: the stream is another database's",
		errForgotten)
)

// meaning is what Redis remembers of a request; false: it is open.
func (s *redisStream) meaning(w *waiter, state string) (a reply, known bool) {
	word, rest, _ := strings.Cut(state, " ")
	switch word {
	case "open":
		return a, false
	case "done":
		return a, true
	case "refused":
		return reply{err: refusedFor(rest)}, true
	case "sold":
		a.receipt, a.err = s.receiptOf(w.Purchase, rest)
		return a, true
	}
	return reply{err: notWritten(errForgotten)}, true
}

// receiptOf reads what Redis remembers of a sold request.
func (s *redisStream) receiptOf(
	p seckill.Purchase, sold string,
) (r seckill.Receipt, err error) {
	r = seckill.Receipt{SKU: p.SKU, Strategy: s.store.Strategy()}
	n, _ := fmt.Sscan(sold, &r.OrderID, &r.Remaining, &r.Quantity)
	switch {
	case n != 3:
		return r, notWritten(errForgotten)
	case r.Quantity != p.Quantity:
		return r, seckill.ErrMismatch
	}
	return r, nil
}

// write has the database decide about every entry of b: purchases all at once
// if nothing stands in the way, else one by one. What it has not decided stays
// in the stream, and is read again.
func (s *redisStream) write(
	ctx context.Context, b streamBatch,
) (list []decision, err error) {
	var buys []entry
	for _, e := range b.entries {
		switch {
		case e.run != b.run:
			list = append(list, decision{entry: e, state: "over"})
		case e.kind == "buy":
			buys = append(buys, e)
		default:
			if err := s.cancelOrder(ctx, b, e); err != nil {
				return list, err
			}
			list = append(list, decision{entry: e, state: "done"})
		}
	}
	if len(buys) == 0 {
		return list, nil
	}
	sold, err := s.sell(ctx, b, buys)
	if errors.Is(err, errNotAll) || errors.Is(err, seckill.ErrDuplicate) {
		sold, err = s.oneByOne(ctx, b, buys)
	}
	return append(list, sold...), err
}

// settle acknowledges what is decided, after the COMMIT. Entries that it does
// not reach are read again, and found to be written.
func (s *redisStream) settle(
	ctx context.Context, b streamBatch, decisions []decision,
) {
	if len(decisions) == 0 {
		return
	}
	args := []any{b.sale}
	for _, v := range decisions {
		args = append(args, v.id, v.kind, v.User, v.RequestID, v.Quantity,
			v.order, v.state)
	}
	ctx, cancel := tap.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer cancel()
	err := streamSettle.Run(ctx, s.redis, keysOf(b.sku), args...).Err()
	if err != nil {
		s.deps.Log.WarnContext(ctx, "entries stay open in Redis",
			"sku", b.sku, "entries", len(decisions), "error", err)
	}
}

// overtook finds out by what b was: by a reset, or by a writer who took over.
func (s *redisStream) overtook(
	ctx context.Context, ws *waiters, b streamBatch,
) error {
	var row struct{ Run, Fence int64 }
	err := s.store.Read(ctx, &row,
		"SELECT run, fence FROM stock WHERE id = ?", b.sku)
	if err != nil {
		return err
	}
	if row.Run == b.run {
		ws.epoch = row.Fence
		return nil
	}
	ws.tell(s.ofOldSales(ctx, ws, row.Run))
	return nil
}

// ofOldSales answers the waiters of sales that are over: no order of those can
// be written any more.
func (s *redisStream) ofOldSales(
	ctx context.Context, ws *waiters, run int64,
) map[*waiter]reply {
	answers := map[*waiter]reply{}
	for _, w := range ws.before(run) {
		answers[w] = s.ofOldSale(ctx, w)
	}
	return answers
}

func (s *redisStream) ofOldSale(ctx context.Context, w *waiter) reply {
	switch {
	case w.who == "":
		return reply{} // they ask Redis again
	case w.who != who(w.Purchase):
		return reply{err: seckill.ErrUnknownOrder} // a cancellation
	}
	o, err := s.store.RequestedIn(ctx, w.run, w.Purchase)
	switch {
	case err == nil:
		return reply{receipt: o.Receipt()}
	case errors.Is(err, seckill.ErrUnknownOrder):
		return reply{err: fmt.Errorf("%w: the sale was reset meanwhile",
			seckill.ErrConflict)}
	}
	return reply{err: notWritten(err)}
}

var (
	errNotAll = fmt.Errorf("%w: not all can be written", seckill.ErrConflict)
	// errStale: the row has seen a newer run or epoch.
	errStale = fmt.Errorf("%w: another writes now", seckill.ErrConflict)
)

// sell writes the orders of entries, or none. The row decides: whether there
// is enough, whether the sale is the same, whether it has started, and whether
// the entries are still this writer's, or were taken over while it slept.
func (s *redisStream) sell(
	ctx context.Context, b streamBatch, entries []entry,
) (list []decision, err error) {
	var orders []ledger.Accepted
	var units int64
	for _, e := range entries {
		orders = append(orders, e.Accepted)
		units += e.Quantity
	}
	var receipts []seckill.Receipt
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		rows, left, err := s.store.Exec(tx,
			"UPDATE stock SET num = LAST_INSERT_ID(num - ?), fence = ? "+
				"WHERE id = ? AND run = ? AND fence <= ? "+
				"AND num - ? >= 0 AND "+s.store.Started(),
			units, b.epoch, b.sku, b.run, b.epoch, units)
		if err != nil {
			return err
		}
		if rows == 0 {
			return errNotAll
		}
		receipts, err = s.store.RecordAll(tx, b.run, left, orders)
		return err
	})
	for i, r := range receipts {
		if err == nil {
			list = append(list, soldTo(entries[i], r))
		}
	}
	return list, err
}

func soldTo(e entry, r seckill.Receipt) decision {
	return decision{e, fmt.Sprint("sold ", r.OrderID, " ", r.Remaining, " ",
		r.Quantity), reply{receipt: r}}
}

// oneByOne finds out which entries stand in the way of a batch.
func (s *redisStream) oneByOne(
	ctx context.Context, b streamBatch, entries []entry,
) (list []decision, err error) {
	for _, e := range entries {
		one, err := s.sell(ctx, b, []entry{e})
		if errors.Is(err, errNotAll) || errors.Is(err, seckill.ErrDuplicate) {
			one, err = s.decide(ctx, b, e)
		}
		if err != nil {
			return list, err
		}
		list = append(list, one...)
	}
	return list, nil
}

// lock takes the row for a writer of b, and makes sleepers stale.
func (s *redisStream) lock(tx *gorm.DB, b streamBatch) error {
	rows, _, err := s.store.Exec(tx, "UPDATE stock SET fence = ? "+
		"WHERE id = ? AND run = ? AND fence <= ?",
		b.epoch, b.sku, b.run, b.epoch)
	if err == nil && rows == 0 {
		err = errStale
	}
	return err
}

// decide says what became of an entry that cannot be sold. It may have been
// written before: by this process, whose COMMIT got no reply, or by one that
// died before it could settle.
func (s *redisStream) decide(
	ctx context.Context, b streamBatch, e entry,
) (list []decision, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		list = nil
		if err := s.lock(tx, b); err != nil {
			return err
		}
		o, why := s.store.WhyNot(tx, b.run, e.Purchase)
		switch name := nameOf(why); {
		case o != nil:
			list = []decision{soldTo(e, o.Receipt())}
		case name != "":
			list = []decision{{e, "refused " + name, reply{err: why}}}
			return s.store.Refuse(tx, b.run, e.Accepted,
				strings.ReplaceAll(name, " ", "_"))
		default:
			return why // nil: try again
		}
		return nil // the refusal holds once the epoch is committed
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// cancelOrder cancels, and gives the units back to the row.
func (s *redisStream) cancelOrder(
	ctx context.Context, b streamBatch, e entry,
) error {
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		if err := s.lock(tx, b); err != nil {
			return err
		}
		o, back, err := s.store.Cancel(tx, e.order)
		if err != nil || !back {
			return err
		}
		return s.store.GiveBack(tx, "UPDATE stock "+
			"SET num = num + ? WHERE id = ? AND run = ?",
			o.Quantity, o.SKUID, o.Run)
	})
}

// The refusals of the database, as Redis remembers them.
var refusals = map[string]error{
	"sold out":    seckill.ErrSoldOut,
	"duplicate":   seckill.ErrDuplicate,
	"not started": seckill.ErrNotStarted,
}

func nameOf(err error) string {
	for name, refusal := range refusals {
		if errors.Is(err, refusal) {
			return name
		}
	}
	return ""
}

func refusedFor(name string) error {
	if err := refusals[name]; err != nil {
		return err
	}
	return fmt.Errorf("%w: refused: %s", seckill.ErrUnknown,
		strconv.Quote(name))
}
