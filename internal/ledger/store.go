package ledger

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	mathrand "math/rand/v2"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"seckill/internal/judge"
	"seckill/internal/seckill"
	"seckill/internal/sqlerr"
)

// A Store is the ledger as one strategy uses it. Strategies write their own
// SQL on the stock row; the Store supplies the transaction, the order and the
// meaning of errors.
type Store struct {
	db       *gorm.DB
	strategy string
	identity *atomic.Pointer[string] // of the database, once it was read
	view     *sql.TxOptions          // of Tx; nil: the database's usual isolation
	atRest   bool
}

// NewStore is the ledger in db. For binds it to a strategy.
func NewStore(db *gorm.DB) *Store {
	return &Store{db: db, identity: &atomic.Pointer[string]{}}
}

// For returns the same ledger, writing orders in the name of strategy.
func (s *Store) For(strategy string) *Store {
	c := *s
	c.strategy = strategy
	return &c
}

// On returns the same ledger on another session (a lock's own connection).
func (s *Store) On(session *gorm.DB) *Store {
	c := *s
	c.db = session
	return &c
}

// ReadCommitted returns the same ledger with transactions that lock the rows they
// find and no gap between them. Buyers who look for free rows would otherwise
// wait for each other where there is none.
func (s *Store) ReadCommitted() *Store {
	c := *s
	c.view = &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	return &c
}

// AtRest returns the same ledger for a time when nothing is under way in it. What a
// Snapshot reads is one view then, and needs no transaction.
func (s *Store) AtRest() *Store {
	c := *s
	c.atRest = true
	return &c
}

// DB runs statements outside any transaction.
func (s *Store) DB(ctx context.Context) *gorm.DB { return s.db.WithContext(ctx) }

// Strategy is the name that the Store writes into orders.
func (s *Store) Strategy() string { return s.strategy }

// mostRetries is how often a transaction is run again that a deadlock has undone, or
// whose order got the id of another.
const mostRetries = 5

// Tx runs f in a transaction and commits it, and says in the domain's errors
// what that came to: before COMMIT is sent every failure proves that nothing
// was taken; a COMMIT without an answer is ErrUnknown.
func (s *Store) Tx(ctx context.Context, f func(tx *gorm.DB) error) error {
	return retry(ctx, func() error { return s.try(ctx, f) })
}

// retry runs f again when a deadlock has undone it, or when another order has the id
// that it made.
func retry(ctx context.Context, f func() error) error {
	for attempt := 0; ; attempt++ {
		err := f()
		if err == nil || !sqlerr.IsRolledBack(err) && !errors.Is(err, errSameID) || attempt == mostRetries || ctx.Err() != nil {
			return err
		}
	}
}

func (s *Store) try(ctx context.Context, f func(tx *gorm.DB) error) error {
	tx := s.db.WithContext(ctx).Begin(s.view)
	if tx.Error != nil {
		return before(tx.Error)
	}
	committed := false
	defer func() {
		if !committed { // an error, or a panic in f
			tx.Rollback()
		}
	}()
	if err := f(tx); err != nil {
		return before(err)
	}
	committed = true // or it will be settled by the server; a ROLLBACK has no meaning any more
	err := tx.Commit().Error
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sql.ErrTxDone) {
		return before(err) // database/sql: COMMIT was never sent
	}
	return after("COMMIT", err)
}

// nowIn is the database's clock as an expression of its SQL.
func nowIn(db *gorm.DB) string {
	if db.Name() == "sqlite" {
		return "CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)"
	}
	return "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000)"
}

// Read runs one statement outside a transaction and returns its domain error.
// No row is ErrUnknownSKU.
func (s *Store) Read(ctx context.Context, dest any, query string, args ...any) error {
	return scan(s.db.WithContext(ctx), dest, query, args...)
}

// ReadIn is Read in a transaction.
func (s *Store) ReadIn(tx *gorm.DB, dest any, query string, args ...any) error {
	return scan(tx, dest, query, args...)
}

func scan(db *gorm.DB, dest any, query string, args ...any) error {
	res := db.Raw(query, args...).Scan(dest)
	if res.Error != nil {
		return before(res.Error)
	}
	if res.RowsAffected == 0 {
		return seckill.ErrUnknownSKU
	}
	return nil
}

// Exec runs one statement in tx and returns how many rows it matched and what
// LAST_INSERT_ID(expr) it left. It sends the statement as it is: gorm would put it
// together anew, byte by byte, while other buyers wait for the row that this buyer
// holds.
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

// Write runs one statement outside a transaction, one that takes no stock, and
// returns how many rows it matched. After an error it may have been run.
func (s *Store) Write(ctx context.Context, statement string, args ...any) (rows int64, err error) {
	rows, _, err = s.Exec(s.DB(ctx), statement, args...)
	return rows, before(err)
}

