package seckill

// A StockStore is the place of the stock that a strategy sells from.
type StockStore string

const (
	InRow         StockStore = "row"        // stock.num
	InRedis       StockStore = "redis"      // a number in Redis
	InLockTable   StockStore = "lock-table" // the count of a MySQL lock table, and stock.num in one transaction
	InRowAndRedis StockStore = "row+redis"  // stock.num, behind a number in Redis
	InBuckets     StockStore = "buckets"    // several rows of stock_buckets
	InUnits       StockStore = "units"      // a row of stock_units for each unit
	InStream      StockStore = "stream"     // stock.num, behind a number and a stream of accepted purchases in Redis
)

// Aside reports whether purchases do not change the stock row, so that it keeps its initial value.
func (h StockStore) Aside() bool {
	return h == InRedis || h == InBuckets || h == InUnits
}

// Split reports whether the stock is in pieces, so that buyers can take units at the same time. The
// remaining units in an order are then the number that was read before the sale, and do not show which
// units the order took.
func (h StockStore) Split() bool {
	return h == InBuckets || h == InUnits
}

// Counter returns the stock store outside the row that counts h, as a key of Snapshot.StockStores,
// or "" if there is none.
func (h StockStore) Counter() StockStore {
	switch h {
	case InRow:
		return ""
	case InRowAndRedis:
		return InRedis
	}
	return h
}
