package backend

import (
	"cmp"
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/ncruces/go-sqlite3"
	sqlitedriver "github.com/ncruces/go-sqlite3/driver"
	_ "github.com/ncruces/go-sqlite3/embed" // the SQLite library itself
	"github.com/ncruces/go-sqlite3/gormlite"
	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"seckill/internal/sqlerr"
	"seckill/internal/tap"
)

func (in *Instance) openMySQL(ctx context.Context) error {
	if in.Config.MySQLDSN == "" {
		return nil
	}
	cfg, err := ParseMySQL(in.Config.MySQLDSN)
	if err != nil {
		return err
	}
	if cfg.DBName == "" {
		cfg.DBName = "seckill"
	}
	pins, err := in.prepareServer(ctx, cfg)
	if err != nil {
		return explainUnreachable(NameMySQL, Redact(in.Config.MySQLDSN), err)
	}
	in.Database = cfg.DBName
	inner, err := in.mysqlConnector(cfg)
	if err != nil {
		return err
	}
	connector := tap.Connector(inner, tap.SQLOptions{OnConnect: prepareSession(pins), Error: leaveReadOnly})
	db := in.openPool(connector, in.maxConns())
	err = in.openGorm(ctx, gormmysql.New(gormmysql.Config{Conn: db}), "SELECT VERSION()", func(v string) string {
		if strings.Contains(v, "MariaDB") {
			return "MariaDB " + v[:strings.IndexByte(v+"-", '-')]
		}
		return "MySQL " + v
	})
	if err != nil {
		return explainUnreachable(NameMySQL, Redact(in.Config.MySQLDSN), err)
	}
	return in.openLockPool(connector)
}

// prepareSession returns a function that runs a statement on every new connection.
func prepareSession(statement string) func(context.Context, sqldriver.Conn) error {
	return func(ctx context.Context, c sqldriver.Conn) error {
		_, err := c.(sqldriver.ExecerContext).ExecContext(ctx, statement, nil)
		return err
	}
}

// rowLockWait limits how long the server lets a statement wait for a row. Without this limit the statement of a buyer
// who has left would wait on. MySQL counts the limit in whole seconds.
func (in *Instance) rowLockWait() time.Duration { return cmp.Or(in.Config.RowLockWait, 3*time.Second) }

func (in *Instance) rowLockSeconds() int { return int(math.Ceil(in.rowLockWait().Seconds())) }

// maxConns limits each of the two SQL pools.
func (in *Instance) maxConns() int { return cmp.Or(in.Config.MaxSQLConns, 32) }

func (in *Instance) openPool(c sqldriver.Connector, conns int) *sql.DB {
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns) // so that purchases seldom wait for a new connection
	db.SetConnMaxIdleTime(5 * time.Minute)
	in.closers = append(in.closers, db.Close)
	return db
}

// openLockPool opens a second pool, for locks. In a single pool the waiters for a lock could occupy every connection,
// and the holder would get none to finish its purchase. The pool connects when the first lock is acquired.
func (in *Instance) openLockPool(c sqldriver.Connector) (err error) {
	in.LockDB, err = gorm.Open(
		gormmysql.New(gormmysql.Config{Conn: in.openPool(c, in.maxConns()), SkipInitializeWithVersion: true}),
		&gorm.Config{Logger: logger.Discard, SkipDefaultTransaction: true, DisableAutomaticPing: true})
	return err
}

// mysqlConnector returns a connector with the options on which every strategy relies.
func (in *Instance) mysqlConnector(cfg *mysql.Config) (sqldriver.Connector, error) {
	cfg = cfg.Clone()
	cfg.Logger = &mysql.NopLogger{} // the driver also returns its errors
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		return in.Dialer.dial(ctx, tap.SQL, network, addr)
	}
	cfg.Timeout = dialTimeout
	cfg.ReadTimeout = in.rowLockWait() + 10*time.Second
	cfg.WriteTimeout = 5 * time.Second
	cfg.ParseTime = true
	cfg.Loc = time.UTC
	cfg.InterpolateParams = true // one round trip per statement instead of two (prepare, execute)
	// RowsAffected counts the rows that match, as in SQLite. By default MySQL omits rows that already have the new
	// value, and checking this number would repair strategies that are broken on purpose.
	cfg.ClientFoundRows = true
	return mysql.NewConnector(cfg)
}