// Started is the condition of a stock row whose sale has started, by the
// database's clock.
func (s *Store) Started() string { return "(" + started(s.db) + ")" }

func started(db *gorm.DB) string { return "starts_at IS NULL OR starts_at <= " + nowIn(db) }

// AnyRun lets Record take the run from the stock row as it is.
const AnyRun = 0

// Record writes p's order in the transaction that takes its units. run is the
// run in which the stock was read: a purchase that began before a reset is
// refused with ErrConflict and cannot write into the next sale. (It is no
// guard between buyers of one run.)
//
// The same statement checks the start of the sale against the database's clock:
// an order before it would have no status, and is refused with ErrNotStarted,
// however long ago the start was read elsewhere.
func (s *Store) Record(tx *gorm.DB, p seckill.Purchase, run, remaining int64) (seckill.Receipt, error) {
	from, args := "FROM stock WHERE id = ?", []any{Active, p.SKU}
	if run != AnyRun {
		from, args = from+" AND run = ?", append(args, run)
	}
	_, r, err := s.insert(tx, p, remaining, "SELECT ", "run, CASE WHEN "+started(tx)+" THEN ? END "+from, args...)
	return r, err
}

// Look reads a SKU's row without a lock and outside any transaction, for a buyer
// who comes to the row last: the run in which to Place the order, and how many
// units are left, which may change at once. It refuses whom it can without a wait
// for the row: ErrUnknownSKU, ErrNotStarted (by the database's clock; a start does
// not change within a run) and ErrSoldOut.
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

// Place writes p's order before its units are taken, in the run that Look has
// read, and returns its id. What remains may not be known yet: then the statement
// that takes the units writes it. It takes them from this run only: otherwise the
// transaction is rolled back.
//
// It does not touch the stock row. Record reads the row in its INSERT, and InnoDB
// locks what an INSERT reads: buyers who share that lock could not change the
// row any more, each because of the other.
func (s *Store) Place(tx *gorm.DB, p seckill.Purchase, run, remaining int64) (id int64, r seckill.Receipt, err error) {
	return s.insert(tx, p, remaining, "VALUES (", "?, ?)", run, Active)
}

// insert writes an order, from a list of values or a SELECT that begins with them. in are
// the expressions of its run and its status, and what follows. errReset: the SELECT finds
// no row.
func (s *Store) insert(tx *gorm.DB, p seckill.Purchase, remaining int64, values, in string, args ...any) (int64, seckill.Receipt, error) {
	statement := "INSERT INTO orders " + orderColumns("") + " " + values + "?, ?, ?, ?, ?, ?, ?, ?, " + in
	id := newOrderID()
	public := newPublicID(p.SKU, id)
	rows, _, err := s.Exec(tx, statement, append([]any{id, public, p.RequestID, p.User, p.SKU, p.Quantity, remaining, s.strategy}, args...)...)
	if err == nil && rows == 0 {
		err = errReset
	}
	if err != nil {
		return 0, seckill.Receipt{}, notRecorded(err)
	}
	return id, seckill.Receipt{OrderID: public, SKU: p.SKU, Quantity: p.Quantity,
		Remaining: remaining, Strategy: s.strategy}, nil
}

// An order's id is a time in microseconds with nodeBits random bits behind it.
// In one process every id is later than the one before. Two processes can make
// the same id in the same microsecond; the primary key then refuses the second,
// and its transaction is run again, but for one that holds a lock: its buyer is told
// ErrConflict.
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

// A public id has the SKU and the order's id, which find the row, and a tag: that is
// drawn at random and keeps others from guessing the ids of orders.
func newPublicID(sku, id int64) string { return fmt.Sprintf("o%d-%d-%s", sku, id, rand.Text()[:13]) }

// orderColumns are the columns that an INSERT of orders or refusals fills, in parentheses.
func orderColumns(more string) string {
	return "(id, public_id, request_id, user_id, sku_id, quantity, remaining, strategy, run, status" + more + ")"
}

// CancelOrder marks an order cancelled and has giveBack return its units, in one
// transaction. An order that was cancelled before is left alone. An order of an
// earlier run is ErrUnknownOrder; a reset that comes after this look is met by
// GiveBack.
//
// The look is not in the transaction, which locks before it reads: a snapshot from
// before the latest purchase may not change the stock where innodb_snapshot_isolation
// is ON.
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

