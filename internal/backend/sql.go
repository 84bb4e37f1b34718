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
	_ "github.com/ncruces/go-sqlite3/embed" // embeds the SQLite library
	"github.com/ncruces/go-sqlite3/gormlite"
	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"seckill/internal/sqlerr"
	"seckill/internal/tap"
)

func (in *Instance) openMySQL(ctx context.Context, addresses []string) error {
	cfg, err := ParseMySQL(addresses[0])
	if err != nil {
		return err
	}
	if cfg.DBName == "" {
		cfg.DBName = "seckill"
	}
	pins, err := in.prepareServer(ctx, cfg)
	if err != nil {
		return err
	}
	in.Database = cfg.DBName
	inner, err := in.mysqlConnector(cfg)
	if err != nil {
		return err
	}
	connector := tap.Connector(inner, tap.SQLOptions{Error: leaveReadOnly,
		OnConnect: func(ctx context.Context, c sqldriver.Conn) error {
			_, err := c.(sqldriver.ExecerContext).ExecContext(ctx, pins, nil)
			return err
		}})
	conns := cmp.Or(in.Config.MaxSQLConns, 32)
	db := in.openPool(connector, conns)
	err = in.openGorm(ctx, gormmysql.New(gormmysql.Config{Conn: db}), "SELECT VERSION()", MySQLVersion)
	if err != nil {
		return err
	}
	// The second pool is for locks. In a single pool, waiters for a lock could occupy every connection, and the holder
	// could not finish. The pool connects at the first lock.
	in.LockDB, err = gorm.Open(
		gormmysql.New(gormmysql.Config{Conn: in.openPool(connector, conns), SkipInitializeWithVersion: true}),
		&gorm.Config{Logger: logger.Discard, SkipDefaultTransaction: true, DisableAutomaticPing: true})
	return err
}

// MySQLVersion returns a server's name and version from its answer to SELECT VERSION().
func MySQLVersion(answer string) string {
	if number, _, _ := strings.Cut(answer, "-"); strings.Contains(answer, "MariaDB") {
		return "MariaDB " + number
	}
	return "MySQL " + answer
}

// rowLockWait returns how long the server lets a statement wait for a row. When a buyer disconnects, the buyer's
// statement continues to wait on the server, so the server needs this limit.
func (in *Instance) rowLockWait() time.Duration { return cmp.Or(in.Config.RowLockWait, 3*time.Second) }

func (in *Instance) openPool(c sqldriver.Connector, conns int) *sql.DB {
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns) // keep all connections, so that purchases seldom wait for a new one
	db.SetConnMaxIdleTime(5 * time.Minute)
	in.closers = append(in.closers, db.Close)
	return db
}

// mysqlConnector returns a connector with the options on which every strategy relies.
func (in *Instance) mysqlConnector(cfg *mysql.Config) (sqldriver.Connector, error) {
	cfg = cfg.Clone()
	cfg.Logger = &mysql.NopLogger{} // the driver returns its errors, so it need not log them, too
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		return in.Dialer.dial(ctx, tap.SQL, network, addr)
	}
	cfg.Timeout = dialTimeout
	cfg.ReadTimeout = in.rowLockWait() + 10*time.Second
	cfg.WriteTimeout = 5 * time.Second
	cfg.ParseTime = true
	cfg.Loc = time.UTC
	cfg.InterpolateParams = true // send each statement in one round trip instead of two (prepare, execute)
	// With ClientFoundRows, RowsAffected counts the rows that match WHERE, as in SQLite. By default, it omits rows
	// that have the new value already. Then broken strategies would notice conflicts that they are meant to ignore.
	cfg.ClientFoundRows = true
	return mysql.NewConnector(cfg)
}

