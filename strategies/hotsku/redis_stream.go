package hotsku

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

//go:embed redis_stream.go stream_accept.lua stream_writer.go stream_row.go
//go:embed stream_next.lua stream_settle.lua stream_desk.go stream.go
//go:embed stream_promise.go stream_worker.go stream_cancel.lua
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
			catalog.LateCommand, catalog.TwoFaults, catalog.OtherSKUs,
			catalog.Accepted).
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
		s := &redisStream{stream: newStream(d)}
		s.accept = s.acceptWhole
		return s, nil
	},
}

type redisStream struct {
	*stream
	// accept is the one step in which the broken twin differs.
	accept func(context.Context, seckill.Purchase) (
		state string, run int64, err error)
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
	a := s.await(ctx, &ticket{Purchase: p, who: who(p), run: run}, end)
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
			err = s.await(ctx, &ticket{Purchase: p, run: run}, end).err
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
	t := &ticket{who: "cancel " + o.PublicID, run: o.Run}
	t.SKU = o.SKUID
	return s.await(ctx, t,
		time.Now().Add(s.deps.Settings.LockWait)).err
}
