package guards

import (
	"context"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/strategies/hotsku"
)

// A late payment and a sweeper find the same reservation overdue, and each gives
// its units back.
var deadlines = []catalog.Info{
	reserving("deadline", func(c clerk) releaser { return &trusting{c} }),
	reserving("deadline-read-again", func(c clerk) releaser { return &asking{c} }),
	reserving("deadline-in-transaction", func(c clerk) releaser { return &askingInside{c} }),
	reserving("deadline-for-update", func(c clerk) releaser { return &lockingState{c} }, backend.RowLocks),
	reserving("deadline-condition", func(c clerk) releaser { return &deciding{c} }),
}

// A releaser gives the units of an overdue reservation back.
type releaser interface {
	release(ctx context.Context, o ledger.Order) error
}

// reserving is hotsku.Reserve with another way to let a reservation expire.
func reserving(name string, use func(clerk) releaser, needs ...backend.Capability) catalog.Info {
	i := variant(name, nil, needs...)
	i.Reserves = true
	i.New = func(d catalog.Deps) (seckill.Strategy, error) {
		inner, err := hotsku.Reserve.New(d)
		if err != nil {
			return nil, err
		}
		return &desk{Strategy: inner, Reserver: inner.(seckill.Reserver), store: d.Ledger, releaser: use(clerk{d.Ledger})}, nil
	}
	return i
}

type desk struct {
	seckill.Strategy
	seckill.Reserver
	store *ledger.Store
	releaser
}

// Pay pays in time, or gives the units back.
func (s *desk) Pay(ctx context.Context, id string) (r seckill.Reservation, err error) {
	o, err := s.store.Reservation(ctx, id)
	if err != nil {
		return r, err
	}
	paid, err := s.store.Write(ctx, "UPDATE reservations SET state = 'paid' "+
		"WHERE sku_id = ? AND run = ? AND id = ? AND state = 'reserved' AND ends_at > UTC_TIMESTAMP(6)", o.SKUID, o.Run, o.ID)
	if err != nil || paid == 1 {
		return o.Held(), err
	}
	if o, err = s.store.Reservation(ctx, id); err == nil && o.Reservation.State == seckill.Reserved {
		err = s.release(ctx, o)
	}
	if err != nil {
		return r, err
	}
	return o.Held(), seckill.ErrExpired
}

// Expire is a sweep.
func (s *desk) Expire(ctx context.Context) (released int, err error) {
	var due []ledger.Order
	err = s.store.DB(ctx).Raw("SELECT r.sku_id, r.run, r.id, r.quantity, o.public_id FROM reservations r "+
		"JOIN orders o ON o.sku_id = r.sku_id AND o.run = r.run AND o.id = r.id "+
		"WHERE r.strategy = ? AND r.state = 'reserved' AND r.ends_at <= UTC_TIMESTAMP(6)", s.store.Strategy()).Scan(&due).Error
	for _, o := range due {
		if err == nil {
			err = s.release(ctx, o)
			released++
		}
	}
	return released, err
}

type clerk struct{ store *ledger.Store }

// giveBack ends the order and returns its units.
func (s *clerk) giveBack(tx *gorm.DB, o ledger.Order) error {
	_, _, err := s.store.Exec(tx, "UPDATE orders SET status = ? WHERE sku_id = ? AND run = ? AND id = ?", ledger.Expired, o.SKUID, o.Run, o.ID)
	if err != nil {
		return err
	}
	return s.store.GiveBack(tx, "UPDATE stock SET num = num + ? WHERE id = ? AND run = ?", o.Quantity, o.SKUID, o.Run)
}

// trusting gives back what a SELECT found overdue.
type trusting struct{ clerk }

func (s *trusting) release(ctx context.Context, o ledger.Order) error {
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		_, _, err := s.store.Exec(tx, "UPDATE reservations "+
			"SET state = 'expired', released = released + quantity "+
			"WHERE sku_id = ? AND run = ? AND id = ?",
			o.SKUID, o.Run, o.ID)
		if err != nil {
			return err
		}
		return s.giveBack(tx, o)
	})
}

// asking reads the state once more before it begins.
type asking struct{ clerk }

func (s *asking) release(ctx context.Context, o ledger.Order) error {
	now, err := s.store.Reservation(ctx, o.PublicID)
	if err != nil || now.Reservation.State != seckill.Reserved {
		return err
	}
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		_, _, err := s.store.Exec(tx, "UPDATE reservations "+
			"SET state = 'expired', released = released + quantity "+
			"WHERE sku_id = ? AND run = ? AND id = ?",
			o.SKUID, o.Run, o.ID)
		if err != nil {
			return err
		}
		return s.giveBack(tx, o)
	})
}

// askingInside reads it in the transaction that gives back.
type askingInside struct{ clerk }

func (s *askingInside) release(ctx context.Context, o ledger.Order) error {
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		var state string
		err := s.store.ReadIn(tx, &state, "SELECT state FROM reservations "+
			"WHERE sku_id = ? AND run = ? AND id = ?",
			o.SKUID, o.Run, o.ID)
		if err != nil || state != string(seckill.Reserved) {
			return err
		}
		_, _, err = s.store.Exec(tx, "UPDATE reservations "+
			"SET state = 'expired', released = released + quantity "+
			"WHERE sku_id = ? AND run = ? AND id = ?",
			o.SKUID, o.Run, o.ID)
		if err != nil {
			return err
		}
		return s.giveBack(tx, o)
	})
}

// lockingState reads it there under the row's lock.
type lockingState struct{ clerk }

func (s *lockingState) release(ctx context.Context, o ledger.Order) error {
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		var state string
		err := s.store.ReadIn(tx, &state, "SELECT state FROM reservations "+
			"WHERE sku_id = ? AND run = ? AND id = ? FOR UPDATE",
			o.SKUID, o.Run, o.ID)
		if err != nil || state != string(seckill.Reserved) {
			return err
		}
		_, _, err = s.store.Exec(tx, "UPDATE reservations "+
			"SET state = 'expired', released = released + quantity "+
			"WHERE sku_id = ? AND run = ? AND id = ?",
			o.SKUID, o.Run, o.ID)
		if err != nil {
			return err
		}
		return s.giveBack(tx, o)
	})
}

// deciding has the UPDATE itself decide who gives back.
type deciding struct{ clerk }

func (s *deciding) release(ctx context.Context, o ledger.Order) error {
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		rows, _, err := s.store.Exec(tx, "UPDATE reservations "+
			"SET state = 'expired', released = released + quantity "+
			"WHERE sku_id = ? AND run = ? AND id = ? "+
			"AND state = 'reserved'",
			o.SKUID, o.Run, o.ID)
		if err != nil || rows == 0 {
			return err
		}
		return s.giveBack(tx, o)
	})
}
