package seckill

// A StockStore says where the stock is that a strategy sells from.
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

// Split reports whether the stock is in pieces, so that buyers can take units at the same time. The
// remaining units in an order are then the number that was read before the sale, and do not show which
// units the order took.
func (h StockStore) Split() bool {
	return h == InBuckets || h == InUnits
}

// Counter returns the stock store outside the row in which the units of h are counted. It is a key
// of Snapshot.StockStores, or "" if there is no such store.
func (h StockStore) Counter() StockStore {
	switch h {
	case InRow:
		return ""
	case InRowAndRedis:
		return InRedis
	}
	return h
}
