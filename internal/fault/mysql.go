package fault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Faults of a database that goes on, and refuses.
const (
	// ReadOnlyMySQL: the server has become a replica, as after a failover.
	ReadOnlyMySQL Name = "read_only_mysql"
	// LockRow: another session holds the row for longer than a statement waits for
	// it (error 1205).
	LockRow Name = "lock_row_mysql"
	// Deadlock: another session takes the orders before the row, again and again,
	// and buyers are chosen to be rolled back (error 1213).
	Deadlock Name = "deadlock_mysql"
	// FewConnections: all connections are closed, and hardly any can be opened
	// (error 1040).
	FewConnections Name = "few_connections_mysql"
)

var (
	readOnlyMySQL  = refuses(ReadOnlyMySQL, lostReply, "MySQL takes no writes, as a primary that has become a replica", readOnly)
	lockRow        = refuses(LockRow, lateCommand, "another session holds the row for longer than statements wait for it", holdRow)
	deadlock       = refuses(Deadlock, lostReply, "another session takes the orders before the row: deadlocks, and buyers are rolled back", entangle)
	fewConnections = refuses(FewConnections, leaseEnd, "all connections to MySQL are closed, and only one or two can be opened", crowd)
)

// An end ends a fault of the database, and returns how often it was met.
type end func(context.Context) (met int64, err error)

// refuses has the administrator's session do harm.
func refuses(name Name, question, describe string, begin func(context.Context, *sql.DB, Aim) (end, error)) Fault {
	return Fault{Name: name, Question: question, Everywhere: true, Lasts: true, Describe: describe,
		missing: func(e Env) *Lack {
			db, why := e.Database()
			if why == nil {
				db.Close()
			}
			return why
		},
		inject: func(ctx context.Context, e Env, a Aim) (*Injection, error) {
			db, why := e.Database()
			if why != nil {
				return nil, fmt.Errorf("%s: %s", name, why)
			}
			seen := everywhere(ctx, e, a)
			over, err := begin(ctx, db, a)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("%s: %w", name, err), db.Close())
			}
			begun := time.Now()
			seen.Took = true
			seen.weigh()
			return &Injection{seen, func(ctx context.Context, e *Effect) error {
				defer db.Close()
				met, err := over(ctx)
				e.Stood = int(time.Since(begun).Milliseconds())
				if met == 0 {
					e.Took, e.Matters, e.Why = false, false, NotMet
				}
				return err
			}}, nil
		}}
}

// counter reads one of the server's own counts.
func counter(ctx context.Context, db *sql.DB, name string) (n int64, err error) {
	var text string
	err = db.QueryRowContext(ctx, "SELECT variable_value FROM information_schema.global_status WHERE variable_name = ?", name).Scan(&text)
	if err != nil {
		return 0, fmt.Errorf("read the count %s: %w", name, err)
	}
	return strconv.ParseInt(text, 10, 64)
}

func execute(ctx context.Context, on interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, statements ...string) error {
	for _, s := range statements {
		if _, err := on.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// readOnly refuses the writes of services, whose account may not overrule it. The
// server does not count what it refused: it was read-only until the end.
func readOnly(ctx context.Context, db *sql.DB, _ Aim) (end, error) {
	if err := execute(ctx, db, "SET GLOBAL read_only = 1"); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (met int64, err error) {
		err = db.QueryRowContext(ctx, "SELECT @@GLOBAL.read_only").Scan(&met)
		return met, errors.Join(err, execute(ctx, db, "SET GLOBAL read_only = 0"))
	}, nil
}

func holdRow(ctx context.Context, db *sql.DB, a Aim) (end, error) {
	before, err := counter(ctx, db, "innodb_row_lock_waits")
	if err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return nil, err
	}
	var num int64
	if err := tx.QueryRowContext(ctx, "SELECT num FROM stock WHERE id = ? FOR UPDATE", a.SKU).Scan(&num); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return func(ctx context.Context) (int64, error) {
		after, err := counter(ctx, db, "innodb_row_lock_waits")
		return after - before, errors.Join(err, tx.Rollback())
	}, nil
}

// again is how often the orders are taken before the row.
const again = 25 * time.Millisecond

func entangle(ctx context.Context, db *sql.DB, a Aim) (end, error) {
	before, err := counter(ctx, db, "innodb_deadlocks")
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	own, done := int64(0), make(chan struct{})
	go func() {
		defer close(done)
		defer conn.Close()
		next := time.NewTicker(again)
		defer next.Stop()
		for working.Err() == nil {
			if crossed(working, conn, a) != nil {
				own++ // it was chosen itself, or waited in vain
			}
			select {
			case <-next.C:
			case <-working.Done():
			}
		}
	}()
	return func(ctx context.Context) (int64, error) {
		stop()
		<-done
		after, err := counter(ctx, db, "innodb_deadlocks")
		return max(0, after-before-own), err
	}, nil
}

// crossed takes the orders, then the row. InnoDB rolls the transaction back that
// has changed least: so this one has changed much.
func crossed(ctx context.Context, conn *sql.Conn, a Aim) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var n int64
	err = execute(ctx, tx, "SET innodb_lock_wait_timeout = 1",
		"CREATE TEMPORARY TABLE IF NOT EXISTS weight (n INT PRIMARY KEY) ENGINE=InnoDB",
		"INSERT IGNORE INTO weight SELECT seq FROM seq_1_to_200")
	if err == nil {
		err = tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM orders WHERE sku_id = ? FOR UPDATE", a.SKU).Scan(&n)
	}
	if err == nil { // a buyer comes who has the row, and waits for the orders
		err = execute(ctx, tx, "DO SLEEP(0.03)")
	}
	if err == nil {
		err = tx.QueryRowContext(ctx, "SELECT num FROM stock WHERE id = ? FOR UPDATE", a.SKU).Scan(&n)
	}
	return err
}

// fewest is the least that MariaDB takes as its limit; crowd takes most of it.
const fewest = 10

func crowd(ctx context.Context, db *sql.DB, _ Aim) (_ end, err error) {
	const refused = "connection_errors_max_connections"
	before, err := counter(ctx, db, refused)
	if err != nil {
		return nil, err
	}
	var usual int
	if err := db.QueryRowContext(ctx, "SELECT @@GLOBAL.max_connections").Scan(&usual); err != nil {
		return nil, err
	}
	back := func(ctx context.Context) error {
		return execute(ctx, db, "SET GLOBAL max_connections = "+strconv.Itoa(usual))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, back(context.WithoutCancel(ctx)))
		}
	}()
	for range fewest - 2 {
		conn, err := db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		defer conn.Close() // into db's pool, which keeps them
	}
	if err := execute(ctx, db, "SET GLOBAL max_connections = "+strconv.Itoa(fewest), "KILL USER 'seckill'@'127.0.0.1'"); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (int64, error) {
		after, err := counter(ctx, db, refused)
		return after - before, errors.Join(err, back(ctx))
	}, nil
}
