// Package mysqllock keeps locks in MySQL or MariaDB: as a row that is there or
// not, as a row that is locked, as a record with a deadline behind a central
// row, and as a lock that the server has by itself.
package mysqllock
