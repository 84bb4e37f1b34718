package hotsku

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

var (
	streamNext   = backend.Script(files, "stream_next.lua")
	streamSettle = backend.Script(files, "undo.lua", "stream_settle.lua")
)

const (
	// maxEntries bounds the entries that one transaction writes.
	maxEntries = 256
	// settleTimeout bounds the time in which a writer reports its decisions to
	// Redis. The writer reports them even when its buyer has left.
	settleTimeout = 2 * time.Second
)

// A streamBatch has the entries that one round reads and writes. Its epoch is
// a fencing token, which grows when a writer takes over the entries of another
// writer. The stock row keeps the highest epoch in its column fence.
type streamBatch struct {
	sku, run, epoch int64
	entries         []entry
	fresh           bool // true if no earlier round has read the entries
}

// A decision is the database's answer to an entry. The field state has the
// form that stream_settle.lua reads, such as "refused sold_out".
type decision struct {
	entry
	state string
}

// A round reads entries of one SKU and writes their orders. One buyer of this
// process leads the round for all buyers who join before the round begins.
// Later buyers wait for the next round.
type round struct {
	requests []string // the names of the requests that joined
	begun    bool
	done     chan struct{}
	states   map[string]string // maps a request to its state after the round
}

// shareRound leads a round or waits for one that another buyer leads. It
// returns the state of the request after the round, or "" if Redis does not
// know the request.
func (s *redisStream) shareRound(
	ctx context.Context, sku int64, request string, end time.Time,
) (state string, err error) {
	r, previous := s.joinRound(sku, request)
	read := true
	if r == previous {
		err = r.waitUntilDone(ctx, end)
	} else {
		read, err = s.leadRound(ctx, sku, r, previous, end)
	}
	if err == nil || r != previous { // the round is done
		state = r.states[request]
	}
	open := strings.HasPrefix(state, "open")
	switch {
	case state != "" && !open:
		return state, nil
	case err == nil && time.Now().After(end):
		err = errors.New("time is up")
	case err == nil && (open || !read):
		// Another process may be writing the entry. Ask again soon.
		err = tap.Sleep(ctx, s.deps.Settings.LockPoll/4)
	}
	return state, err
}

// joinRound returns a round r that has not begun. It also returns the latest
// round that existed before the call, or nil. If r and latest are the same
// round, another buyer leads r. If not, the caller must wait until latest is
// done, and then lead r.
func (s *redisStream) joinRound(sku int64, request string) (r, latest *round) {
	s.mu.Lock()
	defer s.mu.Unlock()
	latest = s.rounds[sku]
	if r = latest; r == nil || r.begun {
		r = &round{done: make(chan struct{}), states: map[string]string{}}
		s.rounds[sku] = r
	}
	r.requests = append(r.requests, request)
	return r, latest
}

func (r *round) waitUntilDone(ctx context.Context, end time.Time) error {
	_, err := tap.WaitWithin(ctx, "who writes for all",
		max(0, time.Until(end)), r.done, nil)
	return err
}

// leadRound waits for the previous round, if there is one, and then runs the
// round r. After an error it runs the round again at once, because the first
// run may have written orders and lost the reply.
func (s *redisStream) leadRound(
	ctx context.Context, sku int64, r, previous *round, end time.Time,
) (read bool, err error) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.rounds[sku] == r {
			delete(s.rounds, sku)
		}
		close(r.done)
	}()
	if previous != nil {
		if err := previous.waitUntilDone(ctx, end); err != nil {
			return false, err
		}
	}
	s.mu.Lock()
	r.begun = true
	s.mu.Unlock()
	read, err = s.runRound(ctx, sku, r)
	if err != nil && ctx.Err() == nil {
		read, err = s.runRound(ctx, sku, r)
	}
	return read, err
}

