package mysqllock

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// A sessionLease is a lock that lives in a database session. The purchase runs
// on the same connection, so lock and purchase end together.
type sessionLease struct {
	*lock.Hold
	session *gorm.DB
}

func (l *sessionLease) Session() *gorm.DB { return l.session }

// onConnection returns a db that sends each statement to pool, which is one
// connection or its transaction.
func onConnection(
	ctx context.Context, db *gorm.DB, pool gorm.ConnPool,
) *gorm.DB {
	session := db.WithContext(ctx)
	session.Statement.ConnPool = pool
	return session
}

// takeConn takes a connection out of the pool, for the wait for the lock and
// for the lock itself. The wait for a free connection is part of this wait.
func takeConn(
	ctx context.Context, db *gorm.DB, wait time.Duration,
) (*sql.Conn, error) {
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	asking, cancel := ctx, context.CancelFunc(func() {})
	if wait >= 0 { // allow a second to open a connection
		asking, cancel = context.WithTimeout(ctx, max(wait, time.Second))
	}
	defer cancel()
	conn, err := pool.Conn(asking)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() == nil && asking.Err() != nil:
		return nil, fmt.Errorf("%w: no connection was free: %w",
			seckill.ErrBusy, err)
	}
	return nil, acquireError(ctx, err)
}

// closeConn closes the connection instead of giving it back to the pool. The
// server then ends the locks and statements of the connection.
func closeConn(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = conn.Close()
}

// releaseError returns the error of a release that failed with err. If the
// connection has ended, the lock ended with it, and the error is ErrNotHeld.
// After any other error, the caller closes the connection to end the lock.
func releaseError(err error) error {
	if errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, mysql.ErrInvalidConn) ||
		errors.Is(err, sql.ErrTxDone) || errors.Is(err, sql.ErrConnDone) {
		return fmt.Errorf("%w: %w", lock.ErrNotHeld, err)
	}
	return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
}

// maxRowWait returns how long the server lets a statement wait for a row. The
// strategy must not set a higher limit, because the read time-out of the
// connections is only a little longer.
func maxRowWait(db *gorm.DB) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var seconds int64
	err := db.WithContext(ctx).
		Raw("SELECT @@innodb_lock_wait_timeout").Scan(&seconds).Error
	return time.Duration(seconds) * time.Second, err
}

// statementContext returns a context for a statement that the server itself
// stops after limit. The end of a context also closes the connection. So the
// context ends at the deadline only if the server would stop the statement
// more than 200 ms later. No deadline is needed if limit is 0, because the
// server then answers at once. If wait is negative, the buyer has no deadline.
func statementContext(
	ctx context.Context, wait time.Duration, deadline time.Time,
	limit time.Duration,
) (context.Context, context.CancelFunc) {
	if wait < 0 || limit == 0 ||
		limit-time.Until(deadline) < 200*time.Millisecond {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline)
}
