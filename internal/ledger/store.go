// Package ledger keeps stock and orders in SQL. Package judge audits a snapshot of them.
//
// gorm opens the database, creates the tables and reads small lists. The statements that decide a sale are written as
// SQL, and Store.Exec sends them unchanged. A strategy's lesson shows these statements word for word. Building a
// statement for each purchase would also take time while other buyers wait for the row.
package ledger

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"seckill/internal/judge"
	"seckill/internal/seckill"
	"seckill/internal/sqlerr"
)

// An Order is the Order of package judge. Strategies use this name.
type Order = judge.Order

// The states of an Order.
const (
	Active    = judge.Active
	Cancelled = judge.Cancelled
	Expired   = judge.Expired
	Refused   = judge.Refused
)

// A Store is the ledger for one strategy. Strategies write their own SQL for the stock row. The
// Store runs transactions, writes orders and translates errors.
type Store struct {
	db       *gorm.DB
	strategy string
	identity *atomic.Pointer[string] // empty until the identity of the database has been read
	view     *sql.TxOptions          // the isolation level of transactions in Tx; nil means the database's default
	atRest   bool
}

// NewStore returns the ledger in db. The method For binds it to a strategy.
func NewStore(db *gorm.DB) *Store {
	return &Store{db: db, identity: &atomic.Pointer[string]{}}
}

// For returns the same ledger, bound to a strategy. The Store writes the strategy's name into orders.
func (s *Store) For(strategy string) *Store {
	c := *s
	c.strategy = strategy
	return &c
}

// On returns the same ledger on another session, such as a lock's own connection.
func (s *Store) On(session *gorm.DB) *Store {
	c := *s
	c.db = session
	return &c
}

// ReadCommitted returns the same ledger with READ COMMITTED transactions, which lock the rows that they
// find but not the gaps between rows. If gaps were locked, buyers who look for free rows would wait for
// each other even if no row is free.
func (s *Store) ReadCommitted() *Store {
	c := *s
	c.view = &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	return &c
}

// AtRest returns the same ledger for a time when no transaction is running. Snapshot and View are then
// consistent without a transaction of their own.
func (s *Store) AtRest() *Store {
	c := *s
	c.atRest = true
	return &c
}

// DB returns the database outside any transaction.
func (s *Store) DB(ctx context.Context) *gorm.DB { return s.db.WithContext(ctx) }

// Strategy returns the name of the strategy to which the Store is bound.
func (s *Store) Strategy() string { return s.strategy }

// maxRetries bounds how often retry repeats a transaction.
const maxRetries = 5

// Tx runs f in a transaction and commits it. It returns the errors of package seckill. If it fails before
// COMMIT was sent, nothing was taken. If the COMMIT gets no answer, Tx returns ErrUnknown.
func (s *Store) Tx(ctx context.Context, f func(tx *gorm.DB) error) error {
	return retry(ctx, func() error { return runOnce(s.DB(ctx), s.view, f) })
}

// retry runs f, and runs it again if a deadlock rolled it back or another order had the same id.
func retry(ctx context.Context, f func() error) error {
	for attempt := 0; ; attempt++ {
		err := f()
		mayRepeat := sqlerr.IsRolledBack(err) || errors.Is(err, errSameID)
		if err == nil || !mayRepeat || attempt == maxRetries || ctx.Err() != nil {
			return err
		}
	}
}

func runOnce(db *gorm.DB, view *sql.TxOptions, f func(tx *gorm.DB) error) error {
	tx := db.Begin(view)
	if tx.Error != nil {
		return before(tx.Error)
	}
	committed := false
	defer func() {
		if !committed { // f returned an error or panicked, so its changes must not stay
			tx.Rollback()
		}
	}()
	if err := f(tx); err != nil {
		return before(err)
	}
	committed = true // From here on the server decides, and a ROLLBACK would have no effect.
	err := tx.Commit().Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, sql.ErrTxDone):
		return before(err) // database/sql returns these errors only if it did not send COMMIT, so nothing was taken.
	}
	return after("COMMIT", err)
}

// nowIn returns a SQL expression for the time of the database's clock. Its value is that of a Moment.
func nowIn(db *gorm.DB) string {
	if db.Name() == "sqlite" {
		return "CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)"
	}
	return "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000)"
}

