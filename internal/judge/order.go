package judge

import (
	"encoding/json"
	"fmt"
	"time"

	"seckill/internal/seckill"
)

// Order states.
const (
	Active    = "active"
	Cancelled = "cancelled"
	Expired   = "expired" // of a reservation that was not paid in time
	Refused   = "refused" // no order: the final refusal of a request, which the snapshot and lists leave out
)

// Stock is one SKU's row. Num is signed: `atomic` takes it below zero.
type Stock struct {
	ID        int64     `json:"id" gorm:"primaryKey"`
	Name      string    `json:"name"`
	Initial   int64     `json:"initial"` // what the last reset set
	Num       int64     `json:"num"`     // what is left
	Version   int64     `json:"version"`
	Fence     int64     `json:"fence"`
	Run       int64     `json:"run"`       // grows with every reset
	StartsAt  *Moment   `json:"starts_at"` // no purchase before it; nil: the sale is on
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
	Remaining int64     `json:"remaining"` // as told to the buyer
	Status    string    `json:"status"`
	Reason    string    `json:"-"` // of a refusal, as a problem's code
	Strategy  string    `json:"strategy"`
	CreatedAt time.Time `json:"created_at"`
	// Reservation is what is known of the reservation that the order began as, if it
	// did; nil where it was not read.
	Reservation *Reservation `json:"reservation,omitempty" gorm:"-"`
}

func (Order) TableName() string { return "orders" }

// Receipt is what the buyer of o was told, and is told again when they ask
// again with the same request id.
func (o Order) Receipt() seckill.Receipt {
	return seckill.Receipt{OrderID: o.PublicID, SKU: o.SKUID, Quantity: o.Quantity,
		Remaining: o.Remaining, Strategy: o.Strategy}
}

// A Request is one of a user, by its idempotency key.
type Request struct {
	UserID    int64  `json:"user_id"`
	RequestID string `json:"request_id"`
}

// A Snapshot is one SKU's stock and all its orders, read in one consistent
// view of the database.
type Snapshot struct {
	Stock  Stock   `json:"stock"`
	Orders []Order `json:"orders"`
	// Refused are the requests that were refused for good.
	Refused []Request `json:"refused,omitempty"`
	// StockStores holds what the counters outside the row say is left, also
	// those that this run did not use. One that could not be read is missing.
	StockStores map[seckill.StockStore]int64 `json:"stock_stores,omitempty"`
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

// A Moment is a time of the database's clock in milliseconds since 1970, UTC.
// One clock decides when a sale starts: those of the service processes differ.
type Moment int64

// MomentOf is t, or the first moment after it: a sale never starts early.
func MomentOf(t time.Time) Moment {
	return Moment(t.Add(time.Millisecond - time.Nanosecond).UnixMilli())
}

// Time is m in UTC.
func (m Moment) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// MarshalJSON writes RFC 3339, with milliseconds.
func (m Moment) MarshalJSON() ([]byte, error) {
	return json.Marshal(m.Time().Format("2006-01-02T15:04:05.000Z07:00"))
}

// UnmarshalJSON reads RFC 3339.
func (m *Moment) UnmarshalJSON(text []byte) error {
	var t time.Time
	if err := json.Unmarshal(text, &t); err != nil {
		return fmt.Errorf("a moment: %w", err)
	}
	*m = MomentOf(t)
	return nil
}
