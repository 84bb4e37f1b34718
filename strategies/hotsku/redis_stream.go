package hotsku

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

//go:embed redis_stream.go stream_accept.lua stream_writer.go
//go:embed stream_waiters.go stream_worker.go
//go:embed stream_next.lua stream_settle.lua stream_cancel.lua
//go:embed stream_seed.lua stream_count.lua
//go:embed redis_stream.en.md redis_stream.zh.md
var redisStreamFiles embed.FS

//go:embed stream_accept.lua
var streamAcceptLua string

//go:embed stream_cancel.lua
var streamCancelLua string

var (
	streamAccept = redis.NewScript(streamAcceptLua)
	streamCancel = redis.NewScript(streamCancelLua)
)

// RedisStream accepts in Redis, and writes what it has accepted in batches.
var RedisStream = catalog.Info{
	Name:   "redis-stream",
	Title:  "Accept in Redis, write in batches",
	Family: "hotsku",
	Source: "common practice: deduct in Redis, a queue, orders by consumers",
	Idea: "One Lua script takes the units and appends the purchase to a " +
		"stream. Consumers write the orders in batches; the stock row " +
		"decides, and entries are acknowledged after the COMMIT.",
	Promises: "Never oversells and never loses an update, whatever happens " +
		"to Redis: the row decides. What Redis keeps is written.",
	Breaks: "Nothing breaks the stock; a Redis that loses its last second, " +
		"or fails over, forgets purchases that it has accepted.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LeaseEnd, catalog.LostReply,
			catalog.LateCommand, catalog.TwoFaults, catalog.OtherSKUs).
		Breaks(catalog.NodeLoss),
	Needs: []backend.Capability{backend.SQL, backend.Redis},
	Stock: ledger.InStream,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer waits for the order to be written"},
		{Flag: "--lock-lease",
			Doc: "after this the entries of a dead consumer are taken over"},
		{Flag: "--lock-poll",
			Doc: "how often to ask for an order that another process writes"}},
	Files:   redisStreamFiles,
	Accepts: true,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return newRedisStream(d), nil
	},
}

// A redisStream has accepted purchases wait for the database, in a stream for
// each SKU. What belongs to it has one hash tag, so that a Cluster keeps it on
// one node: seckill:stream:1 is the number of SKU 1, beside it stand its sale
// ("DATABASE RUN"), what became of each request, the buyers, and the entries.
type redisStream struct {
	redis    redis.UniversalClient
	store    *ledger.Store
	deps     catalog.Deps
	consumer string // this process, as the group of writers knows it
	waiting  waitersBySKU
	woken    chan struct{} // an entry has no buyer who waits
	// accept is the one step in which the broken twin differs.
	accept func(context.Context, seckill.Purchase) (
		state string, run int64, err error)
}

func newRedisStream(d catalog.Deps) *redisStream {
	s := &redisStream{redis: d.Redis, store: d.Ledger, deps: d,
		consumer: rand.Text(), woken: make(chan struct{}, 1)}
	s.accept = s.acceptWhole
	return s
}

// Deduct accepts in Redis, and waits until the order is in the database.
func (s *redisStream) Deduct(
	ctx context.Context, p seckill.Purchase,
) (seckill.Receipt, error) {
	end := time.Now().Add(s.deps.Settings.LockWait)
	_, written, run, err := s.admit(ctx, p, end)
	if written { // a copy: the ledger has its answer
		err = seckill.ErrDuplicate
	}
	if err != nil {
		return seckill.Receipt{}, err
	}
	a := s.await(ctx, &waiter{Purchase: p, who: who(p), run: run}, end)
	return a.receipt, a.err
}

// admit returns when p is accepted: its entry is in the stream, or was before.
// written: it has become an order already. A buyer whose answer depends on open
// entries helps to write them first.
func (s *redisStream) admit(
	ctx context.Context, p seckill.Purchase, end time.Time,
) (r seckill.Receipt, written bool, run int64, err error) {
	for {
		state, run, err := s.accept(ctx, p)
		if err != nil {
			return r, false, 0, answered(err)
		}
		switch word, rest, _ := strings.Cut(state, " "); word {
		case "accepted":
			s.noted(p.SKU)
			return r, false, run, nil
		case "open":
			if rest != strconv.FormatInt(p.Quantity, 10) {
				return r, false, 0, seckill.ErrMismatch
			}
			s.noted(p.SKU)
			return r, false, run, nil
		case "seen":
			return r, false, 0, seckill.ErrDuplicate
		case "refused":
			return r, false, 0, refusedFor(rest)
		case "foreign":
			return r, false, 0, foreignStream(p.SKU)
		case "missing":
			err = s.rebuild(ctx, p.SKU)
		case "undecided":
			err = s.await(ctx, &waiter{Purchase: p, run: run}, end).err
		default: // "sold out"; or "sold …", as the copy of a sold request
			if rest == "out" {
				return r, false, 0, seckill.ErrSoldOut
			}
			r, err := s.receiptOf(p, rest)
			return r, true, run, err
		}
		if errors.Is(err, seckill.ErrUnknown) || time.Now().After(end) {
			return r, false, 0, fmt.Errorf("%w: purchases before this one "+
				"are not written yet", seckill.ErrBusy)
		}
		if err != nil {
			return r, false, 0, err
		}
	}
}

