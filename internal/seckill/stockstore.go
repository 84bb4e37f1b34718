package seckill

// A StockStore says where the stock that a strategy sells is stored.
type StockStore string

const (
	InRow   StockStore = "row"   // the column stock.num
	InRedis StockStore = "redis" // a number in Redis
	// the count in a MySQL lock table; the same transaction also lowers stock.num
	InLockTable   StockStore = "lock-table"
	InRowAndRedis StockStore = "row+redis" // stock.num decides; before that, a number in Redis admits buyers
	InBuckets     StockStore = "buckets"   // several rows of the table stock_buckets
	InUnits       StockStore = "units"     // a row of the table stock_units for each unit
	// a number and a stream of accepted purchases in Redis; stock.num decides later
	InStream StockStore = "stream"
)

// Aside reports whether purchases leave the stock row unchanged, at its initial value.
func (h StockStore) Aside() bool {
	return h == InRedis || h == InBuckets || h == InUnits
}

// Split reports whether the stock is in pieces, so that buyers can take units at the same time. Then
// the remaining units in an order are computed from a number that was read before the sale, so they
// do not tell which units the order took.
func (h StockStore) Split() bool {
	return h == InBuckets || h == InUnits
}

// Counter returns the store that counts the units of h besides the stock row, or "" if only the row
// counts them. Snapshot.StockStores uses the result as its key.
func (h StockStore) Counter() StockStore {
	switch h {
	case InRow:
		return ""
	case InRowAndRedis:
		return InRedis
	}
	return h
}