// prepareServer creates the database if the account has the right to. It returns the statement that sets the sqlPins
// of a session.
func (in *Instance) prepareServer(ctx context.Context, cfg *mysql.Config) (pins string, err error) {
	server := cfg.Clone()
	server.DBName = ""
	connector, err := in.mysqlConnector(server)
	if err != nil {
		return "", err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if pins, err = in.pinSettings(ctx, conn, cfg.Params); err != nil {
		return "", err
	}
	if in.Config.CreateNothing {
		cfg.DBName = ""
		return pins, nil
	}
	if _, err = conn.ExecContext(ctx, pins); err == nil {
		_, err = conn.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS `"+strings.ReplaceAll(cfg.DBName, "`", "``")+"`")
	}
	if sqlerr.Number(err) == sqlerr.DatabaseDenied { // the database may exist already; opening it will tell
		err = nil
	}
	return pins, err
}

func (in *Instance) openSQLite(ctx context.Context) error {
	if in.Config.SQLitePath == "" || in.Config.CreateNothing {
		return nil
	}
	file, err := os.OpenFile(in.Config.SQLitePath, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("the SQLite file cannot be used: %w", err) // SQLite's own error comes later, without a reason
	}
	file.Close()
	// An immediate transaction takes the write lock of the database at BEGIN. A deferred transaction would fail
	// half-way if another one writes first.
	dsn := "file:" + in.Config.SQLitePath +
		"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)"
	inner, err := (&sqlitedriver.SQLite{}).OpenConnector(dsn)
	if err != nil {
		return fmt.Errorf("open SQLite file %s: %w", in.Config.SQLitePath, err)
	}
	db := sql.OpenDB(tap.Connector(inner, tap.SQLOptions{
		PreparesArgs: true,
		OnConnect: func(_ context.Context, c sqldriver.Conn) error {
			return addLastInsertID(c.(sqlitedriver.Conn).Raw())
		},
	}))
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	in.closers = append(in.closers, db.Close)
	name := func(v string) string { return "SQLite " + v }
	if err := in.openGorm(ctx, gormlite.OpenDB(db), "SELECT sqlite_version()", name); err != nil {
		return fmt.Errorf("the SQLite file %s cannot be used: %w", in.Config.SQLitePath, err)
	}
	return nil
}

// addLastInsertID defines LAST_INSERT_ID(expr) in SQLite. In MySQL an UPDATE uses it to return the new value.
func addLastInsertID(c *sqlite3.Conn) error {
	return c.CreateFunction("LAST_INSERT_ID", 1, sqlite3.INNOCUOUS,
		func(ctx sqlite3.Context, arg ...sqlite3.Value) {
			c.SetLastInsertRowID(arg[0].Int64())
			ctx.ResultInt64(arg[0].Int64())
		})
}

func (in *Instance) openGorm(ctx context.Context, d gorm.Dialector, version string, name func(string) string) error {
	db, err := gorm.Open(d, &gorm.Config{
		Logger:                 logger.Discard, // gorm also returns its errors, and the caller logs them
		SkipDefaultTransaction: true,           // strategies begin their own transactions
	})
	if err != nil {
		return err
	}
	var v string
	if err := db.WithContext(ctx).Raw(version).Scan(&v).Error; err != nil {
		return err
	}
	in.DB = db
	in.versions[NameMySQL] = name(v)
	return nil
}

func explainUnreachable(name, address string, err error) error {
	if errors.Is(err, context.Canceled) { // the caller stopped, so the server is not to blame
		return err
	}
	err = fmt.Errorf("%s at %s cannot be used: %w", name, address, err)
	if nobodyAnswered(err) {
		err = fmt.Errorf("%w (is it running, and is the address right?)", err)
	}
	return err
}

// errSilent means that a server accepted a connection but did not answer in time.
var errSilent = errors.New("no answer in time")

// nobodyAnswered reports whether err means that no server listens at the address, or that it does not answer.
func nobodyAnswered(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial" || errors.Is(err, errSilent) ||
		errors.Is(err, sqldriver.ErrBadConn) && sqlerr.Number(err) == 0 ||
		errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

// A readOnlyError wraps the error of a read-only server. Such a server has changed nothing, and has rolled back a
// transaction whose COMMIT it refuses. After a failover it is the old primary. The error therefore counts as
// driver.ErrBadConn, so that database/sql closes the connection: the next one may lead to the new primary. (The
// driver's option RejectReadOnly does the same, but hides the message of the server.)
type readOnlyError struct{ error }

func (e readOnlyError) Is(target error) bool { return target == sqldriver.ErrBadConn }

func (e readOnlyError) Unwrap() error { return e.error }

// leaveReadOnly turns the error of a read-only server into a readOnlyError.
func leaveReadOnly(err error) error {
	if slices.Contains([]uint16{1290, 1792, 1836}, sqlerr.Number(err)) {
		return readOnlyError{err}
	}
	return err
}

// EnsureProcedure runs text, which creates the stored procedure name, unless the database has the procedure with
// exactly this text. It first drops a procedure with another text, which another build has created. Several processes
// may do so at the same time.
func (in *Instance) EnsureProcedure(ctx context.Context, name, text string) error {
	db := in.DB.WithContext(ctx)
	// bodies has at most one element. The server hides the body of a procedure that another account has created, so
	// the element is empty. If the SQL mode at its creation was another one, the mode is appended to the body.
	var bodies []string
	err := db.Raw("SELECT COALESCE(IF(sql_mode = @@sql_mode, routine_definition, "+
		"CONCAT(routine_definition, sql_mode)), '') "+
		"FROM information_schema.routines WHERE routine_schema = DATABASE() AND routine_name = ?", name).Scan(&bodies).Error
	if err == nil && len(bodies) > 0 {
		if strings.HasSuffix(strings.TrimSpace(text), strings.TrimSpace(bodies[0])) {
			return nil
		}
		err = db.Exec("DROP PROCEDURE IF EXISTS " + name).Error
	}
	if err == nil {
		err = db.Exec(text).Error
	}
	if err == nil || sqlerr.Number(err) == sqlerr.ProcedureExists { // another process was faster
		return nil
	}
	if sqlerr.IsDenied(err) {
		return fmt.Errorf("stored procedures cannot be created or called in this database: let an administrator "+
			"GRANT CREATE ROUTINE, EXECUTE to the service's account, and start again (%w)", err)
	}
	return fmt.Errorf("create the stored procedure %s: %w", name, err)
}