// acceptWhole takes the units and appends the entry in one script.
func (s *redisStream) acceptWhole(
	ctx context.Context, p seckill.Purchase,
) (state string, run int64, err error) {
	id, err := s.store.Identity(ctx)
	if err != nil {
		return "", 0, err
	}
	return stateOf(streamAccept.Run(ctx, s.redis, keysOf(p.SKU),
		p.Quantity, p.User, p.RequestID, id, s.store.Strategy()))
}

func stateOf(c *redis.Cmd) (state string, run int64, err error) {
	answer, err := c.StringSlice()
	if err != nil {
		return "", 0, err
	}
	if answer[1] != "" {
		run, err = strconv.ParseInt(answer[1], 10, 64)
	}
	return answer[0], run, err
}

// Restore appends the cancellation to the same stream: the database cancels,
// and then the units come back in Redis: once, also after a death in between.
func (s *redisStream) Restore(ctx context.Context, orderID string) error {
	o, err := s.store.Order(ctx, orderID)
	if err != nil {
		return err
	}
	sale, err := s.sale(ctx, o.Run)
	if err != nil {
		return err
	}
	for range 2 {
		state, err := streamCancel.Run(ctx, s.redis, keysOf(o.SKUID), sale,
			o.UserID, o.RequestID, o.Quantity, o.PublicID,
			o.Status == ledger.Active, o.Run).Text()
		switch {
		case err != nil:
			return answered(err)
		case state == "done":
			return nil
		case state == "over":
			return seckill.ErrUnknownOrder // the sale was reset meanwhile
		case state == "open":
			return s.cancelled(ctx, o)
		}
		if err := s.rebuild(ctx, o.SKUID); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: Redis loses what it is told",
		seckill.ErrUnavailable)
}

// cancelled waits until the cancellation of o is in the database.
func (s *redisStream) cancelled(ctx context.Context, o ledger.Order) error {
	s.noted(o.SKUID)
	w := &waiter{who: "cancel " + o.PublicID, run: o.Run}
	w.SKU = o.SKUID
	return s.await(ctx, w,
		time.Now().Add(s.deps.Settings.LockWait)).err
}

func streamKey(sku int64) string { return fmt.Sprint("seckill:stream:", sku) }

func beside(sku int64, what string) string {
	return "{" + streamKey(sku) + "}:" + what
}

// keysOf is what most scripts are given.
func keysOf(sku int64) []string {
	return []string{streamKey(sku), beside(sku, "run"),
		beside(sku, "requests"), beside(sku, "buyers"),
		beside(sku, "orders"), beside(sku, "open")}
}

//go:embed stream_seed.lua
var streamSeedLua string

//go:embed stream_count.lua
var streamCountLua string

var (
	streamSeed  = redis.NewScript(streamSeedLua)
	streamCount = redis.NewScript(streamCountLua)
)

// sale names a run as the number's companion does.
func (s *redisStream) sale(ctx context.Context, run int64) (string, error) {
	id, err := s.store.Identity(ctx)
	return fmt.Sprint(id, " ", run), err
}

// runOf is the run of a sale of this database; 0 if it is not one.
func (s *redisStream) runOf(ctx context.Context, sale string) (int64, error) {
	id, err := s.store.Identity(ctx)
	if of, text, _ := strings.Cut(sale, " "); err == nil && of == id {
		return strconv.ParseInt(text, 10, 64)
	}
	return 0, err
}

// Reset begins the stream of the sale that the ledger has set: this reset may
// have been overtaken by another. What the old stream still had is dropped:
// those orders would have been of the old sale.
func (s *redisStream) Reset(ctx context.Context, sku, _ int64) error {
	var set struct{ Initial, Run int64 }
	err := s.store.Read(ctx, &set,
		"SELECT initial, run FROM stock WHERE id = ?", sku)
	if err != nil {
		return err
	}
	return s.seed(ctx, sku, set.Initial, set.Run, false)
}

