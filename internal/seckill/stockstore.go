package seckill

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
