// Package ledger keeps stock and orders in SQL, and holds the audit: one pure
// judge over a snapshot of them that the service, the tests and the load
// generator share.
//
// gorm opens the database, creates the tables and reads small lists. What
// decides a sale is written as SQL and sent as it stands (Store.Exec): the statement
// is the strategy, its lesson shows it word by word, and to build it anew for each
// purchase would take time while other buyers wait for the row.
package ledger

import (
	"time"

	"seckill/internal/seckill"
)

// A StockStore is where a strategy keeps the stock it sells from.
type StockStore string

const (
	InRow         StockStore = "row"        // stock.num
	InRedis       StockStore = "redis"      // a number in Redis
	InLockTable   StockStore = "lock-table" // the count column of a MySQL lock table; stock.num follows in the same transaction
	InRowAndRedis StockStore = "row+redis"  // stock.num, with the number in Redis in front of it
	InBuckets     StockStore = "buckets"    // several rows of stock_buckets, which together have what is left
	InUnits       StockStore = "units"      // one row of stock_units for each unit
	InStream      StockStore = "stream"     // stock.num, with a number and a stream of accepted purchases in Redis in front of it
)

// Aside reports whether purchases leave the stock row as it is: it has what was set.
func (h StockStore) Aside() bool {
	return h == InRedis || h == InBuckets || h == InUnits
}

// Split reports whether the stock is in pieces, so that buyers take from it side by
// side. What an order says remained is then what its buyer saw, and names no units.
func (h StockStore) Split() bool {
	return h == InBuckets || h == InUnits
}

// Counter is the stock store outside the row whose count belongs to h, as the key of
// Snapshot.StockStores; "" if there is none.
func (h StockStore) Counter() StockStore {
	switch h {
	case InRow:
		return ""
	case InRowAndRedis:
		return InRedis
	}
	return h
}

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
	StockStores map[StockStore]int64 `json:"stock_stores,omitempty"`
}
