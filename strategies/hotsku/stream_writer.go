package hotsku

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

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

// lead writes for all who wait at d, until t has its answer. It is not done
// when there is nothing to write: another process has the entry.
func (s *stream) lead(
	ctx context.Context, d *desk, t *ticket, end time.Time,
) (a reply, done bool) {
	for failed := 0; ; {
		moved, err := s.round(ctx, d, t.SKU)
		select {
		case a := <-t.news:
			return a, true
		default:
		}
		switch {
		case err != nil && failed == 0 && ctx.Err() == nil:
			failed++ // a lost reply is looked up at once
		case err != nil:
			return reply{err: notWritten(err)}, true
		case time.Now().After(end):
			return reply{err: notWritten(errors.New("time is up"))}, true
		case !moved:
			return a, false
		case t.who == "":
			return a, true // they ask Redis again
		}
	}
}

// A haul is what one round reads and writes.
type haul struct {
	sku, run, epoch int64
	sale            string
	entries         []entry
}

// A verdict is what the database says of an entry.
type verdict struct {
	entry
	state string // as Redis remembers it
	reply
}

// round reads entries, writes them, and tells those who wait for them. moved
// means that something was told or written.
func (s *stream) round(
	ctx context.Context, d *desk, sku int64,
) (moved bool, err error) {
	b, told, err := s.next(ctx, d, sku)
	if err != nil || len(b.entries) == 0 {
		return told, err
	}
	verdicts, err := s.write(ctx, b)
	s.settle(ctx, b, verdicts)
	d.tellOf(b.run, verdicts)
	if errors.Is(err, errStale) {
		return true, s.overtook(ctx, d, b)
	}
	return true, err
}

// next reads what is to be written, and tells those whose entries other
// processes have written.
func (s *stream) next(
	ctx context.Context, d *desk, sku int64,
) (b haul, told bool, err error) {
	id, err := s.store.Identity(ctx)
	if err != nil {
		return b, false, err
	}
	asked := d.asked()
	args := []any{s.consumer, mostEntries,
		s.deps.Settings.LockLease.Milliseconds(), d.epoch, id}
	for _, t := range asked {
		args = append(args, t.who)
	}
	found, err := streamNext.Run(ctx, s.redis, []string{
		beside(sku, "orders"), beside(sku, "run"), beside(sku, "requests"),
		beside(sku, "epoch")}, args...).Slice()
	if err != nil {
		return b, false, answered(err)
	}
	b = haul{sku: sku, sale: text(found[0]), entries: entriesOf(sku, found[2])}
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
	answers := s.ofOldSales(ctx, d, b.run)
	states, _ := found[3].([]any)
	for i, t := range asked {
		if a, known := s.meaning(t, text(states[i])); known && t.run == b.run {
			answers[t] = a
		}
	}
	d.tell(answers)
	return b, len(answers) > 0, nil
}

var (
	errForgotten = errors.New("what Redis had accepted is forgotten")
	errForeign   = fmt.Errorf("%w: the stream is another database's",
		errForgotten)
)

// meaning is what Redis remembers of a request; false: it is open.
func (s *stream) meaning(t *ticket, state string) (a reply, known bool) {
	word, rest, _ := strings.Cut(state, " ")
	switch word {
	case "open":
		return a, false
	case "done":
		return a, true
	case "refused":
		return reply{err: refusedFor(rest)}, true
	case "sold":
		a.receipt, a.err = s.receiptOf(t.Purchase, rest)
		return a, true
	}
	return reply{err: notWritten(errForgotten)}, true
}

// receiptOf reads what Redis remembers of a sold request.
func (s *stream) receiptOf(
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
func (s *stream) write(
	ctx context.Context, b haul,
) (list []verdict, err error) {
	var buys []entry
	for _, e := range b.entries {
		switch {
		case e.run != b.run:
			list = append(list, verdict{entry: e, state: "over"})
		case e.kind == "buy":
			buys = append(buys, e)
		default:
			if err := s.cancelOrder(ctx, b, e); err != nil {
				return list, err
			}
			list = append(list, verdict{entry: e, state: "done"})
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
func (s *stream) settle(ctx context.Context, b haul, verdicts []verdict) {
	if len(verdicts) == 0 {
		return
	}
	args := []any{b.sale}
	for _, v := range verdicts {
		args = append(args, v.id, v.kind, v.User, v.RequestID, v.Quantity,
			v.order, v.state)
	}
	ctx, cancel := tap.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer cancel()
	err := streamSettle.Run(ctx, s.redis, keysOf(b.sku), args...).Err()
	if err != nil {
		s.deps.Log.WarnContext(ctx, "entries stay open in Redis",
			"sku", b.sku, "entries", len(verdicts), "error", err)
	}
}

// overtook finds out by what b was: by a reset, or by a writer who took over.
func (s *stream) overtook(ctx context.Context, d *desk, b haul) error {
	var row struct{ Run, Fence int64 }
	err := s.store.Read(ctx, &row,
		"SELECT run, fence FROM stock WHERE id = ?", b.sku)
	if err != nil {
		return err
	}
	if row.Run == b.run {
		d.epoch = row.Fence
		return nil
	}
	d.tell(s.ofOldSales(ctx, d, row.Run))
	return nil
}

// ofOldSales answers the tickets of sales that are over: no order of those can
// be written any more.
func (s *stream) ofOldSales(
	ctx context.Context, d *desk, run int64,
) map[*ticket]reply {
	answers := map[*ticket]reply{}
	for _, t := range d.before(run) {
		answers[t] = s.ofOldSale(ctx, t)
	}
	return answers
}

func (s *stream) ofOldSale(ctx context.Context, t *ticket) reply {
	switch {
	case t.who == "":
		return reply{} // they ask Redis again
	case t.who != who(t.Purchase):
		return reply{err: seckill.ErrUnknownOrder} // a cancellation
	}
	o, err := s.store.RequestedIn(ctx, t.run, t.Purchase)
	switch {
	case err == nil:
		return reply{receipt: o.Receipt()}
	case errors.Is(err, seckill.ErrUnknownOrder):
		return reply{err: fmt.Errorf("%w: the sale was reset meanwhile",
			seckill.ErrConflict)}
	}
	return reply{err: notWritten(err)}
}
