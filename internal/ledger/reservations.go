package ledger

import (
	"context"

	"gorm.io/gorm"

	"seckill/internal/seckill"
)

// The table of reservations. On SQLite no strategy uses it.
//
// A reservation is an active order with a row here: it holds its units, and its
// user's place, as every order does. The row says whether it is paid, until when it
// can be (by the database's clock), and how many units were given back. ends_at is the
// beginning of 1970 if one call bought and paid: there is no deadline. Orders of
// strategies without reservations have no row.
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

// A Reservation is the row of one, as it was read.
type Reservation struct {
	State    seckill.ReservationState `json:"state"`
	Ends     Moment                   `json:"expires_at,omitzero"` // 0: no deadline, since one call bought and paid
	Released int64                    `json:"released"`            // units given back
	// Left is how many microseconds the deadline was away by the database's clock;
	// not above 0: it is past, or there is none.
	Left int64 `json:"expires_in_us,omitzero"`
}

const reservationColumns = "id, state, released, " +
	"TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ends_at) DIV 1000 AS ends, " +
	"TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), NULLIF(ends_at, '1970-01-01')) AS `left` FROM reservations WHERE "

// addReservations reads the reservations of orders that are found by a condition.
func addReservations(db *gorm.DB, orders []Order, where string, args ...any) error {
	if db.Name() == "sqlite" {
		return nil
	}
	var rows []struct {
		SKUID int64 `gorm:"column:sku_id"`
		ID    int64
		Reservation
	}
	if err := db.Raw("SELECT sku_id, "+reservationColumns+where, args...).Scan(&rows).Error; err != nil {
		return before(err)
	}
	found := make(map[[2]int64]*Reservation, len(rows))
	for i := range rows {
		found[[2]int64{rows[i].SKUID, rows[i].ID}] = &rows[i].Reservation
	}
	for i := range orders {
		orders[i].Reservation = found[[2]int64{orders[i].SKUID, orders[i].ID}]
	}
	return nil
}

// Reservation reads an order of the current run, and then its reservation;
// ErrUnknownOrder if there is no such order, or if it began as none.
func (s *Store) Reservation(ctx context.Context, id string) (Order, error) {
	o, err := s.Order(ctx, id)
	if err != nil {
		return o, err
	}
	if s.db.Name() == "sqlite" {
		return o, seckill.ErrUnknownOrder
	}
	o.Reservation = &Reservation{}
	err = s.Read(ctx, o.Reservation, "SELECT "+reservationColumns+"sku_id = ? AND run = ? AND id = ?", o.SKUID, o.Run, o.ID)
	return o, unknownOrder(err)
}