// rebuild makes a stream that Redis has lost from the row. What had been
// accepted and was not written is forgotten; the database decides about buyers
// whom Redis does not remember.
func (s *redisStream) rebuild(ctx context.Context, sku int64) error {
	var now struct{ Num, Run int64 }
	err := s.store.Read(ctx, &now,
		"SELECT num, run FROM stock WHERE id = ?", sku)
	if err != nil {
		return err
	}
	if err := s.seed(ctx, sku, now.Num, now.Run, true); err != nil {
		return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	}
	return nil
}

func (s *redisStream) seed(
	ctx context.Context, sku, stock, run int64, onlyMissing bool,
) error {
	id, err := s.store.Identity(ctx)
	if err != nil {
		return err
	}
	set, err := streamSeed.Run(ctx, s.redis,
		append(keysOf(sku), beside(sku, "epoch"), beside(sku, "runs")),
		stock, id, run, onlyMissing).Int64()
	if err == nil && set < 0 {
		return s.overtaken(ctx, sku, run)
	}
	return answered(err)
}

// overtaken: Redis has seen a newer run. So has the ledger, or its database
// was set back to an older state.
func (s *redisStream) overtaken(ctx context.Context, sku, run int64) error {
	var now int64
	err := s.store.Read(ctx, &now, "SELECT run FROM stock WHERE id = ?", sku)
	if err != nil || now > run {
		return err
	}
	return fmt.Errorf("%w: Redis has sold a newer run than %d: if the "+
		"database was restored, delete %s and reset the sale",
		seckill.ErrUnavailable, run, beside(sku, "runs"))
}

func foreignStream(sku int64) error {
	return fmt.Errorf("%w: %s was set for another database: reset the sale",
		seckill.ErrUnavailable, streamKey(sku))
}

// Count is what the number says is left, and with it what the entries that
// are not written yet come to: a purchase that has no order still has its
// units, a cancellation that the database has done has not brought them back.
func (s *redisStream) Count(ctx context.Context, sku int64) (int64, error) {
	found, err := streamCount.Run(ctx, s.redis, []string{streamKey(sku),
		beside(sku, "run"), beside(sku, "orders")}).Slice()
	if err != nil {
		return 0, answered(err)
	}
	var current int64
	err = s.store.Read(ctx, &current,
		"SELECT run FROM stock WHERE id = ?", sku)
	if err != nil {
		return 0, err
	}
	run, err := s.runOf(ctx, text(found[1]))
	if err != nil {
		return 0, err
	}
	if run != current {
		return 0, fmt.Errorf("%w: %s was not set for run %d",
			seckill.ErrUnknownSKU, streamKey(sku), current)
	}
	left, err := strconv.ParseInt(text(found[0]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %s holds %q", seckill.ErrUnknownSKU,
			streamKey(sku), found[0])
	}
	back, err := s.unwritten(ctx, sku, run, entriesOf(sku, found[2]))
	return left + back, err
}

// unwritten are the units of entries that the row has and the number has not.
func (s *redisStream) unwritten(
	ctx context.Context, sku, run int64, entries []entry,
) (units int64, err error) {
	if len(entries) == 0 {
		return 0, nil
	}
	var requests []string
	for _, e := range entries {
		requests = append(requests, e.RequestID)
	}
	var orders []ledger.Order
	err = s.store.Read(ctx, &orders, "SELECT user_id, request_id, status "+
		"FROM orders WHERE sku_id = ? AND run = ? AND request_id IN ?",
		sku, run, requests)
	if err != nil && !errors.Is(err, seckill.ErrUnknownSKU) { // that is: none
		return 0, err
	}
	status := map[string]string{}
	for _, o := range orders {
		status[fmt.Sprint(o.UserID, " ", o.RequestID)] = o.Status
	}
	for _, e := range entries {
		wanted := "" // a purchase without an order
		if e.kind == "cancel" {
			wanted = ledger.Cancelled
		}
		if e.run == run && status[who(e.Purchase)] == wanted {
			units += e.Quantity
		}
	}
	return units, nil
}

// An entry of the stream: a purchase, or the cancellation of its order.
type entry struct {
	ledger.Accepted
	id, kind string
	order    string // of a cancellation
	run      int64  // of the sale that accepted it
}

// who is the request, or the cancellation, as the scripts know it.
func (e entry) who() string {
	if e.kind == "cancel" {
		return "cancel " + e.order
	}
	return who(e.Purchase)
}

