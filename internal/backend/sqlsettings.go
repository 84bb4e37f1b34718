package backend

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"seckill/internal/sqlerr"
)

// sqlPins lists session variables of MySQL and MariaDB that change the meaning of our statements. Every session gets
// these values, regardless of the server's defaults and of the address. Variables that a server does not know are
// left out.
//
// Two variables of the same kind cannot be set in a session, but cause no harm. innodb_rollback_on_timeout: after a
// timeout we always roll back the transaction. lower_case_table_names: all names of our tables and columns are in
// lower case. Whether a server is read-only can change with every failover: see readOnlyError.
var sqlPins = []struct{ name, value string }{
	{"autocommit", "1"},             // otherwise a single statement is never committed
	{"completion_type", "NO_CHAIN"}, // otherwise COMMIT begins the next transaction, with an old snapshot
	// Strategies rely on REPEATABLE READ, and set any other level for a single transaction. MySQL and MariaDB call
	// the variable differently.
	{"tx_isolation", "'REPEATABLE-READ'"}, {"transaction_isolation", "'REPEATABLE-READ'"},
	{"tx_read_only", "0"}, {"transaction_read_only", "0"},
	// This replaces the server's modes, because some of them change the syntax, or read an empty text as NULL. Without
	// strict mode an INSERT of several rows would write '' in place of NULL, although it must fail.
	{"sql_mode", "'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'"},
	{"sql_safe_updates", "0"}, // if set, the server refuses an UPDATE without an index
	{"sql_auto_is_null", "0"},
	{"unique_checks", "1"},
	{"time_zone", "'+00:00'"},
	{"lc_messages", "'en_US'"}, // the ledger reads the name of a column or key from an error message
	{"character_set_client", "utf8mb4"},
	{"character_set_results", "utf8mb4"},
	{"collation_connection", "utf8mb4_general_ci"},
	// ON, the default since MariaDB 11.6.2, would repair some strategies that are broken on purpose. An address may
	// set it, because no correct strategy depends on it.
	{snapshotIsolation, "OFF"},
}

// allRows sets variables that every server knows. It runs first, because with other values the query for the
// remaining variables could fail.
const allRows = "SET sql_big_selects = 1, sql_select_limit = 18446744073709551615"

const snapshotIsolation = "innodb_snapshot_isolation"

// pinSettings returns the statement that sets sqlPins in a session. It asks the server once which of the variables
// exist. If the server refuses writes at READ COMMITTED, it adds that to Lacks. chosen contains the variables that
// the address sets.
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
	set := []string{allRows, fmt.Sprint("innodb_lock_wait_timeout = ", in.rowLockSeconds())}
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
			in.Lacks[ReadCommitted] = "the SQL server refuses writes at READ COMMITTED, as its binlog_format is STATEMENT: " +
				"set it to ROW or MIXED, or let this account set it"
		}
	}
	return strings.Join(set, ", "), nil
}
