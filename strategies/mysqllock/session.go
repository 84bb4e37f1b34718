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

// A sessionLease is a lock that lives in a database session: the business runs
// on the same connection, and none of the two outlives the other.
type sessionLease struct {
	*lock.Hold
	session *gorm.DB
}

func (l *sessionLease) Session() *gorm.DB { return l.session }

// on is db with every statement sent to pool, which is one connection.
func onConnection(ctx context.Context, db *gorm.DB, pool gorm.ConnPool) *gorm.DB {
	session := db.WithContext(ctx)
	session.Statement.ConnPool = pool
	return session
}

// connect takes a connection out of the pool for as long as a lock is waited
// for and held. Waiting for one is waiting for the lock.
func takeConn(
	ctx context.Context, db *gorm.DB, wait time.Duration,
) (*sql.Conn, error) {
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	asking, cancel := ctx, context.CancelFunc(func() {})
	if wait >= 0 { // to dial takes a moment, too
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

// disconnect closes the connection itself: whatever the server still keeps or
// does for it ends with it.
func closeConn(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = conn.Close()
}

// notFreed is what it means that a session could not be told to let go. When
// its connection is gone, so is the lock; otherwise the lock goes with the
// connection that is closed now.
func releaseError(err error) error {
	if errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, mysql.ErrInvalidConn) ||
		errors.Is(err, sql.ErrTxDone) || errors.Is(err, sql.ErrConnDone) {
		return fmt.Errorf("%w: %w", lock.ErrNotHeld, err)
	}
	return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
}

// rowWait is how long the server lets a statement wait for a row. The pool's
// limit for an answer is longer than that, and no statement may wait longer.
func maxRowWait(db *gorm.DB) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var seconds int64
	err := db.WithContext(ctx).
		Raw("SELECT @@innodb_lock_wait_timeout").Scan(&seconds).Error
	return time.Duration(seconds) * time.Second, err
}

// patience is the context of one statement that the server lets wait for
// limit, when the buyer's own time is over at end. The server ends the wait,
// unless that would be clearly too late: then the end of the buyer's time costs
// the connection.
func statementContext(
	ctx context.Context, wait time.Duration, end time.Time,
	limit time.Duration,
) (context.Context, context.CancelFunc) {
	if wait < 0 || limit == 0 || // it answers at once
		limit-time.Until(end) < 200*time.Millisecond {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, end, errOutOfTime)
}

var errOutOfTime = errors.New("the buyer's own time is over")