func who(p seckill.Purchase) string {
	return fmt.Sprint(p.User, " ", p.RequestID)
}

// entriesOf reads what a script says of entries: id and fields, each.
func entriesOf(sku int64, found any) (list []entry) {
	rows, _ := found.([]any)
	for _, row := range rows {
		parts, _ := row.([]any)
		if len(parts) < 2 {
			continue
		}
		fields, _ := parts[1].([]any)
		of := map[string]string{}
		for i := 0; i+1 < len(fields); i += 2 {
			of[text(fields[i])] = text(fields[i+1])
		}
		e := entry{id: text(parts[0]), kind: of["kind"], order: of["order"]}
		e.SKU, e.RequestID, e.Strategy = sku, of["request"], of["strategy"]
		e.User, _ = strconv.ParseInt(of["user"], 10, 64)
		e.Quantity, _ = strconv.ParseInt(of["quantity"], 10, 64)
		e.run, _ = strconv.ParseInt(of["run"], 10, 64)
		list = append(list, e)
	}
	return list
}

func text(v any) string {
	t, _ := v.(string)
	return t
}

// A process that leaves has so long to say what it has done.
const afterwards = 2 * time.Second

// answered classifies the error of a command that changes something in Redis.
// Where Redis was not reached, or says that it refuses, nothing was changed;
// any other failure may have come after the change.
func answered(err error) error {
	var refused redis.Error
	var network *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, redis.ErrPoolTimeout):
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	case errors.As(err, &refused), errors.Is(err, backend.ErrKilled),
		errors.As(err, &network) && network.Op == "dial":
		return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: no answer from Redis: %w", seckill.ErrUnknown, err)
}

// Accept answers as soon as the entry is in the stream: the worker of this
// process writes the order, or any other consumer if this one dies.
func (s *redisStream) Accept(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, written bool, err error) {
	end := time.Now().Add(s.deps.Settings.LockWait)
	r, written, _, err = s.admit(ctx, p, end)
	if err == nil && !written {
		s.wake()
	}
	return r, written, err
}

// Became asks the streams, and then the refusals of the ledger: Redis may have
// lost what it remembered.
func (s *redisStream) Became(
	ctx context.Context, sku, user int64, requestID string,
) error {
	err := s.remembered(ctx, sku, user, requestID)
	if !errors.Is(err, seckill.ErrUnknownOrder) &&
		!errors.Is(err, seckill.ErrUnavailable) {
		return err
	}
	name, found := s.store.Refused(ctx, sku, user, requestID)
	switch {
	case found == nil:
		return refusedFor(strings.ReplaceAll(name, "_", " "))
	case !errors.Is(found, seckill.ErrUnknownOrder):
		return found
	}
	return err
}

// remembered is what Redis says of a request.
func (s *redisStream) remembered(
	ctx context.Context, sku, user int64, requestID string,
) error {
	skus := []int64{sku}
	for after := int64(0); ; {
		if sku == 0 {
			page, err := s.store.SKUs(ctx, after, mostAsked)
			if err != nil {
				return err
			}
			skus = skus[:0]
			for _, one := range page {
				skus = append(skus, one.ID)
				after = one.ID
			}
		}
		err := s.rememberedOf(ctx, skus, fmt.Sprint(user, " ", requestID))
		if !errors.Is(err, seckill.ErrUnknownOrder) || len(skus) < mostAsked {
			return err
		}
	}
}

func (s *redisStream) rememberedOf(
	ctx context.Context, skus []int64, who string,
) error {
	states, sales := make([]*redis.StringCmd, len(skus)),
		make([]*redis.StringCmd, len(skus))
	_, _ = s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, sku := range skus {
			states[i] = p.HGet(ctx, beside(sku, "requests"), who)
			sales[i] = p.Get(ctx, beside(sku, "run"))
		}
		return nil
	})
	lost := seckill.ErrUnknownOrder // if no SKU knows the request
	for i := range skus {
		// On a Cluster a shard of some SKUs may be down while others answer.
		for _, err := range []error{states[i].Err(), sales[i].Err()} {
			if err != nil && !errors.Is(err, redis.Nil) {
				lost = fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
			}
		}
		run, err := s.runOf(ctx, sales[i].Val())
		if err != nil {
			return err
		}
		word, rest, _ := strings.Cut(states[i].Val(), " ")
		switch {
		case run == 0 || word == "": // another database's, or nothing
		case word == "open":
			return seckill.ErrPending
		case word == "sold":
			return nil
		case word == "refused":
			return refusedFor(rest)
		}
	}
	return lost
}
