package tap

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
)

// Connector wraps the driver of database/sql, so that each statement passes the Tap of its context.
// COMMIT and ROLLBACK have no context of their own and use the context of their BEGIN. The inner
// driver must implement ConnBeginTx, ConnPrepareContext, ExecerContext, StmtExecContext,
// StmtQueryContext and NamedValueChecker, as both of our drivers do.
func Connector(inner driver.Connector, o SQLOptions) driver.Connector {
	return &connector{inner, o}
}

// SQLOptions describe the inner driver to Connector.
type SQLOptions struct {
	// OnConnect, if not nil, prepares every new connection of the inner driver.
	OnConnect func(context.Context, driver.Conn) error
	// Error, if not nil, replaces each error of the inner driver. If it returns driver.ErrBadConn,
	// the connection is closed.
	Error func(error) error
	// PreparesArgs is true if the driver prepares every statement that has arguments. Such a statement passes the Tap
	// when the prepared statement is executed, not at the earlier call that ends with driver.ErrSkip.
	PreparesArgs bool
}

type connector struct {
	driver.Connector
	options SQLOptions
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if c.options.OnConnect != nil {
		if err := c.options.OnConnect(ctx, inner); err != nil {
			inner.Close()
			return nil, err
		}
	}
	return &conn{Conn: inner, options: c.options}, nil
}

// A conn sends each statement through the Tap. SQLite's driver lacks the interfaces driver.QueryerContext and
// driver.SessionResetter, and conn does what database/sql does for such a driver.
type conn struct {
	driver.Conn
	options SQLOptions
	isCut   atomic.Bool
}

// sendStatement sends a statement through the Tap. If the statement succeeds, the function reply describes its result.
// reply is nil if the statement returns no data. If sendStatement closes the connection, the server rolls back the open
// transaction, as after a real failure:
//
//	the Tap             the server         the caller gets    the connection
//	lets it through     answers            the answer         stays open
//	lets it through     is cut off         ErrBadConn         is closed
//	stops it            does not get it    the Tap's error    is closed
//	loses the reply     has done it        the Tap's error    is closed
//	makes it late       gets it later      a *Late            is closed after the delivery
func sendStatement[T any](
	ctx context.Context, c *conn, describe func() *Command,
	send func(context.Context) (T, error), reply func(*T) string,
) (got T, err error) {
	if c.isCut.Load() {
		return got, driver.ErrBadConn
	}
	answered := errNotSent
	got, err = Do(ctx, SQL, describe, func(ctx context.Context) (T, error) {
		if IsLate(ctx) {
			defer c.Conn.Close()
			return send(ctx)
		}
		got, err := send(ctx)
		if err != nil && c.options.Error != nil {
			err = c.options.Error(err)
		}
		answered = err
		return got, err
	}, func(got *T, err error) string {
		if err != nil || reply == nil {
			return ""
		}
		return reply(got)
	})
	stopped := err != nil && (answered == nil || errors.Is(answered, errNotSent)) // the Tap, not the server, caused err
	if (stopped || errors.Is(answered, driver.ErrBadConn)) && !c.isCut.Swap(true) {
		if _, late := errors.AsType[*Late](err); !late {
			c.Conn.Close()
		}
	}
	// After an error the caller does not get the rows, so they must be closed here.
	if rows, ok := any(got).(driver.Rows); ok && err != nil {
		rows.Close()
	}
	return got, err
}

var errNotSent = errors.New("not sent")

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := sendStatement(ctx, c, describeStatement("BEGIN", nil), func(ctx context.Context) (driver.Tx, error) {
		return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	}, nil)
	if err != nil {
		return nil, err
	}
	return &transaction{tx, ctx, c}, nil
}

func (c *conn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	if c.options.PreparesArgs && len(args) > 0 {
		return nil, driver.ErrSkip
	}
	return sendStatement(ctx, c, describeStatement(q, args), func(ctx context.Context) (driver.Result, error) {
		return c.Conn.(driver.ExecerContext).ExecContext(ctx, q, args)
	}, describeChange)
}

func (c *conn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	e, ok := c.Conn.(driver.QueryerContext)
	if !ok || c.options.PreparesArgs && len(args) > 0 {
		return nil, driver.ErrSkip
	}
	return sendStatement(ctx, c, describeStatement(q, args), func(ctx context.Context) (driver.Rows, error) {
		return e.QueryContext(ctx, q, args)
	}, readAhead)
}