// Cancel does a part of CancelOrder in a transaction of the caller's, who has locked
// the stock: it marks an order cancelled, and returns it as it was. back is false when
// it was cancelled before.
func (s *Store) Cancel(tx *gorm.DB, orderID string) (o Order, back bool, err error) {
	if o, err = order(tx, orderID); err != nil {
		return o, false, err
	}
	back, err = s.markCancelled(tx, o)
	return o, back, err
}

func (s *Store) markCancelled(tx *gorm.DB, o Order) (back bool, err error) {
	rows, _, err := s.Exec(tx, "UPDATE orders SET status = ? WHERE sku_id = ? AND run = ? AND id = ? AND status = ?",
		Cancelled, o.SKUID, o.Run, o.ID, Active)
	return rows == 1, err
}

// GiveBack runs the statement that gives the units of a cancelled order back to
// the stock of the order's run. ErrUnknownOrder, and with it a rollback, when
// it matches no row: the sale was reset meanwhile.
func (s *Store) GiveBack(tx *gorm.DB, statement string, args ...any) error {
	rows, _, err := s.Exec(tx, statement, args...)
	if err == nil && rows == 0 {
		err = seckill.ErrUnknownOrder
	}
	return err
}

func unknownOrder(err error) error {
	if errors.Is(err, seckill.ErrUnknownSKU) {
		return seckill.ErrUnknownOrder
	}
	return err
}

// order finds an order by its public id.
func order(db *gorm.DB, publicID string) (Order, error) {
	var o Order
	var sku, id int64
	if n, _ := fmt.Sscanf(publicID, "o%d-%d-", &sku, &id); n != 2 {
		return o, seckill.ErrUnknownOrder
	}
	err := scan(db, &o, "SELECT * FROM orders WHERE sku_id = ? AND run = (SELECT run FROM stock WHERE id = ?) AND id = ? AND public_id = ?",
		sku, sku, id, publicID)
	return o, unknownOrder(err)
}

// Order finds an order of the current run by its public id; ErrUnknownOrder if
// there is none.
func (s *Store) Order(ctx context.Context, id string) (Order, error) {
	return order(s.db.WithContext(ctx), id)
}

// FindRequest returns the row of a user's request for a SKU in its current run, or for any
// SKU if sku is 0: an order in whatever state, or a refusal (Refused). ErrUnknownOrder: there
// is none, or it is not committed yet.
func (s *Store) FindRequest(ctx context.Context, sku, user int64, requestID string) (Order, error) {
	return s.findRequest(ctx, sku, user, requestID, "")
}

// AwaitRequest is FindRequest that waits for a transaction which has written such a row and
// not ended; ErrBusy when that takes longer than a row may be waited for.
func (s *Store) AwaitRequest(ctx context.Context, sku, user int64, requestID string) (Order, error) {
	if s.db.Name() == "sqlite" { // there a writer has the whole file
		return s.FindRequest(ctx, sku, user, requestID)
	}
	return s.findRequest(ctx, sku, user, requestID, " FOR UPDATE")
}

func (s *Store) findRequest(ctx context.Context, sku, user int64, requestID, locking string) (o Order, err error) {
	where, args := "request_id = ? AND user_id = ?", []any{requestID, user}
	if sku != 0 {
		where, args = where+" AND sku_id = ?", append(args, sku)
	}
	// A join with the stock would let the database begin there, and read every order of a run for one.
	err = s.Read(ctx, &o, "SELECT * FROM orders WHERE "+where+
		" AND orders.run = (SELECT stock.run FROM stock WHERE stock.id = orders.sku_id) ORDER BY id LIMIT 1"+locking, args...)
	return o, unknownOrder(err)
}

// SKU reads one stock row; ErrUnknownSKU if there is none.
func (s *Store) SKU(ctx context.Context, id int64) (judge.Stock, error) {
	var st judge.Stock
	err := s.Read(ctx, &st, "SELECT * FROM stock WHERE id = ?", id)
	return st, err
}

// Reset is Schedule for a sale that starts at once.
func (s *Store) Reset(ctx context.Context, id int64, name string, stock int64) (judge.Stock, error) {
	return s.Schedule(ctx, id, name, stock, nil)
}

// Schedule creates the SKU or starts its next run: stock, initial and start are
// set, its run is raised. Orders of the run before are not touched: nothing finds
// them any more, and Sweep removes them. Schedule waits for transactions that
// hold the row; purchases that read the stock before it are refused by Record.
//
// The fence of a new run is 0: fencing tokens of the run before may be of
// another lock, which counts in other steps. A late holder of that run cannot
// use the low fence, because every check of a token checks the run, too:
// the pair of run and fence never falls (package lock, fenced.go).
func (s *Store) Schedule(ctx context.Context, id int64, name string, stock int64, starts *judge.Moment) (judge.Stock, error) {
	var st judge.Stock
	if err := s.create(ctx, id); err != nil {
		return st, err
	}
	err := s.Tx(ctx, func(tx *gorm.DB) error {
		_, _, err := s.Exec(tx, "UPDATE stock SET name = ?, initial = ?, num = ?, starts_at = ?, "+
			"version = version + 1, fence = 0, run = run + 1 WHERE id = ?", name, stock, stock, starts, id)
		if err != nil {
			return err
		}
		return scan(tx, &st, "SELECT * FROM stock WHERE id = ?", id)
	})
	return st, err
}