// Read runs one query outside a transaction, and scans its row into dest. It returns ErrNoRow if there is no row.
func (s *Store) Read(ctx context.Context, dest any, query string, args ...any) error {
	return s.ReadIn(s.DB(ctx), dest, query, args...)
}

// ReadIn does what Read does, in a transaction.
func (s *Store) ReadIn(tx *gorm.DB, dest any, query string, args ...any) error {
	res := tx.Raw(query, args...).Scan(dest)
	if res.Error != nil {
		return before(res.Error)
	}
	if res.RowsAffected == 0 {
		return ErrNoRow
	}
	return nil
}

// Exec runs one statement in tx. It returns the number of matched rows and the value that
// LAST_INSERT_ID(expr) has set. It sends the statement unchanged, because gorm would build it byte by byte
// while other buyers wait for this buyer's row.
func (s *Store) Exec(tx *gorm.DB, statement string, args ...any) (rows, last int64, err error) {
	res, err := tx.Statement.ConnPool.ExecContext(tx.Statement.Context, statement, args...)
	if err != nil {
		return 0, 0, err
	}
	if rows, err = res.RowsAffected(); err != nil {
		return 0, 0, err
	}
	last, err = res.LastInsertId()
	return rows, last, err
}

// Write runs one statement outside a transaction, and returns the number of matched rows. After an error the statement
// may have been run, so do not use Write for a statement that takes stock.
func (s *Store) Write(ctx context.Context, statement string, args ...any) (int64, error) {
	rows, _, err := s.Exec(s.DB(ctx), statement, args...)
	return rows, before(err)
}

// Started returns the SQL condition for a stock row whose sale has started, by the database's clock.
func (s *Store) Started() string { return "(" + started(s.db) + ")" }

func started(db *gorm.DB) string { return "starts_at IS NULL OR starts_at <= " + nowIn(db) }

// AnyRun, given to Store.Record as the run, means that the stock row may be in any run.
const AnyRun = 0

// Record writes p's order, in the transaction that takes its units. The argument run is the number of the run whose
// stock the caller has read. If the sale was reset since then, Record returns ErrConflict, so that an old purchase
// cannot write into the new run. This check does not guard the buyers of one run against each other.
//
// The same statement checks the start of the sale by the database's clock. Before the start the statement would write
// an order without a status, which the table does not allow. Record then returns ErrNotStarted.
func (s *Store) Record(tx *gorm.DB, p seckill.Purchase, run, remaining int64) (seckill.Receipt, error) {
	statement := "INSERT INTO orders " + orderColumns("") +
		" SELECT " + eightValues + "run, CASE WHEN " + started(tx) + " THEN ? END FROM stock WHERE id = ?"
	args := []any{Active, p.SKU}
	if run != AnyRun {
		statement, args = statement+" AND run = ?", append(args, run)
	}
	_, r, err := s.insert(tx, p, remaining, statement, args...)
	return r, err
}

// Look reads the run of a SKU and the units left, without a lock and outside any transaction. It is for strategies
// that call Place before they change the stock row. The units left may change right after Look has read them. If what
// it reads already decides the purchase, Look returns ErrUnknownSKU, ErrNotStarted (by the database's clock) or
// ErrSoldOut.
func (s *Store) Look(ctx context.Context, p seckill.Purchase) (run, num int64, err error) {
	var seen struct {
		Run, Num int64
		Started  bool
	}
	err = s.Read(ctx, &seen, "SELECT run, num, "+s.Started()+" AS started FROM stock WHERE id = ?", p.SKU)
	switch {
	case err != nil:
	case !seen.Started:
		err = seckill.ErrNotStarted
	case seen.Num < p.Quantity:
		err = seckill.ErrSoldOut
	}
	return seen.Run, seen.Num, err
}

