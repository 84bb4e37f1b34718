package hotsku

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

var (
	streamAccept = backend.Script(files, "undo.lua", "stream_accept.lua")
	streamCancel = backend.Script(files, "undo.lua", "stream_cancel.lua")
	streamSeed   = backend.Script(files, "stream_seed.lua")
	streamCount  = backend.Script(files, "stream_count.lua")
)

// RedisStream accepts purchases in Redis, and writes their orders in batches.
// If Redis loses the writes of its last second, it forgets purchases that it
// has accepted.
var RedisStream = family.Strategy(catalog.Info{
	Name:   "redis-stream",
	Source: "common practice: deduct in Redis, a queue, orders by consumers",
	Guarantees: catalog.Robust.
		Breaks(catalog.NodeLoss),
	Needs:  []backend.Capability{backend.SQL, backend.Redis},
	Redis:  []string{"GET", "HGET", "XLEN"},
	Stock:  seckill.InStream,
	Stored: catalog.Stored{Entries: entriesKey},
	Also: []string{
		"stream_accept.lua", "stream_writer.go", "stream_next.lua",
		"stream_settle.lua", "stream_cancel.lua", "undo.lua",
		"stream_seed.lua", "stream_count.lua"},
	Accepts: true,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return newRedisStream(d), nil
	},
})

// A redisStream keeps accepted purchases in a stream for each SKU, until they
// are in the database. For SKU 1, the key seckill:stream:1 has the number of
// units left. Other keys have the sale of this number ("DATABASE RUN"), the
// state of each request, the buyers, and the stream. All keys of a SKU have
// the same hash tag, so that Redis Cluster keeps them on one node.
type redisStream struct {
	redis    redis.UniversalClient
	store    *ledger.Store
	deps     catalog.Deps
	consumer string // the name of this process in the group of writers

	mu        sync.Mutex
	rounds    map[int64]*round // the latest round of each SKU: see shareRound
	forWorker map[int64]bool   // SKUs whose entries the worker must write

	// accept takes the units and writes an entry to the stream. It is
	// acceptWhole here, and acceptInTwoCalls in redis-stream-two-calls.
	accept func(context.Context, seckill.Purchase) (state string, err error)
}

func newRedisStream(d catalog.Deps) *redisStream {
	s := &redisStream{redis: d.Redis, store: d.Ledger, deps: d,
		consumer: rand.Text(), rounds: map[int64]*round{},
		forWorker: map[int64]bool{}}
	s.accept = s.acceptWhole
	return s
}

// Deduct accepts the purchase in Redis, and then waits until the order is in
// the database.
func (s *redisStream) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	sold, accepted, err := s.askRedis(ctx, p, true)
	if err == nil && !accepted {
		// The same request was sent before and has bought, so it has an order.
		err = seckill.ErrDuplicate
	}
	if err != nil {
		return r, err
	}
	return s.parseReceipt(p, sold)
}

// Accept answers as soon as the entry is in the stream. The worker of this
// process writes the order later. If this process dies, another process's
// worker writes the order.
func (s *redisStream) Accept(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, written bool, err error) {
	sold, accepted, err := s.askRedis(ctx, p, false)
	if err != nil || accepted {
		return r, false, err
	}
	r, err = s.parseReceipt(p, sold)
	return r, true, err
}

// askRedis sends p to Redis until p is sold, refused or accepted. If p is
// sold, the result sold has the fields of the receipt. If accepted is true,
// Redis has accepted p, and p had no order before this call. If waits is true,
// askRedis also waits for the order of p, and helps to write such orders.
func (s *redisStream) askRedis(
	ctx context.Context, p seckill.Purchase, waits bool,
) (sold string, accepted bool, err error) {
	end := time.Now().Add(s.deps.Settings.LockWait)
	state, err := s.accept(ctx, p)
	for err == nil {
		word, rest, _ := strings.Cut(state, " ")
		state = ""
		switch word {
		case "accepted", "open":
			if word == "open" && rest != fmt.Sprint(p.Quantity) {
				return "", false, seckill.ErrMismatch
			}
			accepted = true
			if !waits {
				s.leaveToWorker(p.SKU)
				return "", true, nil
			}
			state, err = s.shareRound(ctx, p.SKU, requestName(p), end)
		case "undecided":
			_, err = s.shareRound(ctx, p.SKU, "", end)
			if err != nil {
				// Redis has not accepted p, so only other purchases can be
				// unknown: %v hides ErrUnknown from errors.Is.
				err = fmt.Errorf("%w: purchases before this one are not "+
					"written yet: %v", seckill.ErrBusy, err)
			}
		case "missing":
			err = s.seedStream(ctx, p.SKU)
			if errors.Is(err, seckill.ErrUnknown) {
				err = fmt.Errorf("%w: %v", seckill.ErrUnavailable, err)
			}
		case "foreign":
			err = fmt.Errorf("%w: %s was set for another database: reset "+
				"the sale", seckill.ErrUnavailable, streamKey(p.SKU))
		case "seen":
			err = seckill.ErrDuplicate
		case "refused":
			return "", accepted, refusalError(rest)
		case "sold":
			if rest != "out" {
				return rest, accepted, nil
			}
			err = seckill.ErrSoldOut
		}
		if err == nil && state == "" {
			state, err = s.accept(ctx, p)
		}
	}
	if accepted { // a worker may still write the order, even after an error
		s.leaveToWorker(p.SKU)
		err = acceptedUnwritten(err)
	}
	return "", accepted, err
}

