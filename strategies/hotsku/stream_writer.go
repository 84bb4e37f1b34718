package hotsku

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

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

// lead writes for all who wait at d, until t has its answer. It is not done
// when there is nothing to write: another process has the entry.
func (s *redisStream) lead(
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
func (s *redisStream) round(
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
func (s *redisStream) next(
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
func (s *redisStream) meaning(t *ticket, state string) (a reply, known bool) {
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
func (s *redisStream) settle(ctx context.Context, b haul, verdicts []verdict) {
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
func (s *redisStream) overtook(ctx context.Context, d *desk, b haul) error {
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
func (s *redisStream) ofOldSales(
	ctx context.Context, d *desk, run int64,
) map[*ticket]reply {
	answers := map[*ticket]reply{}
	for _, t := range d.before(run) {
		answers[t] = s.ofOldSale(ctx, t)
	}
	return answers
}

func (s *redisStream) ofOldSale(ctx context.Context, t *ticket) reply {
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

// A desk is where the buyers of one SKU wait in this process. One of them
// leads: they write for all until their own order is written, and then pass the
// lead on. A leader who finds nothing to write, as another process has their
// entry, dozes, and who comes meanwhile leads.
type desk struct {
	mu      sync.Mutex
	led     bool
	waiting []*ticket // the leader's, too
	epoch   int64     // the row has seen this one

	users int // guarded by desks.mu
}

// A ticket is what a buyer waits with.
type ticket struct {
	seckill.Purchase
	who    string // the request, or cancellation; "": any progress will do
	run    int64
	rounds int // that it has waited through
	dozes  bool
	news   chan reply
}

type reply struct {
	lead    bool // no answer yet: it is your turn to lead
	receipt seckill.Receipt
	err     error
}

// desks are those at which someone waits.
type desks struct {
	mu   sync.Mutex
	by   map[int64]*desk
	used map[int64]bool // SKUs that the worker has to look at
}

func (d *desks) enter(sku int64) *desk {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.by == nil {
		d.by = map[int64]*desk{}
	}
	if d.by[sku] == nil {
		d.by[sku] = &desk{}
	}
	d.by[sku].users++
	return d.by[sku]
}

func (d *desks) leave(sku int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.by[sku].users--; d.by[sku].users == 0 {
		delete(d.by, sku)
	}
}

// await returns the answer to a ticket. That there is none in time is unknown.
func (s *redisStream) await(ctx context.Context, t *ticket, end time.Time) reply {
	d := s.desks.enter(t.SKU)
	defer s.desks.leave(t.SKU)
	t.news = make(chan reply, 1)
	for lead := d.join(t); ; lead = d.wake(t) {
		if !lead {
			a, err := tap.WaitAtMost(ctx, "the writer of "+streamKey(t.SKU),
				max(0, time.Until(end)), t.news, nil)
			if err != nil {
				return d.leave(t, err)
			}
			if !a.lead {
				return a
			}
		}
		if a, done := s.lead(ctx, d, t, end); done {
			d.pass(t)
			return a
		}
		d.doze(t)
		err := tap.Sleep(ctx, s.deps.Settings.LockPoll)
		if err != nil || t.who == "" {
			return d.leave(t, err)
		}
	}
}

func notWritten(err error) error {
	return fmt.Errorf("%w: accepted, and not written yet: %w",
		seckill.ErrUnknown, err)
}

// join reports whether t has to lead.
func (d *desk) join(t *ticket) (lead bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = append(d.waiting, t)
	lead = !d.led
	d.led = true
	return lead
}

// leave takes back a ticket whose buyer waits no longer. The reply, or the
// lead, may have come at the last moment. Waiters for progress ask again.
func (d *desk) leave(t *ticket, why error) reply {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remove(t)
	select {
	case a := <-t.news:
		if !a.lead {
			return a
		}
		d.led = false
	default:
	}
	d.appoint(func(*ticket) bool { return true })
	if why == nil {
		return reply{}
	}
	return reply{err: notWritten(why)}
}

// pass gives the lead of t to who has waited longest.
func (d *desk) pass(t *ticket) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remove(t)
	d.led = false
	d.appoint(func(*ticket) bool { return true })
}

// doze lets a ticket that came since the last round lead, if there is one.
func (d *desk) doze(t *ticket) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t.dozes, d.led = true, false
	d.appoint(func(o *ticket) bool { return o.rounds == 0 })
}

// wake reports whether t leads again.
func (d *desk) wake(t *ticket) (lead bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t.dozes = false
	if lead = !d.led && len(t.news) == 0; lead {
		d.led = true
	}
	return lead
}

// appoint makes the first who is awake, and fits, the leader if there is none.
func (d *desk) appoint(fits func(*ticket) bool) {
	i := slices.IndexFunc(d.waiting,
		func(t *ticket) bool { return !t.dozes && fits(t) })
	if !d.led && i >= 0 {
		d.led = true
		d.waiting[i].news <- reply{lead: true}
	}
}

func (d *desk) remove(t *ticket) {
	d.waiting = slices.DeleteFunc(d.waiting,
		func(o *ticket) bool { return o == t })
}

// mostAsked bounds how many requests one look asks for.
const mostAsked = 512

// asked are the tickets whose entries other processes may have written: they
// were here before the last round.
func (d *desk) asked() (list []*ticket) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.waiting {
		if t.who != "" && t.rounds > 0 && len(list) < mostAsked {
			list = append(list, t)
		}
		t.rounds++
	}
	return list
}

// before are the tickets of earlier sales.
func (d *desk) before(run int64) (list []*ticket) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.waiting {
		if t.run < run {
			list = append(list, t)
		}
	}
	return list
}

// tell gives tickets their answers, if they still wait.
func (d *desk) tell(answers map[*ticket]reply) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = slices.DeleteFunc(d.waiting, func(t *ticket) bool {
		a, ok := answers[t]
		if ok {
			t.news <- a
		}
		return ok
	})
}

// tellOf answers what the database has decided, and lets those look again who
// wait for any progress.
func (d *desk) tellOf(run int64, verdicts []verdict) {
	by := map[string]reply{"": {}}
	for _, v := range verdicts {
		by[v.who()] = v.reply
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = slices.DeleteFunc(d.waiting, func(t *ticket) bool {
		a, ok := by[t.who]
		if ok = ok && t.run == run; ok {
			t.news <- a
		}
		return ok
	})
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
	ctx context.Context, b haul, entries []entry,
) (list []verdict, err error) {
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

func soldTo(e entry, r seckill.Receipt) verdict {
	return verdict{e, fmt.Sprint("sold ", r.OrderID, " ", r.Remaining, " ",
		r.Quantity), reply{receipt: r}}
}

// oneByOne finds out which entries stand in the way of a batch.
func (s *redisStream) oneByOne(
	ctx context.Context, b haul, entries []entry,
) (list []verdict, err error) {
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
func (s *redisStream) lock(tx *gorm.DB, b haul) error {
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
	ctx context.Context, b haul, e entry,
) (list []verdict, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		list = nil
		if err := s.lock(tx, b); err != nil {
			return err
		}
		o, why := s.store.WhyNot(tx, b.run, e.Purchase)
		switch name := nameOf(why); {
		case o != nil:
			list = []verdict{soldTo(e, o.Receipt())}
		case name != "":
			list = []verdict{{e, "refused " + name, reply{err: why}}}
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
func (s *redisStream) cancelOrder(ctx context.Context, b haul, e entry) error {
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

const (
	// workEvery is how long an entry may lie whose buyer has gone.
	workEvery = time.Second
	// workAgain is when to look again after a buyer who leads: they stop when
	// their own order is written.
	workAgain = 20 * time.Millisecond
	// searchEvery is how often to look for streams of processes that died.
	searchEvery = time.Minute
)

// Work writes entries whose buyers do not wait for them, until ctx ends: those
// of this process, and those that it finds in Redis. What it leaves at the end
// stays in the stream, for others and for the next start.
func (s *redisStream) Work(ctx context.Context) {
	tick, again := time.NewTicker(workEvery), time.NewTimer(0)
	defer tick.Stop()
	defer again.Stop()
	for searched := (time.Time{}); ; {
		if time.Since(searched) > searchEvery {
			searched = time.Now()
			s.search(ctx)
		}
		select {
		case <-ctx.Done():
			s.finish(ctx)
			return
		case <-s.woken:
		case <-again.C:
		case <-tick.C:
		}
		if s.drainAll(ctx) {
			again.Reset(workAgain)
		}
	}
}

// wake has the worker look now.
func (s *redisStream) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// finish writes what this process has accepted last.
func (s *redisStream) finish(ctx context.Context) {
	ctx, cancel := tap.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer cancel()
	s.drainAll(ctx)
}

// noted leaves a SKU to the worker of this process.
func (s *redisStream) noted(sku int64) {
	s.desks.mu.Lock()
	defer s.desks.mu.Unlock()
	if s.desks.used == nil {
		s.desks.used = map[int64]bool{}
	}
	s.desks.used[sku] = true
}

// drainAll visits the SKUs that were noted, and keeps those with entries left.
// led: a buyer of this process is writing for one of them.
func (s *redisStream) drainAll(ctx context.Context) (led bool) {
	s.desks.mu.Lock()
	used := slices.Collect(maps.Keys(s.desks.used))
	clear(s.desks.used)
	s.desks.mu.Unlock()
	for _, sku := range used {
		left, err := s.drain(ctx, sku)
		if left && !errors.Is(err, errForgotten) {
			s.noted(sku)
		}
		switch {
		case errors.Is(err, errLed):
			led = true
		case errors.Is(err, errForeign): // found by a search
		case err != nil && ctx.Err() == nil:
			s.deps.Log.WarnContext(ctx, "entries are not written",
				"sku", sku, "error", err)
		}
	}
	return led
}

// errLed: a buyer of this process leads.
var errLed = errors.New("a buyer writes for all")

// drain writes what can be read, unless a buyer does. left: there is more.
func (s *redisStream) drain(ctx context.Context, sku int64) (left bool, err error) {
	d := s.desks.enter(sku)
	defer s.desks.leave(sku)
	for moved := true; moved; {
		if !d.leadIdle() {
			return true, errLed
		}
		moved, err = s.round(ctx, d, sku)
		d.pass(nil)
		if err != nil {
			return true, err
		}
	}
	n, err := s.redis.XLen(ctx, beside(sku, "orders")).Result()
	return n > 0, err
}

// leadIdle takes the lead at a desk where no buyer has it.
func (d *desk) leadIdle() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	idle := !d.led
	d.led = true
	return idle
}

// search notes every stream that Redis has.
func (s *redisStream) search(ctx context.Context) {
	scan := func(ctx context.Context, c *redis.Client) error {
		keys := c.Scan(ctx, 0, "{seckill:stream:*}:orders", 1000).Iterator()
		for keys.Next(ctx) {
			if sku, ok := skuOf(keys.Val()); ok {
				s.noted(sku)
			}
		}
		return keys.Err()
	}
	var err error
	switch c := s.redis.(type) {
	case *redis.ClusterClient:
		err = c.ForEachMaster(ctx, scan)
	case *redis.Ring:
		err = c.ForEachShard(ctx, scan)
	case *redis.Client:
		err = scan(ctx, c)
	}
	if err != nil && ctx.Err() == nil {
		s.deps.Log.WarnContext(ctx, "look for streams", "error", err)
	}
}

// skuOf reads the name of a stream's key.
func skuOf(key string) (sku int64, ok bool) {
	number, _ := strings.CutPrefix(key, "{seckill:stream:")
	number, ok = strings.CutSuffix(number, "}:orders")
	sku, err := strconv.ParseInt(number, 10, 64)
	return sku, ok && err == nil && key == beside(sku, "orders")
}
