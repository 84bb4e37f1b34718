package backend

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"seckill/internal/sqlerr"
)

// sqlPins are the settings of a MySQL or MariaDB server that decide what our statements do, and that a session may
// choose. Every session has these values, whatever the server's defaults are and however an address spells another
// value. A server need not know all of them.
//
// Two settings that no session can choose need nothing. innodb_rollback_on_timeout: a transaction whose wait has
// ended is always rolled back. lower_case_table_names: our tables and columns have lower-case names. A read-only
// server is no setting of the start, as it changes with every failover: see readOnly.
var sqlPins = []struct{ name, value string }{
	{"autocommit", "1"},             // otherwise a single statement is never committed
	{"completion_type", "NO_CHAIN"}, // otherwise COMMIT begins the next transaction, with an old snapshot
	// Strategies count on REPEATABLE READ, and choose others by the transaction. MySQL and MariaDB have two names for it.
	{"tx_isolation", "'REPEATABLE-READ'"}, {"transaction_isolation", "'REPEATABLE-READ'"},
	{"tx_read_only", "0"}, {"transaction_read_only", "0"},
	// Not added to the server's own modes: some read other SQL, or an empty text as NULL. Unless strict, an INSERT
	// of several rows writes '' in place of NULL, where a statement of ours must fail.
	{"sql_mode", "'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'"},
	{"sql_safe_updates", "0"}, // refuses an UPDATE that scans
	{"sql_auto_is_null", "0"},
	{"unique_checks", "1"},
	{"time_zone", "'+00:00'"},
	{"lc_messages", "'en_US'"}, // the ledger reads in an error which column or key refused an order
	{"character_set_client", "utf8mb4"},
	{"character_set_results", "utf8mb4"},
	{"collation_connection", "utf8mb4_general_ci"},
	// ON, the default from MariaDB 11.6.2, mends some strategies that are broken on purpose. An address may choose
	// it: every strategy that is right is right with it, too.
	{snapshotIsolation, "OFF"},
}

// allRows are pins that every server knows, without which the question for the others could fail.
const allRows = "SET sql_big_selects = 1, sql_select_limit = 18446744073709551615"

const snapshotIsolation = "innodb_snapshot_isolation"

// pinSettings returns the statement that pins the settings of a session. It asks the server once which of them it
// has, and notes in Lacks what the server does not allow. chosen are the variables that the address sets.
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