// Place writes p's order before its units are taken, in the run that Look has read, and returns the order's
// id. If the remaining units are not known yet, the statement that takes the units must write them later.
// That statement must take the units from the same run; if it cannot, the caller rolls back.
//
// Unlike Record, Place does not read the stock row in its INSERT. InnoDB locks the rows that an INSERT reads. If two
// buyers shared that lock before their UPDATE, they would deadlock.
func (s *Store) Place(tx *gorm.DB, p seckill.Purchase, run, remaining int64) (int64, seckill.Receipt, error) {
	statement := "INSERT INTO orders " + orderColumns("") + " VALUES (" + eightValues + "?, ?)"
	return s.insert(tx, p, remaining, statement, run, Active)
}

// eightValues has the placeholders of the first eight columns of orderColumns, from id to strategy.
const eightValues = "?, ?, ?, ?, ?, ?, ?, ?, "

// insert writes an order. The statement's first arguments are the eight values from id to strategy, which insert
// makes; args follow. If the statement inserts no row, insert returns ErrReset.
func (s *Store) insert(
	tx *gorm.DB, p seckill.Purchase, remaining int64, statement string, args ...any,
) (int64, seckill.Receipt, error) {
	id := newOrderID()
	public := newPublicID(p.SKU, id)
	columns := []any{id, public, p.RequestID, p.User, p.SKU, p.Quantity, remaining, s.strategy}
	rows, _, err := s.Exec(tx, statement, append(columns, args...)...)
	if err == nil && rows == 0 {
		err = ErrReset
	}
	if err != nil {
		return 0, seckill.Receipt{}, notRecorded(err)
	}
	return id, seckill.Receipt{OrderID: public, SKU: p.SKU, Quantity: p.Quantity,
		Remaining: remaining, Strategy: s.strategy}, nil
}

// SellBy sells by a stored procedure that begins and ends the transaction itself. The argument call is a CALL statement
// with seven placeholders: the order's id and public id, the request's id, the user, the SKU, the quantity and the
// strategy. The procedure answers with an outcome and, if it sold, the units left.
//
// The CALL takes the units and commits in one command. If the CALL gets no answer, SellBy returns ErrUnknown, as Tx
// does for a COMMIT. A deadlock rolls everything back, so SellBy tries again.
func (s *Store) SellBy(ctx context.Context, call string, p seckill.Purchase) (string, seckill.Receipt, error) {
	var outcome string
	var r seckill.Receipt
	err := runAlone(s.DB(ctx), func(tx *gorm.DB) error {
		id := newOrderID()
		r = seckill.Receipt{OrderID: newPublicID(p.SKU, id), SKU: p.SKU, Quantity: p.Quantity, Strategy: s.strategy}
		answer := tx.Statement.ConnPool.QueryRowContext(ctx, call,
			id, r.OrderID, p.RequestID, p.User, p.SKU, p.Quantity, s.strategy)
		return notRecorded(answer.Scan(&outcome, &r.Remaining))
	})
	return outcome, r, err
}

// RecordAlone does what Record does, for a strategy that writes nothing else. It writes and commits the order with
// one command; a transaction needs three commands. If the command gets no answer, RecordAlone returns ErrUnknown.
func (s *Store) RecordAlone(
	ctx context.Context, p seckill.Purchase, run, remaining int64,
) (seckill.Receipt, error) {
	var r seckill.Receipt
	err := runAlone(s.DB(ctx), func(tx *gorm.DB) (err error) {
		r, err = s.Record(tx, p, run, remaining)
		return err
	})
	return r, err
}

// runAlone runs one command that commits by itself, such as a CALL, on a connection of its own. If the command fails
// and may have left a transaction open, runAlone closes the connection. If it kept the connection, the next
// transaction there would also commit what the failed command had left open.
func runAlone(db *gorm.DB, command func(tx *gorm.DB) error) error {
	sent := false
	err := retry(db.Statement.Context, func() error {
		sent = false
		return db.Connection(func(tx *gorm.DB) error {
			sent = true
			err := command(tx)
			if err != nil && !seckill.NothingTaken(err) && !undone(err) {
				_ = tx.Statement.ConnPool.(*sql.Conn).Raw(func(any) error { return driver.ErrBadConn })
			}
			return err
		})
	})
	if !sent {
		return before(err)
	}
	return after("the command", err)
}

