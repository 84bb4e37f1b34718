// Package ledger keeps stock and orders in SQL. Package judge audits a snapshot of them.
//
// gorm opens the database, creates the tables and reads small lists. What
// decides a sale is written as SQL and sent as it stands (Store.Exec): the statement
// is the strategy, its lesson shows it word by word, and to build it anew for each
// purchase would take time while other buyers wait for the row.
package ledger

import "seckill/internal/judge"

// An Order is the judge's, as strategies get it from the ledger.
type Order = judge.Order

// States of an Order.
const (
	Active    = judge.Active
	Cancelled = judge.Cancelled
	Expired   = judge.Expired
	Refused   = judge.Refused
)