// runRound reads entries and writes them. The result read is true if there
// were any entries.
func (s *redisStream) runRound(
	ctx context.Context, sku int64, r *round,
) (read bool, err error) {
	b, err := s.readEntries(ctx, sku, r)
	if err != nil || len(b.entries) == 0 {
		return false, err
	}
	decisions, err := s.decideEntries(ctx, b)
	for _, d := range decisions {
		r.states[d.requestName()] = d.state
	}
	s.settleEntries(ctx, b, decisions)
	if errors.Is(err, errStale) { // Redis has an older run or epoch; update it
		err = s.seedStream(ctx, sku)
	}
	return true, err
}

func (s *redisStream) readEntries(
	ctx context.Context, sku int64, r *round,
) (b streamBatch, err error) {
	args := []any{s.consumer, maxEntries,
		s.deps.Settings.LockLease.Milliseconds()}
	for _, who := range r.requests {
		args = append(args, who)
	}
	answer, err := s.runScript(ctx, streamNext, sku, args...)
	if err != nil {
		return b, err
	}
	found := answer.([]any)
	if found[0] == "" { // no stream, or one for another SQL database
		return b, errForgotten
	}
	b = streamBatch{sku: sku, entries: parseEntries(sku, found[2])}
	b.epoch, _ = found[1].(int64)
	b.fresh = found[4] == int64(1)
	for i, state := range found[3].([]any) {
		r.states[r.requests[i]] = stringOf(state)
	}
	b.run, err = strconv.ParseInt(stringOf(found[0]), 10, 64)
	return b, err
}

// settleEntries tells Redis the decisions, after the COMMIT. If Redis does not
// answer, a later round reads the entries again and finds their orders.
func (s *redisStream) settleEntries(
	ctx context.Context, b streamBatch, decisions []decision,
) {
	if len(decisions) == 0 {
		return
	}
	args := []any{b.run}
	for _, d := range decisions {
		args = append(args, d.id, d.kind, d.User, d.RequestID, d.Quantity,
			d.order, d.state)
	}
	ctx, cancel := tap.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	_, err := s.runScript(ctx, streamSettle, b.sku, args...)
	if err != nil {
		s.deps.Log.WarnContext(ctx, "entries stay open in Redis",
			"sku", b.sku, "entries", len(decisions), "error", err)
	}
}

// decideEntries lets the database accept or refuse every entry of b. An entry
// without a decision stays in the stream, and a later round reads it again.
func (s *redisStream) decideEntries(
	ctx context.Context, b streamBatch,
) (list []decision, err error) {
	var buys []entry
	for _, e := range b.entries {
		switch {
		case e.run != b.run:
			list = append(list, decision{e, "over"})
		case e.kind == "buy":
			buys = append(buys, e)
		default:
			state, err := s.cancelOrder(ctx, b, e)
			if err != nil {
				return list, err
			}
			list = append(list, decision{e, state})
		}
	}
	if len(buys) == 0 {
		return list, nil
	}
	sold, err := s.sellEntries(ctx, b, buys)
	return append(list, sold...), err
}

var (
	errNotAll = fmt.Errorf("%w: not all can be written", seckill.ErrConflict)
	// errStale means a newer run or epoch in the row than in the batch.
	errStale = fmt.Errorf("%w: another writes now", seckill.ErrConflict)
)

// sellEntries writes the orders of all entries in one transaction if it can.
// If not, it uses a transaction for each entry. The stock row decides whether
// there are enough units, whether the run is the same, and whether the sale
// has started. Its column fence has the highest epoch so far. If this epoch is
// higher than the epoch of b, nothing is written: another writer may have
// taken over the entries while this writer was paused. Several writers may
// have the same entry. The first order or refusal of an entry is final.
func (s *redisStream) sellEntries(
	ctx context.Context, b streamBatch, entries []entry,
) (list []decision, err error) {
	var orders []*ledger.Entry
	var units int64
	if !b.fresh && len(entries) > 1 {
		return s.sellSingly(ctx, b, entries)
	}
	for _, e := range entries {
		orders = append(orders, &ledger.Entry{Purchase: e.Purchase,
			Receipt: seckill.Receipt{Strategy: e.strategy}})
		units += e.Quantity
	}
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
		early, err := s.wasRefused(tx, b, entries[0])
		if err != nil || early {
			return cmp.Or(err, errNotAll)
		}
		ok, err := s.store.PlaceAll(tx, b.run, left+units, orders)
		if err == nil && !ok {
			err = errNotAll
		}
		return err
	})
	switch {
	case err == nil:
		for i, o := range orders {
			list = append(list, decision{entries[i], soldState(o.Receipt)})
		}
		return list, nil
	case !errors.Is(err, errNotAll):
		return nil, err
	case len(entries) == 1:
		return s.explainEntry(ctx, b, entries[0])
	}
	return s.sellSingly(ctx, b, entries)
}

