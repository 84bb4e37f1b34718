package hotsku

import (
	"context"
	"crypto/rand"
	_ "embed"
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

// A stream is where accepted purchases wait for the database, one in each
// SKU. What belongs to it has one hash tag, so that a Cluster keeps it on one
// node: seckill:stream:1 is the number of SKU 1, beside it stand its sale
// ("DATABASE RUN"), what became of each request, the buyers, and the entries.
type stream struct {
	redis    redis.UniversalClient
	store    *ledger.Store
	deps     catalog.Deps
	consumer string // this process, as the group of writers knows it
	desks    desks
	woken    chan struct{} // an entry has no buyer who waits
}

func newStream(d catalog.Deps) *stream {
	return &stream{redis: d.Redis, store: d.Ledger, deps: d,
		consumer: rand.Text(), woken: make(chan struct{}, 1)}
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
func (s *stream) sale(ctx context.Context, run int64) (string, error) {
	id, err := s.store.Identity(ctx)
	return fmt.Sprint(id, " ", run), err
}

// runOf is the run of a sale of this database; 0 if it is not one.
func (s *stream) runOf(ctx context.Context, sale string) (int64, error) {
	id, err := s.store.Identity(ctx)
	if of, text, _ := strings.Cut(sale, " "); err == nil && of == id {
		return strconv.ParseInt(text, 10, 64)
	}
	return 0, err
}

// Reset begins the stream of the sale that the ledger has set: this reset may
// have been overtaken by another. What the old stream still had is dropped:
// those orders would have been of the old sale.
func (s *stream) Reset(ctx context.Context, sku, _ int64) error {
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
func (s *stream) rebuild(ctx context.Context, sku int64) error {
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

func (s *stream) seed(
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
func (s *stream) overtaken(ctx context.Context, sku, run int64) error {
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
func (s *stream) Count(ctx context.Context, sku int64) (int64, error) {
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
func (s *stream) unwritten(
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

func who(p seckill.Purchase) string { return fmt.Sprint(p.User, " ", p.RequestID) }

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
