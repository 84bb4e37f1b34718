package judge

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"

	"seckill/internal/seckill"
)

// The states of an order.
const (
	Active    = "active"
	Cancelled = "cancelled"
	Expired   = "expired" // the order of a reservation that was not paid in time
	Refused   = "refused" // not an order but the final refusal of a request; snapshots and lists leave such rows out
)

// Stock is the row of one SKU. Num is signed, because the strategy `atomic` can take it below zero.
type Stock struct {
	ID        int64     `json:"id" gorm:"primaryKey"`
	Name      string    `json:"name"`
	Initial   int64     `json:"initial"` // the units at the last reset, plus all restocks since then
	Num       int64     `json:"num"`     // units left
	Version   int64     `json:"version"`
	Fence     int64     `json:"fence"`
	Run       int64     `json:"run"`       // the number of the run, which grows with every reset
	StartsAt  *Moment   `json:"starts_at"` // when the sale starts; nil if it started at the reset
	UpdatedAt time.Time `json:"updated_at"`
}

func (Stock) TableName() string { return "stock" }

// An Order is one sale.
type Order struct {
	ID        int64     `json:"-" gorm:"primaryKey"`
	PublicID  string    `json:"order_id"`
	RequestID string    `json:"request_id"`
	Run       int64     `json:"run"`
	UserID    int64     `json:"user_id"`
	SKUID     int64     `json:"sku_id" gorm:"column:sku_id"`
	Quantity  int64     `json:"quantity"`
	Remaining int64     `json:"remaining"` // the units left after the order, as the buyer was told
	Status    string    `json:"status"`
	Reason    string    `json:"-"` // if Status is Refused, the code of the refusal (see ErrorCodes)
	Strategy  string    `json:"strategy"`
	CreatedAt time.Time `json:"created_at"`
	// Reservation is the reservation that the order began as. It is nil if the order began as a
	// purchase, or if the reservation was not read.
	Reservation *Reservation `json:"reservation,omitempty" gorm:"-"`
}

func (Order) TableName() string { return "orders" }

// OperatorOf returns the user id of the order row that records a restock. The ledger writes the new units as an active
// order of this user. Cancelling this order puts the units into the stock. The id is negative, so no buyer has it. It
// is a hash of the restock's key, so that restocks with different keys need not wait for each other.
func OperatorOf(key string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // Write of a hash never fails
	return -1 - int64(h.Sum64()>>1)
}

// IsRestock reports whether o records a restock and is no buyer's order.
func (o *Order) IsRestock() bool { return o.UserID < 0 }

// Receipt returns the answer that the buyer of o got. A repeated request gets it again.
func (o Order) Receipt() seckill.Receipt {
	return seckill.Receipt{OrderID: o.PublicID, SKU: o.SKUID, Quantity: o.Quantity,
		Remaining: o.Remaining, Strategy: o.Strategy}
}

// A Request identifies a user's request by its idempotency key.
type Request struct {
	UserID    int64  `json:"user_id"`
	RequestID string `json:"request_id"`
}

// A Snapshot is one SKU's stock and all its orders, read in one consistent view of the database.
type Snapshot struct {
	Stock  Stock   `json:"stock"`
	Orders []Order `json:"orders"`
	// Refused lists the requests that have a final refusal.
	Refused []Request `json:"refused,omitempty"`
	// StockStores has the units left in each counter outside the stock row, even if this run did not use the
	// counter. A counter that could not be read is missing.
	StockStores map[seckill.StockStore]int64 `json:"stock_stores,omitempty"`
}

// A Reservation is a row of the table of reservations.
type Reservation struct {
	State    seckill.ReservationState `json:"state"`
	Ends     Moment                   `json:"expires_at,omitzero"` // the deadline; 0 if one call bought and paid
	Released int64                    `json:"released"`            // the number of units given back
	// Left is the time until the deadline in microseconds, by the database's clock, when the row
	// was read. It is 0 or less if the deadline is past, or if there is no deadline.
	Left int64 `json:"expires_in_us,omitzero"`
}

// A Moment is a time of the database's clock in milliseconds since 1970, UTC. The clocks of the
// service processes differ, so the database's clock decides when a sale starts.
type Moment int64

// MomentOf returns t as a Moment. It rounds up to a millisecond, so that a sale never starts early.
func MomentOf(t time.Time) Moment {
	return Moment(t.Add(time.Millisecond - time.Nanosecond).UnixMilli())
}

// Time returns m as a time.Time in UTC.
func (m Moment) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// MarshalJSON writes m in the form of RFC 3339, with milliseconds.
func (m Moment) MarshalJSON() ([]byte, error) {
	return json.Marshal(m.Time().Format("2006-01-02T15:04:05.000Z07:00"))
}

// UnmarshalJSON reads a time in the form of RFC 3339.
func (m *Moment) UnmarshalJSON(text []byte) error {
	var t time.Time
	if err := json.Unmarshal(text, &t); err != nil {
		return fmt.Errorf("a moment: %w", err)
	}
	*m = MomentOf(t)
	return nil
}