// prepareServer creates the database if it is missing and the account has the right to create it. prepareServer returns
// the statement that sets sqlPins in a session.
func (in *Instance) prepareServer(ctx context.Context, cfg *mysql.Config) (string, error) {
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
	pins, err := in.pinSettings(ctx, conn, cfg.Params)
	if err != nil {
		return "", err
	}
	if in.Config.CreateNothing {
		cfg.DBName = ""
		return pins, nil
	}
	if _, err = conn.ExecContext(ctx, pins); err == nil {
		_, err = conn.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS `"+strings.ReplaceAll(cfg.DBName, "`", "``")+"`")
	}
	if sqlerr.Number(err) == sqlerr.DatabaseDenied { // ignore this: if the database is missing, opening it will fail
		err = nil
	}
	return pins, err
}

func (in *Instance) openSQLite(ctx context.Context) error {
	if in.Config.CreateNothing {
		return nil
	}
	file, err := os.OpenFile(in.Config.SQLitePath, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		// SQLite would report this error only later, and without a reason. So the file is opened here first.
		return fmt.Errorf("the SQLite file cannot be used: %w", err)
	}
	file.Close()
	// An immediate transaction takes the database's write lock at BEGIN. A deferred one would fail
	// at its first write if another transaction has written meanwhile.
	dsn := "file:" + in.Config.SQLitePath +
		"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)"
	inner, err := (&sqlitedriver.SQLite{}).OpenConnector(dsn)
	if err != nil {
		return fmt.Errorf("open SQLite file %s: %w", in.Config.SQLitePath, err)
	}
	db := in.openPool(tap.Connector(inner, tap.SQLOptions{
		PreparesArgs: true,
		OnConnect: func(_ context.Context, c sqldriver.Conn) error {
			return addLastInsertID(c.(sqlitedriver.Conn).Raw())
		},
	}), 8)
	name := func(v string) string { return "SQLite " + v }
	if err := in.openGorm(ctx, gormlite.OpenDB(db), "SELECT sqlite_version()", name); err != nil {
		return fmt.Errorf("the SQLite file %s cannot be used: %w", in.Config.SQLitePath, err)
	}
	return nil
}

// addLastInsertID defines MySQL's LAST_INSERT_ID(expr) for SQLite. An UPDATE uses this function to return a value.
func addLastInsertID(c *sqlite3.Conn) error {
	return c.CreateFunction("LAST_INSERT_ID", 1, sqlite3.INNOCUOUS,
		func(ctx sqlite3.Context, arg ...sqlite3.Value) {
			c.SetLastInsertRowID(arg[0].Int64())
			ctx.ResultInt64(arg[0].Int64())
		})
}

func (in *Instance) openGorm(ctx context.Context, d gorm.Dialector, version string, name func(string) string) error {
	db, err := gorm.Open(d, &gorm.Config{
		Logger:                 logger.Discard, // gorm returns its errors, so it need not log them, too
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
	if err == nil || errors.Is(err, context.Canceled) { // after a cancellation, the server may still be reachable
		return err
	}
	err = fmt.Errorf("%s at %s cannot be used: %w", name, address, err)
	if nobodyAnswered(err) {
		err = fmt.Errorf("%w (is it running, and is the address right?)", err)
	}
	return err
}

// errSilent means that a server has accepted a connection but has not answered in time.
var errSilent = errors.New("no answer in time")

// nobodyAnswered reports whether err means that no server listens at the address or answers in time.
func nobodyAnswered(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial" || errors.Is(err, errSilent) ||
		errors.Is(err, sqldriver.ErrBadConn) && sqlerr.Number(err) == 0 ||
		errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

// A readOnlyError wraps the error of a read-only server, such as an old primary after a failover. The server has
// changed nothing. If the server refused a COMMIT, it has rolled back the transaction. A readOnlyError counts as
// driver.ErrBadConn, so that database/sql closes the connection. A new connection may reach the new primary. (The
// driver's option RejectReadOnly has the same effect, but hides the server's message.)
type readOnlyError struct{ error }

func (e readOnlyError) Is(target error) bool { return target == sqldriver.ErrBadConn }

func (e readOnlyError) Unwrap() error { return e.error }

func leaveReadOnly(err error) error {
	if slices.Contains([]uint16{1290, 1792, 1836}, sqlerr.Number(err)) {
		return readOnlyError{err}
	}
	return err
}

// EnsureProcedure makes sure that the database has the stored procedure with the given name and exactly this text.
// Another build may have created the procedure with another text. EnsureProcedure then replaces it. Several processes
// may call EnsureProcedure at the same time.
func (in *Instance) EnsureProcedure(ctx context.Context, name, text string) error {
	db := in.DB.WithContext(ctx)
	// The query returns at most one body. The body is empty if another account created the procedure, because the
	// server hides it. If the procedure was created with another SQL mode than the current one, the query appends that
	// mode, so the body differs from the parameter text.
	var bodies []string
	err := db.Raw("SELECT COALESCE(IF(sql_mode = @@sql_mode, routine_definition, "+
		"CONCAT(routine_definition, sql_mode)), '') "+
		"FROM information_schema.routines WHERE routine_schema = DATABASE() AND routine_name = ?", name).
		Scan(&bodies).Error
	if err == nil && len(bodies) > 0 {
		if strings.HasSuffix(strings.TrimSpace(text), strings.TrimSpace(bodies[0])) {
			return nil
		}
		err = db.Exec("DROP PROCEDURE IF EXISTS " + name).Error
	}
	if err == nil {
		err = db.Exec(text).Error
	}
	if err == nil || sqlerr.Number(err) == sqlerr.ProcedureExists { // another process may have created the procedure
		return nil
	}
	if sqlerr.IsDenied(err) {
		return fmt.Errorf("stored procedures cannot be created or called in this database: let an administrator "+
			"GRANT CREATE ROUTINE, EXECUTE to the service's account, and start again (%w)", err)
	}
	return fmt.Errorf("create the stored procedure %s: %w", name, err)
}

// sqlPins lists session variables of MySQL and MariaDB that change the meaning of our statements. Every session sets
// them to these values, regardless of the server's defaults and the DSN. A session does not set variables that the
// server does not know.
//
// Two more such variables cannot be set in a session, but do no harm. innodb_rollback_on_timeout has no effect,
// because we roll back every transaction after a timeout. lower_case_table_names has no effect, because our tables and
// columns have lower-case names. For a server that is read-only, see readOnlyError.
var sqlPins = []struct{ name, value string }{
	{"autocommit", "1"},             // with 0, a single statement would never be committed
	{"completion_type", "NO_CHAIN"}, // with CHAIN, COMMIT would begin the next transaction, with an old snapshot
	// Strategies rely on REPEATABLE READ. If they need another level, they set it for one
	// transaction. MySQL and MariaDB have different names for the variable.
	{"tx_isolation", "'REPEATABLE-READ'"}, {"transaction_isolation", "'REPEATABLE-READ'"},
	{"tx_read_only", "0"}, {"transaction_read_only", "0"},
	// This value replaces the server's SQL modes. Some modes change the syntax, and one makes an empty text NULL. In
	// strict mode, an INSERT of several rows fails if a required value is NULL. Without it, the server would write ''
	// instead of NULL.
	{"sql_mode", "'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'"},
	{"sql_safe_updates", "0"}, // with 1, the server would refuse an UPDATE that uses no index
	{"sql_auto_is_null", "0"},
	{"unique_checks", "1"},
	{"time_zone", "'+00:00'"},
	{"lc_messages", "'en_US'"}, // the ledger searches the text of errors, so the text must be English
	{"character_set_client", "utf8mb4"},
	{"character_set_results", "utf8mb4"},
	{"collation_connection", "utf8mb4_general_ci"},
	// ON is the default since MariaDB 11.6.2, but makes some strategies correct that are broken on purpose. The user's
	// DSN may set ON, because correct strategies work with both values.
	{snapshotIsolation, "OFF"},
}

// allRows is a statement that removes limits on the size of a query's result. It must run before the query that asks
// which of sqlPins exist, because such limits could make that query fail.
const allRows = "SET sql_big_selects = 1, sql_select_limit = 18446744073709551615"

const snapshotIsolation = "innodb_snapshot_isolation"

// pinSettings returns the statement that sets sqlPins in a session. It asks the server which of these variables exist.
// If the server refuses writes at READ COMMITTED, pinSettings adds ReadCommitted to Lacks. The parameter chosen
// contains the variables that the address sets.
func (in *Instance) pinSettings(ctx context.Context, db *sql.Conn, chosen map[string]string) (string, error) {
	names := "'log_bin', 'binlog_format'"
	for _, pin := range sqlPins {
		names += ", '" + pin.name + "'"
	}
	if _, err := db.ExecContext(ctx, allRows); err != nil {
		return "", err
	}
	rows, err := db.QueryContext(ctx, "SHOW VARIABLES WHERE Variable_name IN ("+names+")")
	if err != nil {
		return "", err
	}
	defer rows.Close()
	is := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return "", err
		}
		is[name] = value
	}
	if err := rows.Err(); err != nil {
		return "", err
	}
	set := []string{allRows, fmt.Sprint("innodb_lock_wait_timeout = ", math.Ceil(in.rowLockWait().Seconds()))}
	for _, pin := range sqlPins {
		_, keep := chosen[pin.name]
		if _, has := is[pin.name]; has && !(keep && pin.name == snapshotIsolation) {
			set = append(set, pin.name+" = "+pin.value)
		}
	}
	if is["log_bin"] == "ON" && is["binlog_format"] == "STATEMENT" {
		const row = "binlog_format = ROW"
		switch _, err := db.ExecContext(ctx, "SET SESSION "+row); {
		case err == nil:
			set = append(set, row)
		case sqlerr.Number(err) == 0:
			return "", err
		default:
			in.Lacks[ReadCommitted] = "the SQL server refuses writes at READ COMMITTED, as its binlog_format is " +
				"STATEMENT: set it to ROW or MIXED, or let this account set it"
		}
	}
	return strings.Join(set, ", "), nil
}
