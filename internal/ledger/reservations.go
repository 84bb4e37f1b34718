package ledger

import (
	"context"

	"gorm.io/gorm"

	"seckill/internal/judge"
)

// reservationSchema creates the table of reservations. On SQLite no strategy uses it.
//
// A reservation is an active order with a row in this table. Like every order it holds its units, and
// the user can have no other order. The row has the state, the deadline by the database's clock, and
// the number of units given back. If one call bought and paid, there is no deadline, and ends_at is
// the beginning of 1970. Orders of strategies without reservations have no row in this table.
var reservationSchema = []string{
	`CREATE TABLE IF NOT EXISTS reservations (
	sku_id   BIGINT NOT NULL,
	run      BIGINT NOT NULL,
	id       BIGINT NOT NULL,
	strategy VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	state    VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	quantity BIGINT NOT NULL,
	released BIGINT NOT NULL DEFAULT 0,
	ends_at  DATETIME(6) NOT NULL,
	PRIMARY KEY (sku_id, run, id),
	KEY reservations_due (strategy, state, ends_at)
) ENGINE=InnoDB`,
}

// reservationColumns returns the SQL for the columns of a Reservation. SQLite gets the number 0 for times,
// because it has no reservations and lacks MySQL's functions of time.
func reservationColumns(db *gorm.DB) string {
	if db.Name() == "sqlite" {
		return "r.state, r.released, 0 AS ends, 0 AS `left` "
	}
	return "r.state, r.released, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', r.ends_at) DIV 1000 AS ends, " +
		"TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), NULLIF(r.ends_at, '1970-01-01')) AS `left` "
}

// Reservation reads an order of the current run with its reservation. It returns ErrUnknownOrder
// if there is no such order, or if the order did not begin as a reservation.
func (s *Store) Reservation(ctx context.Context, id string) (Order, error) {
	o, err := s.Order(ctx, id)
	if err != nil {
		return o, err
	}
	o.Reservation = &judge.Reservation{}
	err = s.Read(ctx, o.Reservation, "SELECT "+reservationColumns(s.db)+
		"FROM reservations AS r WHERE sku_id = ? AND run = ? AND id = ?", o.SKUID, o.Run, o.ID)
	return o, noOrder(err)
}