// acceptWhole takes the units and appends the entry in one script.
func (s *redisStream) acceptWhole(
	ctx context.Context, p seckill.Purchase,
) (state string, err error) {
	answer, err := s.runScript(ctx, streamAccept, p.SKU,
		p.Quantity, p.User, p.RequestID, s.store.Strategy())
	return stringOf(answer), err
}

var errForgotten = errors.New("it is forgotten by Redis, which had accepted it")

func acceptedUnwritten(err error) error {
	return fmt.Errorf("%w: accepted, and not written yet: %w",
		seckill.ErrUnknown, err)
}

func (s *redisStream) parseReceipt(
	p seckill.Purchase, sold string,
) (r seckill.Receipt, err error) {
	r = seckill.Receipt{SKU: p.SKU, Strategy: s.store.Strategy()}
	n, _ := fmt.Sscan(sold, &r.OrderID, &r.Remaining, &r.Quantity)
	switch {
	case n != 3:
		return r, acceptedUnwritten(errForgotten)
	case r.Quantity != p.Quantity:
		return r, seckill.ErrMismatch
	}
	return r, nil
}

// Restore appends the cancellation to the stream of the purchases. A writer
// cancels the order in the database, and then returns the units in Redis. If
// the writer dies in between, another writer repeats both steps. A step that
// is repeated changes nothing, so the units are given back only once.
func (s *redisStream) Restore(ctx context.Context, orderID string) error {
	end := time.Now().Add(s.deps.Settings.LockWait)
	for accepted := false; ; {
		var answer any
		o, err := s.store.Order(ctx, orderID)
		if err == nil {
			answer, err = s.runScript(ctx, streamCancel, o.SKUID, o.Run,
				o.UserID, o.RequestID, o.Quantity, orderID,
				o.Status == ledger.Active)
		}
		state := stringOf(answer)
		switch state {
		case "missing":
			err = s.seedStream(ctx, o.SKUID)
		case "over": // the sale was reset, so the order is gone
			err = seckill.ErrUnknownOrder
		case "open":
			accepted = true
			s.leaveToWorker(o.SKUID)
			state, err = s.shareRound(ctx, o.SKUID, "cancel "+orderID, end)
		}
		switch {
		case err != nil && accepted && !errors.Is(err, seckill.ErrUnknownOrder):
			return acceptedUnwritten(err)
		case err != nil || state == "done":
			return err
		}
	}
}

func streamKey(sku int64) string { return fmt.Sprint("seckill:stream:", sku) }

// entriesKey returns the key of the stream with the open entries.
func entriesKey(sku int64) string { return companionKey(sku, "orders") }

func companionKey(sku int64, what string) string {
	return "{" + streamKey(sku) + "}:" + what
}

func scriptKeys(sku int64) []string {
	return []string{streamKey(sku), companionKey(sku, "run"),
		companionKey(sku, "requests"), companionKey(sku, "buyers"),
		entriesKey(sku), companionKey(sku, "open"),
		companionKey(sku, "epoch")}
}

func (s *redisStream) runScript(
	ctx context.Context, script *redis.Script, sku int64, args ...any,
) (answer any, err error) {
	id, err := s.store.Identity(ctx)
	if err != nil {
		return nil, err
	}
	answer, err = script.Run(ctx, s.redis, scriptKeys(sku),
		append([]any{id}, args...)...).Result()
	return answer, backend.RedisError(err)
}

// Reset begins a new stream for the sale in the ledger. It ignores the
// argument stock, because a later reset may have changed the ledger. The
// entries of the old stream belong to the old sale, and are dropped.
func (s *redisStream) Reset(ctx context.Context, sku, _ int64) error {
	return s.seedStream(ctx, sku)
}

// seedStream makes the stream for the ledger's run from the stock row, if
// Redis has lost the stream or has an older one. The new stream is empty. So
// accepted purchases without an order are lost, and only the database can
// refuse a user's second order.
func (s *redisStream) seedStream(ctx context.Context, sku int64) error {
	for range 2 { // try again if a reset has changed the row meanwhile
		var row struct{ Num, Run, Fence int64 }
		err := s.store.Read(ctx, &row,
			"SELECT num, run, fence FROM stock WHERE id = ?", sku)
		if err != nil {
			return err
		}
		set, err := s.runScript(ctx, streamSeed, sku,
			row.Num, row.Run, row.Fence)
		if err != nil || set != int64(-1) {
			return err
		}
	}
	return fmt.Errorf("%w: Redis has sold a newer run than the database "+
		"has: if that was restored, delete %s and reset the sale",
		seckill.ErrUnavailable, companionKey(sku, "run"))
}