func (c *conn) PrepareContext(ctx context.Context, q string) (s driver.Stmt, err error) {
	if s, err = c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, q); err != nil {
		return nil, err
	}
	return &stmt{s, q, c}, nil
}

func (c *conn) Close() error {
	if c.isCut.Swap(true) {
		return nil
	}
	return c.Conn.Close()
}

func (c *conn) ResetSession(ctx context.Context) error {
	if c.isCut.Load() {
		return driver.ErrBadConn
	}
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	return c.Conn.(driver.NamedValueChecker).CheckNamedValue(v)
}

type stmt struct {
	driver.Stmt
	text string
	conn *conn
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return sendStatement(ctx, s.conn, describeStatement(s.text, args), func(ctx context.Context) (driver.Result, error) {
		return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
	}, describeChange)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return sendStatement(ctx, s.conn, describeStatement(s.text, args), func(ctx context.Context) (driver.Rows, error) {
		return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	}, readAhead)
}

func (s *stmt) CheckNamedValue(v *driver.NamedValue) error {
	return s.Stmt.(driver.NamedValueChecker).CheckNamedValue(v)
}

type transaction struct {
	driver.Tx
	ctx  context.Context
	conn *conn
}

func (t *transaction) Commit() error { return t.endTransaction("COMMIT", t.Tx.Commit) }

func (t *transaction) Rollback() error { return t.endTransaction("ROLLBACK", t.Tx.Rollback) }

func (t *transaction) endTransaction(verb string, send func() error) error {
	_, err := sendStatement(t.ctx, t.conn, describeStatement(verb, nil), func(context.Context) (struct{}, error) {
		return struct{}{}, send()
	}, nil)
	return err
}

func describeStatement(q string, args []driver.NamedValue) func() *Command {
	return func() *Command {
		c := &Command{Name: firstWord(q), Text: q}
		for _, a := range args {
			c.Args = append(c.Args, a.Value)
		}
		return c
	}
}

func firstWord(q string) string {
	q = strings.TrimSpace(q)
	if end := strings.IndexAny(q, " \t\n(;"); end > 0 {
		q = q[:end]
	}
	return strings.ToUpper(q)
}

func describeChange(res *driver.Result) string {
	n, err := (*res).RowsAffected()
	switch {
	case err != nil:
		return ""
	case n == 1:
		return "1 row"
	}
	return fmt.Sprint(n, " rows")
}

// readAhead describes the first rows of a query and keeps them for the caller.
func readAhead(rows *driver.Rows) string {
	kept := &keptRows{Rows: *rows}
	*rows = kept
	var lines []string
	for columns := kept.Columns(); len(lines) < rowsAhead; {
		row := make([]driver.Value, len(columns))
		if kept.end = kept.Rows.Next(row); kept.end != nil {
			break
		}
		for i, v := range row {
			if b, ok := v.([]byte); ok { // the driver reuses b for the next row
				row[i] = slices.Clone(b)
			}
		}
		kept.ahead = append(kept.ahead, row)
		lines = append(lines, describeRow(columns, row))
	}
	switch {
	case len(lines) == 0 && errors.Is(kept.end, io.EOF):
		return "no row"
	case len(lines) == rowsAhead:
		lines[rowsAhead-1] = "…"
	}
	return strings.Join(lines, "; ")
}

const rowsAhead = 4

func describeRow(columns []string, row []driver.Value) string {
	values := make([]string, len(row))
	for i, v := range row {
		switch b, ok := v.([]byte); {
		case ok:
			v = string(b)
		case v == nil:
			v = "NULL"
		}
		values[i] = fmt.Sprint(v)
		if len(columns) > 1 {
			values[i] = columns[i] + " = " + values[i]
		}
	}
	return strings.Join(values, ", ")
}

// keptRows is a driver.Rows whose first rows have already been read.
type keptRows struct {
	driver.Rows
	ahead [][]driver.Value
	end   error // the error after the rows in ahead: io.EOF if there are no more rows
}

func (r *keptRows) Next(into []driver.Value) error {
	switch {
	case len(r.ahead) > 0:
		copy(into, r.ahead[0])
		r.ahead = r.ahead[1:]
		return nil
	case r.end != nil:
		return r.end
	}
	return r.Rows.Next(into)
}
