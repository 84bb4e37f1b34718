package backend

import (
	"errors"

	"github.com/go-sql-driver/mysql"
)

// MySQL's and MariaDB's error numbers: all that the program looks at.
const (
	MySQLSnapshotConflict = 1020 // MariaDB 11.6 and later, where older ones lose an update
	MySQLDatabaseDenied   = 1044
	MySQLNullColumn       = 1048
	MySQLDuplicateEntry   = 1062
	MySQLSyntax           = 1064
	MySQLLockWaitTimeout  = 1205
	MySQLDeadlock         = 1213
	MySQLProcedureThere   = 1304
	MySQLNoProcedure      = 1305
	MySQLWrongArguments   = 1318
	MySQLMayNotCall       = 1370
	MySQLNowait           = 3572 // MySQL 8; MariaDB answers 1205
)

// MySQLNumber is the server's error number in err; 0 if there is none.
func MySQLNumber(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

// RowHeld reports whether a statement waited for a row as long as the server lets
// it, or was told not to wait. The transaction goes on.
func RowHeld(err error) bool {
	n := MySQLNumber(err)
	return n == MySQLLockWaitTimeout || n == MySQLNowait
}

// TransactionUndone reports whether the server has undone the whole transaction,
// which may be run again.
func TransactionUndone(err error) bool {
	n := MySQLNumber(err)
	return n == MySQLDeadlock || n == MySQLSnapshotConflict
}
