package mysqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// GetLock is the lock that MySQL and MariaDB have built in: it needs no table,
// no row and no transaction. The lock belongs to a connection, so the holder
// keeps one connection and sends its purchase on it.
var GetLock = family.Strategy(catalog.Info{
	Name:       "get-lock",
	Source:     "ours",
	Guarantees: catalog.Robust.Holds(catalog.Owner),
	OneNode:    true,
	Also:       []string{"session.go", "tables.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		limit, err := maxRowWait(d.LockDB)
		return &userLock{d.LockDB, limit}, err
	},
})

type userLock struct {
	db    *gorm.DB
	limit time.Duration // how long one GET_LOCK may wait
}

// Acquire waits for the lock named key. o.Lease has no effect: the lock lives
// as long as its connection.
func (l *userLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	end := time.Now().Add(o.Wait)
	conn, err := takeConn(ctx, l.db, o.Wait)
	if err != nil {
		return nil, err
	}
	err = l.waitForLock(ctx, conn, key, o.Wait, end)
	switch {
	case errors.Is(err, errUserLockHeld):
		conn.Close()
		return nil, seckill.ErrBusy
	case err != nil: // we may have the lock, so end the session
		closeConn(conn)
		return nil, acquireError(ctx, err)
	}
	lease := &sessionLease{session: onConnection(ctx, l.db, conn)}
	lease.Hold = lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return releaseUserLock(ctx, conn, key)
	})
	return lease, nil
}

var errUserLockHeld = errors.New("GET_LOCK answered 0")

// waitForLock asks for the lock until the buyer's time ends. GET_LOCK counts
// in whole seconds. For a buyer without a time limit, waitForLock repeats
// GET_LOCK with a limit, because MariaDB, unlike MySQL, refuses -1 (no limit).
func (l *userLock) waitForLock(
	ctx context.Context, conn *sql.Conn, key string,
	wait time.Duration, end time.Time,
) error {
	for {
		limit := l.limit
		if wait >= 0 {
			seconds := math.Ceil(max(0, time.Until(end)).Seconds())
			limit = min(limit, time.Duration(seconds)*time.Second)
		}
		asking, cancel := statementContext(ctx, wait, end, limit)
		var got sql.NullInt64
		err := conn.QueryRowContext(asking, "SELECT GET_LOCK(?, ?)",
			key, int(limit.Seconds())).Scan(&got)
		cancel()
		switch {
		case err != nil && ctx.Err() == nil && asking.Err() != nil:
			return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
		case err != nil:
			return err
		case !got.Valid:
			return errors.New("GET_LOCK answered NULL: the server " +
				"could not even try")
		case got.Int64 == 1:
			return nil
		case wait >= 0 && time.Until(end) <= 0:
			return errUserLockHeld
		}
	}
}

func releaseUserLock(
	ctx context.Context, conn *sql.Conn, key string,
) error {
	var released sql.NullInt64
	err := conn.QueryRowContext(ctx,
		"SELECT RELEASE_LOCK(?)", key).Scan(&released)
	if err != nil { // closing the connection ends the lock
		closeConn(conn)
		return releaseError(err)
	}
	conn.Close()
	if released.Int64 != 1 {
		return lock.ErrNotHeld
	}
	return nil
}
