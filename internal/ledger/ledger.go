// Package ledger keeps stock and orders in SQL. Package judge audits a snapshot of them.
//
// gorm opens the database, creates the tables and reads small lists. The statements that decide a
// sale are written as SQL, and Store.Exec sends them unchanged, because the statement is the strategy.
// A strategy's lesson shows its statement word by word. Building the statement for each purchase would
// also take time while other buyers wait for the row.
package ledger

import "seckill/internal/judge"

// An Order is the Order of package judge. Strategies use this name.
type Order = judge.Order

// The states of an Order.
const (
	Active    = judge.Active
	Cancelled = judge.Cancelled
	Expired   = judge.Expired
	Refused   = judge.Refused
)