// Count returns the units left. To the number in Redis it adds the units of
// two kinds of entries: purchases that have no order yet, and cancellations
// that are in the database but not yet in Redis.
func (s *redisStream) Count(ctx context.Context, sku int64) (int64, error) {
	answer, err := s.runScript(ctx, streamCount, sku)
	if err != nil {
		return 0, err
	}
	found := answer.([]any)
	var run int64
	err = s.store.Read(ctx, &run, "SELECT run FROM stock WHERE id = ?", sku)
	if err != nil {
		return 0, err
	}
	left, err := strconv.ParseInt(stringOf(found[0]), 10, 64)
	if err != nil || stringOf(found[1]) != fmt.Sprint(run) {
		return 0, fmt.Errorf("%w: %s was not set for run %d",
			seckill.ErrUnknownSKU, streamKey(sku), run)
	}
	entries := parseEntries(sku, found[2])
	var requests []string
	for _, e := range entries {
		requests = append(requests, e.RequestID)
	}
	status := map[string]string{}
	for some := range slices.Chunk(requests, maxEntries) {
		var orders []ledger.Order
		err := s.store.Read(ctx, &orders, "SELECT * FROM orders "+
			"WHERE request_id IN ? AND sku_id = ? AND run = ?", some, sku, run)
		if err != nil && !errors.Is(err, ledger.ErrNoRow) {
			return 0, err
		}
		for _, o := range orders {
			status[fmt.Sprint(o.UserID, " ", o.RequestID)] = o.Status
		}
	}
	for _, e := range entries {
		is := status[fmt.Sprint(e.User, " ", e.RequestID)]
		if e.run == run && (e.kind == "buy" && is == "" ||
			e.kind == "cancel" && is == ledger.Cancelled) {
			left += e.Quantity
		}
	}
	return left, nil
}

// An entry of the stream is a purchase, or the cancellation of an order.
type entry struct {
	seckill.Purchase
	strategy string // the strategy that accepted the entry
	id, kind string
	order    string // the order to cancel, or ""
	run      int64  // the run in which the entry was accepted
}

func (e entry) requestName() string {
	if e.kind == "cancel" {
		return "cancel " + e.order
	}
	return requestName(e.Purchase)
}

func requestName(p seckill.Purchase) string {
	return fmt.Sprint(p.User, " ", p.RequestID)
}

// parseEntries parses a script's list of entries. Each entry has an id and a
// list of fields with their values.
func parseEntries(sku int64, found any) []entry {
	var list []entry
	rows, _ := found.([]any)
	for _, row := range rows {
		parts, _ := row.([]any)
		if len(parts) < 2 {
			continue
		}
		fields, _ := parts[1].([]any)
		of := map[string]string{}
		for i := 0; i+1 < len(fields); i += 2 {
			of[stringOf(fields[i])] = stringOf(fields[i+1])
		}
		e := entry{id: stringOf(parts[0]), kind: of["kind"], order: of["order"]}
		e.SKU, e.RequestID, e.strategy = sku, of["request"], of["strategy"]
		e.User, _ = strconv.ParseInt(of["user"], 10, 64)
		e.Quantity, _ = strconv.ParseInt(of["quantity"], 10, 64)
		e.run, _ = strconv.ParseInt(of["run"], 10, 64)
		list = append(list, e)
	}
	return list
}

func stringOf(v any) string {
	t, _ := v.(string)
	return t
}

// Became returns nil if the request is sold according to Redis, and an error
// for any other state. A request that Redis has lost does no harm: the service
// reads the ledger first, which keeps all orders and final refusals.
func (s *redisStream) Became(
	ctx context.Context, sku, user int64, requestID string,
) error {
	state, err := s.findState(ctx, sku, fmt.Sprint(user, " ", requestID))
	switch word, rest, _ := strings.Cut(state, " "); {
	case word == "open":
		return seckill.ErrPending
	case word == "sold":
		return nil
	case word == "refused":
		return refusalError(rest)
	case err != nil:
		return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	}
	return seckill.ErrUnknownOrder
}

// findState returns the state of a request in Redis. It asks for one SKU, or
// for all SKUs if sku is 0. If no SKU has the request, findState returns the
// error of a Redis server that did not answer, if any.
func (s *redisStream) findState(
	ctx context.Context, sku int64, request string,
) (state string, failed error) {
	id, err := s.store.Identity(ctx)
	if err != nil {
		return "", err
	}
	var all []struct{ ID, Run int64 }
	err = s.store.Read(ctx, &all,
		"SELECT id, run FROM stock WHERE id = ? OR ? = 0", sku, sku)
	if err != nil && !errors.Is(err, ledger.ErrNoRow) {
		return "", err
	}
	for _, row := range all {
		sale, err := s.redis.Get(ctx, companionKey(row.ID, "run")).Result()
		if err == nil && sale == fmt.Sprint(id, " ", row.Run) {
			state, err = s.redis.HGet(ctx, companionKey(row.ID, "requests"),
				request).Result()
		}
		if err != nil && !errors.Is(err, redis.Nil) {
			failed = err // this shard is down, but others may answer
		}
		if state != "" {
			return state, nil
		}
	}
	return "", failed
}