// An order's id is a time in microseconds, followed by nodeBits random bits. In one process every
// id is greater than the one before. Two processes can make the same id in the same microsecond.
// The primary key then refuses the second order, and retry runs its transaction again. A
// transaction inside a lock is not run again; its buyer gets ErrConflict.
const nodeBits = 10

var lastTick atomic.Int64

func newOrderID() int64 {
	now := time.Now().UnixMicro()
	for {
		last := lastTick.Load()
		tick := max(now, last+1)
		if lastTick.CompareAndSwap(last, tick) {
			return tick<<nodeBits | mathrand.Int64N(1<<nodeBits)
		}
	}
}

// newPublicID returns a public id of three parts. The ledger finds the row by the SKU and the order's id. The
// third part is random, so that nobody can guess the ids of orders.
func newPublicID(sku, id int64) string { return fmt.Sprintf("o%d-%d-%s", sku, id, rand.Text()[:13]) }

// orderColumns returns the columns of an INSERT of orders or refusals, in parentheses. The argument more has the names
// of further columns.
func orderColumns(more string) string {
	return "(id, public_id, request_id, user_id, sku_id, quantity, remaining, strategy, run, status" + more + ")"
}

// CancelOrder marks an order cancelled and calls the function giveBack to return its units, in one transaction. If the
// order was cancelled before, CancelOrder does nothing. For an order of an earlier run it returns ErrUnknownOrder. If
// the sale is reset after the order was read, giveBack returns ErrUnknownOrder (see GiveBack).
//
// CancelOrder reads the order before the transaction, so that the transaction begins with a lock. With
// innodb_snapshot_isolation = ON, a transaction cannot change the stock if its snapshot is older than the latest
// purchase.
func (s *Store) CancelOrder(ctx context.Context, orderID string, giveBack func(tx *gorm.DB, o Order) error) error {
	o, err := s.Order(ctx, orderID)
	if err != nil {
		return err
	}
	return s.Tx(ctx, func(tx *gorm.DB) error {
		if back, err := s.markCancelled(tx, o); err != nil || !back {
			return err
		}
		return giveBack(tx, o)
	})
}

// Cancel marks an order cancelled, in a transaction of a caller who has locked the stock. It returns
// the order as it was before, and true if the caller must give the order's units back. If the order was
// cancelled before, it returns false.
func (s *Store) Cancel(tx *gorm.DB, orderID string) (Order, bool, error) {
	o, err := s.orderIn(tx, orderID)
	if err != nil {
		return o, false, err
	}
	back, err := s.markCancelled(tx, o)
	return o, back, err
}

func (s *Store) markCancelled(tx *gorm.DB, o Order) (bool, error) {
	rows, _, err := s.Exec(tx, "UPDATE orders SET status = ? WHERE sku_id = ? AND run = ? AND id = ? AND status = ?",
		Cancelled, o.SKUID, o.Run, o.ID, Active)
	return rows == 1, err
}

// GiveBack runs the statement that gives the units of a cancelled order back to the stock of the
// order's run. If the sale was reset meanwhile, the statement matches no row. Then GiveBack returns
// ErrUnknownOrder, and the transaction rolls back.
func (s *Store) GiveBack(tx *gorm.DB, statement string, args ...any) error {
	rows, _, err := s.Exec(tx, statement, args...)
	if err == nil && rows == 0 {
		err = seckill.ErrUnknownOrder
	}
	return err
}

// ReturnUnits gives the units of an order back to the stock row, as GiveBack does.
func (s *Store) ReturnUnits(tx *gorm.DB, o Order) error {
	return s.GiveBack(tx, "UPDATE stock SET num = num + ? WHERE id = ? AND run = ?", o.Quantity, o.SKUID, o.Run)
}

func noOrder(err error) error {
	if errors.Is(err, ErrNoRow) {
		return seckill.ErrUnknownOrder
	}
	return err
}

// orderIn does what Order does, in a transaction.
func (s *Store) orderIn(tx *gorm.DB, publicID string) (Order, error) {
	var o Order
	var sku, id int64
	if n, _ := fmt.Sscanf(publicID, "o%d-%d-", &sku, &id); n != 2 {
		return o, seckill.ErrUnknownOrder
	}
	err := s.ReadIn(tx, &o, "SELECT * FROM orders WHERE sku_id = ? AND "+
		"run = (SELECT run FROM stock WHERE id = ?) AND id = ? AND public_id = ?", sku, sku, id, publicID)
	return o, noOrder(err)
}

