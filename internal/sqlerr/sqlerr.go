// Package sqlerr tells what the errors of MySQL and MariaDB servers mean.
package sqlerr

import (
	"errors"
	"slices"

	"github.com/go-sql-driver/mysql"
)

// The error numbers of MySQL and MariaDB that the program distinguishes.
const (
	SnapshotConflict = 1020 // MariaDB 11.6 and later return it; older versions lose an update instead
	DatabaseDenied   = 1044
	NullColumn       = 1048
	DuplicateEntry   = 1062
	TableDenied      = 1142
	ColumnDenied     = 1143
	LockWaitTimeout  = 1205
	Deadlock         = 1213
	PrivilegeDenied  = 1227
	ProcedureExists  = 1304
	NoProcedure      = 1305
	WrongArguments   = 1318
	ProcedureDenied  = 1370
	LockNowait       = 3572 // MySQL 8 returns it; MariaDB returns LockWaitTimeout instead
)

// Number returns the server's error number in err, or 0 if err does not come from a server.
func Number(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

// IsRowLocked reports whether a statement failed because a row was locked. The statement waited for
// as long as the server allows, or it said NOWAIT. The transaction is still open.
func IsRowLocked(err error) bool {
	n := Number(err)
	return n == LockWaitTimeout || n == LockNowait
}

// IsRolledBack reports whether the server has rolled back the whole transaction because of a
// conflict with another transaction. The caller may run the transaction again.
func IsRolledBack(err error) bool {
	n := Number(err)
	return n == Deadlock || n == SnapshotConflict
}

// IsDenied reports whether the account lacks a right that the statement needs.
func IsDenied(err error) bool {
	return slices.Contains([]uint16{
		DatabaseDenied, TableDenied, ColumnDenied, PrivilegeDenied, ProcedureDenied}, Number(err))
}
