package explore_test

import (
	"context"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/strategies/hotsku"
)

// atOne has actors meet at one reservation.
func atOne(name string, does ...explore.Does) *explore.Scenario {
	s := &explore.Scenario{Name: name, Stock: 3, Next: true}
	for i, d := range does {
		b := explore.Buyer{Name: string(rune('A' + i)), Process: i, Quantity: 2, Does: d}
		if i > 0 {
			b.Same = "A"
		}
		s.Buyers = append(s.Buyers, b)
	}
	return s
}

// reserving is reserve with a careless call.
func reserving(careless func(*clerk)) catalog.Info {
	i := hotsku.Reserve
	build := i.New
	i.New = func(d catalog.Deps) (seckill.Strategy, error) {
		inner, err := build(d)
		c := &clerk{Strategy: inner, Reserver: inner.(seckill.Reserver), store: d.Ledger}
		careless(c)
		return c, err
	}
	return i
}

type clerk struct {
	seckill.Strategy
	seckill.Reserver
	store        *ledger.Store
	pay, release func(context.Context, string) (seckill.Reservation, error)
}

func (c *clerk) Pay(ctx context.Context, id string) (seckill.Reservation, error) {
	if c.pay != nil {
		return c.pay(ctx, id)
	}
	return c.Reserver.Pay(ctx, id)
}

func (c *clerk) Release(ctx context.Context, id string) (seckill.Reservation, error) {
	if c.release != nil {
		return c.release(ctx, id)
	}
	return c.Reserver.Release(ctx, id)
}

// paysAnyway does not ask whether the reservation is still there to be paid, and
// paysReserved not for its deadline.
func paysAnyway(c *clerk)   { c.paysIf("") }
func paysReserved(c *clerk) { c.paysIf(" AND state = 'reserved'") }

func (c *clerk) paysIf(condition string) {
	c.pay = func(ctx context.Context, id string) (r seckill.Reservation, err error) {
		o, err := c.store.Reservation(ctx, id)
		if err != nil {
			return r, err
		}
		err = c.store.Tx(ctx, func(tx *gorm.DB) error {
			return tx.Exec("UPDATE reservations SET state = 'paid' WHERE sku_id = ? AND run = ? AND id = ?"+condition, o.SKUID, o.Run, o.ID).Error
		})
		return r, err
	}
}

// releasesTwice looks at the state in a SELECT, and gives back after it.
func releasesTwice(c *clerk) {
	c.release = func(ctx context.Context, id string) (r seckill.Reservation, err error) {
		o, err := c.store.Reservation(ctx, id)
		if err != nil || o.Reservation.State != seckill.Reserved {
			return r, err
		}
		err = c.store.Tx(ctx, func(tx *gorm.DB) error {
			for _, statement := range []string{
				"UPDATE reservations SET state = 'cancelled', released = released + quantity WHERE sku_id = ? AND run = ? AND id = ?",
				"UPDATE orders SET status = 'cancelled' WHERE sku_id = ? AND run = ? AND id = ?",
			} {
				if err := tx.Exec(statement, o.SKUID, o.Run, o.ID).Error; err != nil {
					return err
				}
			}
			return c.store.GiveBack(tx, "UPDATE stock SET num = num + ? WHERE id = ? AND run = ?", o.Quantity, o.SKUID, o.Run)
		})
		return r, err
	}
}
