package hotsku

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

//go:embed jetstream.go jetstream_gate.go
//go:embed jetstream.en.md jetstream.zh.md
var jetstreamFiles embed.FS

// JetStream lets as many purchases to the row as there are units.
var JetStream = catalog.Info{
	Name:   "jetstream",
	Title:  "A stream that takes no more than the stock",
	Family: "hotsku",
	Source: "NATS JetStream: MaxMsgsPerSubject, DiscardNewPerSubject",
	Idea: "A purchase publishes a message under its request's id to a " +
		"subject that keeps as many messages as there are units. Those who " +
		"get in buy from the row; a buyer refused there deletes the message.",
	Promises: "Never oversells and never loses an update, whatever happens " +
		"to NATS: the row decides.",
	Breaks: "Nothing breaks the stock; while NATS is down no one can buy, " +
		"and what it forgets lets buyers through whom the row refuses.",
	Guarantees: catalog.Sound.
		Holds(catalog.SoldOut, catalog.DeadHolder, catalog.LeaseEnd,
			catalog.Clocks, catalog.LostReply, catalog.LateCommand,
			catalog.TwoFaults, catalog.OtherSKUs),
	Needs:   []backend.Capability{backend.SQL, backend.JetStream},
	Stock:   ledger.InRow,
	Options: jetOptions,
	Files:   jetstreamFiles,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return newJetStream(d), nil
	},
}

var jetOptions = []catalog.Option{
	{Flag: "--lock-wait", Doc: "how long a buyer waits while the stream is " +
		"full and the row has units"},
	{Flag: "--lock-lease", Doc: "after this a message without an order is " +
		"taken for one that was left behind, and deleted"},
	{Flag: "--lock-poll", Doc: "how long a waiting buyer pauses between two " +
		"attempts"}}

type jetstream struct{ *jetGate }

func newJetStream(d catalog.Deps) *jetstream {
	return &jetstream{newJetGate(d)}
}

// Deduct: a process may die at three points. After the message and before the
// COMMIT, the message is left behind, and deleted a lease later. After the
// COMMIT, the order is there for those who ask. And NATS may forget messages
// that it has acknowledged: more buyers than units come to the row then.
func (s *jetstream) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	place, err := s.enter(ctx, p)
	if err != nil {
		return r, err
	}
	r, err = s.sell(ctx, p, place.run)
	switch {
	case err == nil:
		return r, nil
	case seckill.NothingTaken(err):
		s.leave(ctx, place)
		return seckill.Receipt{}, s.copied(ctx, p, place, err)
	}
	return s.lookUp(ctx, p, place.run, err)
}

// copied tells the copy of a request that was sold before the rest was.
func (s *jetstream) copied(
	ctx context.Context, p seckill.Purchase, place jetPlace, why error,
) error {
	if !place.Duplicate || !errors.Is(why, seckill.ErrSoldOut) {
		return why
	}
	_, err := s.store.RequestedOf(ctx, p.SKU, p.User, p.RequestID)
	if err == nil {
		return seckill.ErrDuplicate
	}
	return why
}

// sell buys from the row: it has the last word.
func (s *jetstream) sell(
	ctx context.Context, p seckill.Purchase, run int64,
) (r seckill.Receipt, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) (err error) {
		left, err := s.take(tx, p, run)
		if err == nil {
			r, err = s.store.Record(tx, p, run, left)
		}
		return err
	})
	return r, err
}

func (s *jetGate) take(
	tx *gorm.DB, p seckill.Purchase, run int64,
) (left int64, err error) {
	rows, left, err := s.store.Exec(tx,
		"UPDATE stock SET num = LAST_INSERT_ID(num - ?) "+
			"WHERE id = ? AND run = ? AND num - ? >= 0",
		p.Quantity, p.SKU, run, p.Quantity)
	if err != nil || rows > 0 {
		return left, err
	}
	var current int64
	err = s.store.ReadIn(tx, &current,
		"SELECT run FROM stock WHERE id = ?", p.SKU)
	switch {
	case err != nil:
		return 0, err
	case current != run:
		s.sales.forget(p.SKU, run)
		return 0, fmt.Errorf("%w: the sale was reset meanwhile",
			seckill.ErrConflict)
	}
	return 0, seckill.ErrSoldOut
}

// lookUp asks what became of a COMMIT without an answer. If the order is not
// there it may still come, and its message stays.
func (s *jetGate) lookUp(
	ctx context.Context, p seckill.Purchase, run int64, unknown error,
) (seckill.Receipt, error) {
	asking, cancel := jetAfter(ctx)
	defer cancel()
	o, err := s.store.RequestedOf(asking, p.SKU, p.User, p.RequestID)
	if err != nil || o.Run != run || o.Status != ledger.Active {
		return seckill.Receipt{}, unknown
	}
	return o.Receipt(), nil
}

// enter publishes p's message. A full subject does not say sold out: messages
// may be of purchases that will be refused, or were left behind. The row says
// it. Errors mean that the row was not touched, so nothing was taken.
func (s *jetGate) enter(
	ctx context.Context, p seckill.Purchase,
) (place jetPlace, err error) {
	end := time.Now().Add(s.deps.Settings.LockWait)
	for lost := 0; ; {
		sale, err := s.sale(ctx, p.SKU)
		if err != nil {
			return place, err
		}
		ack, err := s.nats.Publish(ctx, sale.subject(), jetID(p),
			jetClaimOf(p, s.deps.Now()))
		switch {
		case err == nil:
			return jetPlace{sale, ack}, nil
		case errors.Is(err, backend.ErrNoStream) && lost < mostLost:
			lost++
			s.sales.forget(p.SKU, sale.run)
			err = s.make(ctx, p.SKU)
		case errors.Is(err, backend.ErrStreamFull):
			err = s.queue(ctx, p, sale, end)
		default:
			err = jetDown(err)
		}
		if err != nil {
			return place, err
		}
	}
}

// mostLost bounds how often a purchase makes a stream that is not there.
const mostLost = 3

// queue returns when it is worth another attempt at a full subject.
func (s *jetGate) queue(
	ctx context.Context, p seckill.Purchase, sale jetSale, end time.Time,
) error {
	run, err := s.store.Look(ctx, p)
	if err != nil {
		return err // sold out, by the row's word
	}
	if run != sale.run {
		s.sales.forget(p.SKU, sale.run)
		return nil
	}
	freed, err := s.tidy(ctx, sale)
	if err != nil || freed {
		return err
	}
	left := time.Until(end)
	if left <= 0 {
		return fmt.Errorf("%w: purchases before this one are open",
			seckill.ErrBusy)
	}
	err = tap.Sleep(ctx, min(s.deps.Settings.LockPoll, left))
	if err != nil {
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	}
	return nil
}

// Restore cancels in the database, and then deletes the order's message. If
// that fails, the message is found later: it has no active order.
func (s *jetGate) Restore(ctx context.Context, orderID string) error {
	var o ledger.Order
	var back bool
	err := s.store.Tx(ctx, func(tx *gorm.DB) (err error) {
		o, back, err = s.store.Cancel(tx, orderID)
		if err != nil || !back {
			return err
		}
		return s.store.GiveBack(tx, "UPDATE stock "+
			"SET num = num + ? WHERE id = ? AND run = ?",
			o.Quantity, o.SKUID, o.Run)
	})
	if err != nil || !back {
		return err
	}
	s.remove(ctx, o)
	return nil
}
