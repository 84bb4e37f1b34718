package backend

import (
	"context"
	"database/sql/driver"
	"errors"
	"hash/maphash"

	"github.com/go-sql-driver/mysql"
)

const (
	// prepareAfter is how often a connection sends a statement as text before it
	// has the server prepare it, for one more round trip. What comes rarely never
	// pays for that.
	prepareAfter = 4
	// mostPrepared bounds the statements that the server keeps for a connection,
	// mostSeen those that are counted.
	mostPrepared, mostSeen = 128, 512
	// longestPrepared bounds their text, in bytes: lists of any length are rarely
	// the same twice.
	longestPrepared = 32 << 10
)

// Errors of a prepared statement that was not run: the server has forgotten
// it, or cannot use it any more.
const errUnknownStatement, errPrepareAgain = 1243, 1615

// Errors of PREPARE about preparing alone, besides errSyntax: SHOW takes arguments as
// text only. Any other is the statement's own, such as 1213: it ended the
// transaction, and as text the statement would run outside of it.
const errCannotPrepare, errTooManyPrepared = 1295, 1461

// preparing has the server parse a statement once for each connection: one with
// arguments that comes again and again is prepared, and then sent as a number
// with its arguments. A sale costs the server a sixth less that way. Text,
// answer and errors are the same, and so is the number of round trips.
type preparing struct{ driver.Connector }

func (c preparing) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	known, ok := inner.(mysqlConn)
	if !ok {
		return inner, nil
	}
	return &preparingConn{mysqlConn: known, seed: maphash.MakeSeed(), known: map[uint64]*repeated{}}, nil
}

// mysqlConn is what the driver's connection can do.
type mysqlConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	driver.NamedValueChecker
}

type mysqlStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// A repeated statement was seen so often on its connection.
type repeated struct {
	times    int
	prepared mysqlStatement // nil: it is sent as text
	text     string         // of what is prepared
}

// database/sql lets one caller at a time use a connection.
type preparingConn struct {
	mysqlConn
	seed     maphash.Seed
	known    map[uint64]*repeated // by the text's hash: most texts are long, and come once
	prepared int
}

func (c *preparingConn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.statement(ctx, q, args)
	if err != nil {
		return nil, err
	}
	if s != nil {
		result, err := s.ExecContext(ctx, args)
		if !c.forgotten(q, err) {
			return result, err
		}
	}
	return c.mysqlConn.ExecContext(ctx, q, args)
}

func (c *preparingConn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.statement(ctx, q, args)
	if err != nil {
		return nil, err
	}
	if s != nil {
		rows, err := s.QueryContext(ctx, args)
		if !c.forgotten(q, err) {
			return rows, err
		}
	}
	return c.mysqlConn.QueryContext(ctx, q, args)
}

// statement is q if it is prepared, nil if it is to be sent as text. An error
// means that q was not sent.
func (c *preparingConn) statement(ctx context.Context, q string, args []driver.NamedValue) (mysqlStatement, error) {
	if len(args) == 0 || len(q) > longestPrepared {
		return nil, nil
	}
	id := maphash.String(c.seed, q)
	r := c.known[id]
	switch {
	case r == nil:
		if len(c.known) == mostSeen {
			c.forgetRare()
		}
		c.known[id] = &repeated{times: 1}
		return nil, nil
	case r.prepared != nil && r.text == q:
		return r.prepared, nil
	case r.times > prepareAfter:
		return nil, nil
	}
	if r.times++; r.times <= prepareAfter || c.prepared == mostPrepared {
		return nil, nil
	}
	err := c.prepare(ctx, q, r)
	return r.prepared, err
}

// prepare leaves a statement that cannot be prepared to be sent as text.
func (c *preparingConn) prepare(ctx context.Context, q string, r *repeated) error {
	s, err := c.mysqlConn.PrepareContext(ctx, q)
	var refused *mysql.MySQLError
	switch {
	case err == nil:
		r.prepared, _ = s.(mysqlStatement)
		r.text = q
		c.prepared++
		return nil
	case isMySQL(err, errSyntax), isMySQL(err, errCannotPrepare), isMySQL(err, errTooManyPrepared):
		return nil
	case errors.As(err, &refused):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return driver.ErrBadConn // the connection broke before q was sent
}

// forgetRare makes room for statements that may come more often.
func (c *preparingConn) forgetRare() {
	for q, r := range c.known {
		if r.prepared == nil {
			delete(c.known, q)
		}
	}
}

// forgotten reports whether the server did not run q because it does not have
// it any more; from now on it is sent as text.
func (c *preparingConn) forgotten(q string, err error) bool {
	if !isMySQL(err, errUnknownStatement) && !isMySQL(err, errPrepareAgain) {
		return false
	}
	c.known[maphash.String(c.seed, q)].prepared = nil
	return true
}
