package hotsku

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

//go:embed half_open.lua
var halfOpenLua string

//go:embed half_commit.lua
var halfCommitLua string

//go:embed half_look.lua
var halfLookLua string

var (
	halfOpen   = redis.NewScript(halfOpenLua)
	halfCommit = redis.NewScript(halfCommitLua)
	halfLook   = redis.NewScript(halfLookLua)
)

// A half is the name of half a message: the row of stock_details that its
// transaction writes. That of a cancellation has the order's id.
type half struct{ run, epoch, unit int64 }

const cancellation = 0 // as epoch

func (h half) String() string {
	return fmt.Sprint(h.run, " ", h.epoch, " ", h.unit)
}

func parseHalf(text string) (h half, err error) {
	_, err = fmt.Sscan(text, &h.run, &h.epoch, &h.unit)
	return h, err
}

// A message that no consumer has acknowledged.
type message struct {
	id string
	of half
}

func brokerKeys(sku int64) []string { return counterKeys(sku)[2:] }

func (s *halfMessage) openHalf(ctx context.Context, sku int64, h half) error {
	return halfOpen.Run(ctx, s.redis, brokerKeys(sku), h.String()).Err()
}

// commit sends the other half. If it is lost, the broker asks back.
func (s *halfMessage) commit(ctx context.Context, sku int64, h half) {
	ctx, cancel := tap.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer cancel()
	err := halfCommit.Run(ctx, s.redis, brokerKeys(sku), h.String()).Err()
	if err != nil {
		s.deps.Log.WarnContext(ctx, "a message waits for a check-back",
			"sku", sku, "message", h.String(), "error", err)
	}
}

const (
	mostMessages = 500 // of one transaction
	everyMessage = 1_000_000_000
)

// lookAt reads the half messages of an age, and so many messages.
func (s *halfMessage) lookAt(
	ctx context.Context, sku int64, age time.Duration, most int,
) (halves []half, messages []message, err error) {
	found, err := halfLook.Run(ctx, s.redis, brokerKeys(sku),
		age.Milliseconds(), most).Slice()
	if err != nil {
		return nil, nil, answered(err)
	}
	ids, _ := found[0].([]any)
	for _, id := range ids {
		h, err := parseHalf(text(id))
		if err != nil {
			return nil, nil, err
		}
		halves = append(halves, h)
	}
	rows, _ := found[1].([]any)
	for _, row := range rows {
		parts, _ := row.([]any)
		fields, _ := parts[1].([]any)
		h, err := parseHalf(text(fields[1]))
		if err != nil {
			return nil, nil, err
		}
		messages = append(messages, message{text(parts[0]), h})
	}
	return halves, messages, nil
}

// A halfAnswer is what the broker is told.
type halfAnswer string

const (
	committed  halfAnswer = "committed"
	rolledBack halfAnswer = "rolled back"
	notKnown   halfAnswer = "unknown" // it asks again
)

// decideSale answers for a sale by writing its row. If the row is there, the sale
// is committed: the unique key waits for a transaction that is still open. If it
// is not, it is now, and the sale can never be committed any more, however
// late it comes.
func (s *halfMessage) decideSale(
	ctx context.Context, sku int64, h half,
) (halfAnswer, error) {
	_, err := s.store.Write(ctx, "INSERT INTO stock_details "+
		"(sku_id, run, epoch, unit, change_by, merged) "+
		"VALUES (?, ?, ?, ?, 0, 1)", sku, h.run, h.epoch, h.unit)
	var e *mysql.MySQLError
	if errors.As(err, &e) && e.Number == mysqlDuplicate {
		return committed, nil
	}
	return rolledBack, err
}