// Order reads an order of the current run by its public id. It returns ErrUnknownOrder if there is no such order.
func (s *Store) Order(ctx context.Context, id string) (Order, error) {
	return s.orderIn(s.DB(ctx), id)
}

// FindRequest returns the row of a user's request for a SKU in its current run, or for any SKU if
// sku is 0. The row is an order in any state, or a refusal (Refused). FindRequest returns
// ErrUnknownOrder if there is no row, or if the row is not committed yet.
func (s *Store) FindRequest(ctx context.Context, sku, user int64, requestID string) (Order, error) {
	return s.findRequest(ctx, sku, user, requestID, "")
}

// AwaitRequest does what FindRequest does. But if an open transaction has written such a row, AwaitRequest waits until
// the transaction ends. It returns ErrBusy if that takes longer than a statement may wait for a row lock.
func (s *Store) AwaitRequest(ctx context.Context, sku, user int64, requestID string) (Order, error) {
	// SQLite locks the whole file for a writer and has no FOR UPDATE, so there is no row to wait for.
	if s.db.Name() == "sqlite" {
		return s.FindRequest(ctx, sku, user, requestID)
	}
	return s.findRequest(ctx, sku, user, requestID, " FOR UPDATE")
}

func (s *Store) findRequest(ctx context.Context, sku, user int64, requestID, locking string) (Order, error) {
	var o Order
	where, args := "request_id = ? AND user_id = ?", []any{requestID, user}
	if sku != 0 {
		where, args = where+" AND sku_id = ?", append(args, sku)
	}
	// A subquery reads the run: for a join, the database might begin with the stock row and read every order
	// of the run.
	err := s.Read(ctx, &o, "SELECT * FROM orders WHERE "+where+" AND orders.run = "+
		"(SELECT stock.run FROM stock WHERE stock.id = orders.sku_id) ORDER BY id LIMIT 1"+locking, args...)
	return o, noOrder(err)
}

// SKU reads one stock row. It returns ErrUnknownSKU if there is no such row.
func (s *Store) SKU(ctx context.Context, id int64) (judge.Stock, error) {
	var st judge.Stock
	err := s.Read(ctx, &st, "SELECT * FROM stock WHERE id = ?", id)
	return st, err
}

// Schedule creates the SKU, or starts its next run with a new stock and start time. If starts is nil, the sale starts
// at once. The orders of the old run stay in the table until Sweep removes them, but no query finds them any more.
// Schedule waits for transactions that hold the row. Record refuses purchases that read the stock before the reset.
//
// The fence of a new run is 0, because the next lock may count its fencing tokens in another way. A
// late holder of the old run cannot use the low fence: every check of a token also checks the run,
// and the pair of run and fence never decreases (fenced.go in package lock).
func (s *Store) Schedule(
	ctx context.Context, id int64, name string, stock int64, starts *judge.Moment,
) (judge.Stock, error) {
	var st judge.Stock
	// This statement is not in the transaction of the UPDATE. In one transaction, two callers who find no row would
	// both lock the gap, and each would wait for the other.
	err := s.DB(ctx).Exec(insertIgnore(s.db)+
		" INTO stock (id, name, initial, num, run) VALUES (?, '', 0, 0, 0)", id).Error
	if err != nil {
		return st, before(err)
	}
	err = s.Tx(ctx, func(tx *gorm.DB) error {
		_, _, err := s.Exec(tx, "UPDATE stock SET name = ?, initial = ?, num = ?, starts_at = ?, "+
			"version = version + 1, fence = 0, run = run + 1 WHERE id = ?", name, stock, stock, starts, id)
		if err != nil {
			return err
		}
		return s.ReadIn(tx, &st, "SELECT * FROM stock WHERE id = ?", id)
	})
	return st, err
}

// insertIgnore returns the beginning of an INSERT that skips rows which exist already.
func insertIgnore(db *gorm.DB) string {
	if db.Name() == "sqlite" {
		return "INSERT OR IGNORE"
	}
	return "INSERT IGNORE"
}