func (s *redisStream) sellSingly(
	ctx context.Context, b streamBatch, entries []entry,
) (list []decision, err error) {
	for i := range entries {
		one, err := s.sellEntries(ctx, b, entries[i:i+1])
		list = append(list, one...)
		if err != nil {
			return list, err
		}
	}
	return list, nil
}

func soldState(r seckill.Receipt) string {
	return fmt.Sprint("sold ", r.OrderID, " ", r.Remaining, " ", r.Quantity)
}

// withFence runs f in a transaction that first raises the stock row's fence to
// the epoch of b. From then on, writers with a lower epoch get errStale.
func (s *redisStream) withFence(
	ctx context.Context, b streamBatch, f func(tx *gorm.DB) error,
) error {
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		rows, _, err := s.store.Exec(tx, "UPDATE stock SET fence = ? "+
			"WHERE id = ? AND run = ? AND fence <= ?",
			b.epoch, b.sku, b.run, b.epoch)
		if err != nil {
			return err
		}
		if rows == 0 {
			return errStale
		}
		return f(tx)
	})
}

// explainEntry decides an entry that sellEntries could not sell. Perhaps a
// process has already written the order, but got no reply to its COMMIT and
// told Redis nothing. If the entry can be sold now, the result list is empty.
func (s *redisStream) explainEntry(
	ctx context.Context, b streamBatch, e entry,
) (list []decision, err error) {
	err = s.withFence(ctx, b, func(tx *gorm.DB) error {
		list = nil
		o, code, err := s.findObstacle(tx, b, e)
		switch {
		case err != nil || o == nil && code == "":
			return err
		case o == nil:
			list = []decision{{e, "refused " + code}}
			refused := e.Purchase
			if code == "not_started" {
				// Keep the request's own id free for another try.
				refused.RequestID = e.refusalID()
			}
			return s.store.Refuse(tx, ledger.Refusal{Purchase: refused,
				Run: b.run, Strategy: e.strategy, Reason: code})
		case o.Status == ledger.Refused:
			list = []decision{{e, "refused " + o.Reason}}
		case o.Strategy != e.strategy:
			// Another strategy has sold for the same request id.
			list = []decision{{e, "refused duplicate"}}
		default:
			list = []decision{{e, soldState(o.Receipt())}}
		}
		return nil // withFence now commits, so the decision is valid
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// refusalID returns the request id under which a refusal is stored if the sale
// has not started. The request's own id stays free, so the buyer can send the
// request again. The returned id contains a blank, so no real request has it.
func (e entry) refusalID() string { return "entry " + e.id }

// wasRefused reports whether an entry was refused because the sale had not
// started (see refusalID). tx must have locked the stock row.
func (s *redisStream) wasRefused(
	tx *gorm.DB, b streamBatch, e entry,
) (refused bool, err error) {
	if b.fresh {
		return false, nil
	}
	err = s.store.ReadIn(tx, &refused, "SELECT EXISTS (SELECT 1 FROM orders "+
		"WHERE request_id = ? AND user_id = ? AND sku_id = ? AND run = ?)",
		e.refusalID(), e.User, e.SKU, b.run)
	return refused, err
}

// findObstacle finds out why a purchase cannot be sold. It returns the order,
// if another process has written one, or the code of a refusal. If it returns
// neither, the obstacle has disappeared meanwhile. tx must have locked the
// stock row.
func (s *redisStream) findObstacle(
	tx *gorm.DB, b streamBatch, e entry,
) (o *ledger.Order, code string, err error) {
	o = &ledger.Order{}
	err = s.store.ReadIn(tx, o, "SELECT * FROM orders "+
		"WHERE request_id IN (?, ?) AND user_id = ? AND sku_id = ? "+
		"AND run = ?", e.RequestID, e.refusalID(), e.User, e.SKU, b.run)
	if !errors.Is(err, ledger.ErrNoRow) {
		return o, "", err
	}
	var now struct {
		Num            int64
		Started, Holds bool
	}
	err = s.store.ReadIn(tx, &now, "SELECT num, "+
		s.store.Started()+" AS started, EXISTS (SELECT 1 FROM orders o "+
		"WHERE o.sku_id = stock.id AND o.run = stock.run "+
		"AND o.user_id = ? AND o.status = ?) AS holds "+
		"FROM stock WHERE id = ?", e.User, ledger.Active, e.SKU)
	switch {
	case now.Holds:
		code = "duplicate"
	case !now.Started:
		code = "not_started"
	case now.Num < e.Quantity:
		code = "sold_out"
	}
	return nil, code, err
}

func (s *redisStream) cancelOrder(
	ctx context.Context, b streamBatch, e entry,
) (state string, err error) {
	err = s.withFence(ctx, b, func(tx *gorm.DB) error {
		o, back, err := s.store.Cancel(tx, e.order)
		if err != nil || !back {
			return err
		}
		return s.store.ReturnUnits(tx, o)
	})
	if errors.Is(err, seckill.ErrUnknownOrder) {
		// The database was restored from a backup that lacks the order.
		return "refused unknown_order", nil
	}
	return "done", err
}

// refusals maps the names of refusals, in Redis and in the ledger, to errors.
var refusals = map[string]error{
	"sold_out":    seckill.ErrSoldOut,
	"duplicate":   seckill.ErrDuplicate,
	"not_started": seckill.ErrNotStarted,
}

func refusalError(code string) error {
	if err := refusals[code]; err != nil {
		return err
	}
	return fmt.Errorf("%w: refused: %q", seckill.ErrUnknown, code)
}

const (
	// workInterval is the pause between two passes of Work.
	workInterval = 20 * time.Millisecond
	// workRetryInterval is the pause after a pass with an error.
	workRetryInterval = time.Second
	// searchInterval is the time between two searches of all SKUs for entries
	// that a dead process has left.
	searchInterval = time.Minute
)

// Work writes entries to the database for which no buyer waits. Any process
// may have added them. When ctx ends, the entries that are left stay in the
// stream, for other processes and for the next start.
func (s *redisStream) Work(ctx context.Context) {
	failing := false
	for searched := (time.Time{}); ctx.Err() == nil; {
		if time.Since(searched) > searchInterval {
			searched = time.Now()
			all, _ := s.store.SKUs(ctx, 0) // after an error, search later
			for _, sku := range all {
				s.leaveToWorker(sku.ID)
			}
		}
		s.mu.Lock()
		left := s.forWorker
		s.forWorker = map[int64]bool{}
		s.mu.Unlock()
		var err error
		for sku := range left {
			err = errors.Join(err, s.writeSome(ctx, sku))
		}
		pause := workInterval
		if err != nil {
			pause = workRetryInterval
			if !failing && ctx.Err() == nil { // log the first failure only
				s.deps.Log.WarnContext(ctx, "entries are not written",
					"error", err)
			}
		}
		failing = err != nil
		_ = tap.Sleep(ctx, pause) // the loop's condition checks ctx
	}
}

func (s *redisStream) leaveToWorker(sku int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forWorker[sku] = true
}

// writeSome leads one round of a SKU, or waits for one. If the stream still
// has entries afterwards, writeSome leaves the SKU to the worker's next pass.
func (s *redisStream) writeSome(ctx context.Context, sku int64) error {
	_, err := s.shareRound(ctx, sku, "", time.Now().Add(time.Minute))
	if errors.Is(err, errForgotten) {
		return nil
	}
	left, failed := s.redis.XLen(ctx, entriesKey(sku)).Result()
	if err = errors.Join(err, failed); err != nil || left > 0 {
		s.leaveToWorker(sku)
	}
	return err
}