// checkBack asks about one half message, and does as it is told.
func (s *halfMessage) checkBack(
	ctx context.Context, sku, run int64, h half,
) error {
	answer, err := rolledBack, error(nil)
	switch {
	case h.run != run: // that sale is over
	case h.epoch == cancellation:
		answer, err = s.cancelledYet(ctx, sku, h)
	default:
		answer, err = s.ask(ctx, sku, h)
	}
	switch {
	case err != nil:
		return err
	case answer == committed:
		err = halfCommit.Run(ctx, s.redis, brokerKeys(sku), h.String()).Err()
	case answer == rolledBack:
		err = s.redis.HDel(ctx, brokerKeys(sku)[0], h.String()).Err()
	}
	return answered(err)
}

// cancelledYet waits for a cancellation that is open. An order that is active may
// still be cancelled: then the broker asks again.
func (s *halfMessage) cancelledYet(
	ctx context.Context, sku int64, h half,
) (halfAnswer, error) {
	var status string
	err := s.store.Read(ctx, &status, "SELECT status FROM orders WHERE "+
		"sku_id = ? AND run = ? AND id = ? LOCK IN SHARE MODE",
		sku, h.run, h.unit)
	if err == nil && status == ledger.Cancelled {
		return committed, nil
	}
	return notKnown, err
}

// Settle asks back about every half message, and consumes every message.
func (s *halfMessage) Settle(ctx context.Context, sku int64) error {
	return s.settle(ctx, sku, s.settles)
}

func (s *halfMessage) settle(
	ctx context.Context, sku int64, age time.Duration,
) error {
	var run int64
	err := s.store.Read(ctx, &run, "SELECT run FROM stock WHERE id = ?", sku)
	if err != nil {
		return err
	}
	halves, messages, err := s.lookAt(ctx, sku, age, mostMessages)
	if err != nil {
		return err
	}
	for _, h := range halves {
		if err := s.checkBack(ctx, sku, run, h); err != nil {
			return err
		}
	}
	for asked := len(halves) > 0; asked || len(messages) > 0; asked = false {
		if err := s.consume(ctx, sku, run, messages); err != nil {
			return err
		}
		_, messages, err = s.lookAt(ctx, sku, age, mostMessages)
		if err != nil {
			return err
		}
	}
	return nil
}

// consume lets the stock row follow by what messages are about, and acknowledges
// them after the COMMIT. One that comes twice finds its row marked.
func (s *halfMessage) consume(
	ctx context.Context, sku, run int64, messages []message,
) error {
	if len(messages) == 0 {
		return nil
	}
	var ids []string
	units := map[int64][]int64{} // by epoch
	for _, m := range messages {
		ids = append(ids, m.id)
		if m.of.run == run {
			units[m.of.epoch] = append(units[m.of.epoch], m.of.unit)
		}
	}
	err := s.apart.Tx(ctx, func(tx *gorm.DB) error {
		for epoch, units := range units {
			if err := s.followUnits(tx, sku, run, epoch, units); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return answered(s.redis.XDel(ctx, brokerKeys(sku)[1], ids...).Err())
}

func (s *halfMessage) followUnits(
	tx *gorm.DB, sku, run, epoch int64, units []int64,
) error {
	var list []detail
	err := tx.Raw("SELECT run, epoch, unit, change_by FROM stock_details "+
		"FORCE INDEX (PRIMARY) WHERE sku_id = ? AND run = ? AND epoch = ? "+
		"AND unit IN ? AND merged = 0 ORDER BY unit FOR UPDATE",
		sku, run, epoch, units).Scan(&list).Error
	if err != nil || len(list) == 0 {
		return err
	}
	if err := s.mark(tx, sku, list); err != nil {
		return err
	}
	return s.follow(tx, sku, list)
}

// Work asks back and consumes until ctx ends, and then once more. What it does
// not reach stays in Redis.
func (s *halfMessage) Work(ctx context.Context) {
	s.work(ctx, func(ctx context.Context, sku int64) error {
		err := s.settle(ctx, sku, s.deps.Settings.LockLease)
		if err != nil && !errors.Is(err, seckill.ErrUnknownSKU) {
			return err
		}
		n, err := s.redis.HLen(ctx, brokerKeys(sku)[0]).Result()
		if err == nil && n > 0 {
			s.noted(sku) // too young to be asked about
		}
		return err
	})
}