// create makes sure that the row is there, in a statement of its own: in one
// transaction with the UPDATE, two buyers who found it missing would hold the gap
// in which each of them waits to insert it.
func (s *Store) create(ctx context.Context, id int64) error {
	return before(s.db.WithContext(ctx).Exec(
		insertIgnore(s.db)+" INTO stock (id, name, initial, num, run) VALUES (?, '', 0, 0, 0)", id).Error)
}

// insertIgnore begins an INSERT that leaves a row alone which is there already.
func insertIgnore(db *gorm.DB) string {
	if db.Name() == "sqlite" {
		return "INSERT OR IGNORE"
	}
	return "INSERT IGNORE"
}

// Snapshot reads one SKU's stock and the orders of its run in one consistent
// view.
func (s *Store) Snapshot(ctx context.Context, sku int64) (snap judge.Snapshot, err error) {
	err = s.View(ctx, sku, func(e judge.Evidence) {
		snap = e.Snapshot
		snap.Orders = []Order{}
		for o := range e.ByAge {
			snap.Orders = append(snap.Orders, *o)
		}
	})
	if err == nil { // refusals are final: to read them later does no harm
		err = before(s.DB(ctx).Raw("SELECT user_id, request_id FROM orders WHERE sku_id = ? AND run = ? AND status = ?",
			sku, snap.Stock.Run, Refused).Scan(&snap.Refused).Error)
	}
	return snap, err
}

// View is Snapshot for a large sale: look reads the orders (Evidence.ByAge, ByUnit), and
// none is kept. Orders of higher runs are evidence, too: the stock row was put back to an
// older state beneath them, and nothing that it says can be trusted.
func (s *Store) View(ctx context.Context, sku int64, look func(judge.Evidence)) (err error) {
	read := func(tx *gorm.DB) error {
		var snap judge.Snapshot
		if err := scan(tx, &snap.Stock, "SELECT * FROM stock WHERE id = ?", sku); err != nil {
			return err
		}
		run := snap.Stock.Run
		orders := func(which string) iter.Seq[*Order] {
			return func(yield func(*Order) bool) {
				err = errors.Join(err, eachOrder(tx, yield, "o.sku_id = ? AND o.run >= ? "+which, sku, run))
			}
		}
		look(judge.Evidence{Snapshot: snap, Initial: snap.Stock.Initial, Run: run, ByAge: orders("ORDER BY o.run, o.id"),
			ByUnit: orders("AND o.status = 'active' ORDER BY o.remaining + o.quantity DESC, o.run, o.id")})
		return err
	}
	if s.atRest {
		err = read(s.DB(ctx))
	} else { // repeatable, as every session reads
		err = s.DB(ctx).Transaction(read, &sql.TxOptions{ReadOnly: true})
	}
	return before(err)
}

// eachOrder reads some orders, with their reservations, one row at a time. Refusals are left out.
func eachOrder(db *gorm.DB, yield func(*Order) bool, where string, args ...any) error {
	rows, err := db.Raw("SELECT o.id, o.public_id, o.request_id, o.run, o.user_id, o.sku_id, o.quantity, o.remaining, "+
		"o.status, o.strategy, o.created_at, "+reservationColumns(db)+"FROM orders AS o LEFT JOIN reservations AS r "+
		"ON r.sku_id = o.sku_id AND r.run = o.run AND r.id = o.id WHERE o.status <> 'refused' AND "+where, args...).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var o Order
		var state sql.Null[seckill.ReservationState]
		var released, ends, left sql.NullInt64
		if err := rows.Scan(&o.ID, &o.PublicID, &o.RequestID, &o.Run, &o.UserID, &o.SKUID, &o.Quantity, &o.Remaining,
			&o.Status, &o.Strategy, &o.CreatedAt, &state, &released, &ends, &left); err != nil {
			return err
		}
		if state.Valid {
			o.Reservation = &judge.Reservation{State: state.V, Ends: judge.Moment(ends.Int64), Released: released.Int64, Left: left.Int64}
		}
		if !yield(&o) {
			return nil
		}
	}
	return rows.Err()
}
