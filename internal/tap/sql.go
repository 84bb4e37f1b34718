package tap

import (
	"context"
	"database/sql/driver"
	"strings"
)

// Connector puts the tap under database/sql: every connection it opens, a
// pooled one or a pinned *sql.Conn, lets each statement pass the Tap of the
// context it is called with. COMMIT and ROLLBACK carry no context, so they use
// the one their transaction was begun with. The inner driver must know contexts
// (ConnBeginTx, StmtExecContext, StmtQueryContext), as both of ours do.
func Connector(inner driver.Connector, o SQLOptions) driver.Connector {
	return &connector{inner, o}
}

// SQLOptions are what Connector must know of the inner driver.
type SQLOptions struct {
	// OnConnect, if not nil, is given every new connection of the inner driver.
	OnConnect func(driver.Conn) error
	// PreparesArgs: the driver prepares every statement that has arguments. Such
	// a statement passes the tap when it is executed, not when it is refused.
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
		if err := c.options.OnConnect(inner); err != nil {
			inner.Close()
			return nil, err
		}
	}
	return &conn{inner, c.options.PreparesArgs}, nil
}

// conn forwards every optional interface of database/sql/driver; what the
// inner driver lacks answers driver.ErrSkip or the package's own default.
type conn struct {
	driver.Conn
	preparesArgs bool
}

// Raw is the inner driver's connection.
func (c *conn) Raw() driver.Conn { return c.Conn }

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (tx driver.Tx, err error) {
	err = Do(ctx, fixed("BEGIN"), func() error {
		tx, err = c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
		return err
	})
	if err != nil {
		if tx != nil { // began, but its reply was lost: leave nothing open
			_ = tx.Rollback()
		}
		return nil, err
	}
	return &transaction{tx, ctx}, nil
}

func (c *conn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (res driver.Result, err error) {
	e, ok := c.Conn.(driver.ExecerContext)
	if !ok || c.preparesArgs && len(args) > 0 {
		return nil, driver.ErrSkip
	}
	err = Do(ctx, statement(q, args), func() error {
		res, err = e.ExecContext(ctx, q, args)
		return err
	})
	return res, err
}

func (c *conn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (rows driver.Rows, err error) {
	e, ok := c.Conn.(driver.QueryerContext)
	if !ok || c.preparesArgs && len(args) > 0 {
		return nil, driver.ErrSkip
	}
	err = Do(ctx, statement(q, args), func() error {
		rows, err = e.QueryContext(ctx, q, args)
		return err
	})
	if err != nil && rows != nil {
		rows.Close()
		rows = nil
	}
	return rows, err
}

func (c *conn) PrepareContext(ctx context.Context, q string) (s driver.Stmt, err error) {
	if p, ok := c.Conn.(driver.ConnPrepareContext); ok {
		s, err = p.PrepareContext(ctx, q)
	} else {
		s, err = c.Conn.Prepare(q)
	}
	if err != nil {
		return nil, err
	}
	return &stmt{s, q}, nil
}

func (c *conn) Ping(ctx context.Context) error {
	if p, ok := c.Conn.(driver.Pinger); ok {
		return p.Ping(ctx)
	}
	return nil
}

func (c *conn) ResetSession(ctx context.Context) error {
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

func (c *conn) IsValid() bool {
	if v, ok := c.Conn.(driver.Validator); ok {
		return v.IsValid()
	}
	return true
}

func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if ch, ok := c.Conn.(driver.NamedValueChecker); ok {
		return ch.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

type stmt struct {
	driver.Stmt
	text string
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (res driver.Result, err error) {
	err = Do(ctx, statement(s.text, args), func() error {
		res, err = s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
		return err
	})
	return res, err
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (rows driver.Rows, err error) {
	err = Do(ctx, statement(s.text, args), func() error {
		rows, err = s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
		return err
	})
	if err != nil && rows != nil {
		rows.Close()
		rows = nil
	}
	return rows, err
}

func (s *stmt) CheckNamedValue(v *driver.NamedValue) error {
	if ch, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return ch.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

type transaction struct {
	driver.Tx
	ctx context.Context
}

func (t *transaction) Commit() error   { return Do(t.ctx, fixed("COMMIT"), t.Tx.Commit) }
func (t *transaction) Rollback() error { return Do(t.ctx, fixed("ROLLBACK"), t.Tx.Rollback) }

func fixed(verb string) func() *Command {
	return func() *Command { return &Command{Backend: SQL, Name: verb, Text: verb} }
}

func statement(q string, args []driver.NamedValue) func() *Command {
	return func() *Command {
		c := &Command{Backend: SQL, Name: verb(q), Text: q}
		for _, a := range args {
			c.Args = append(c.Args, a.Value)
		}
		return c
	}
}

// verb is a statement's first word in upper case.
func verb(q string) string {
	q = strings.TrimSpace(q)
	if end := strings.IndexAny(q, " \t\n(;"); end > 0 {
		q = q[:end]
	}
	return strings.ToUpper(q)
}
