// Package mysqllock keeps locks in MySQL or MariaDB: as a row that is there or
// not, as a row that is locked, as a record with a deadline behind a central
// row, and as a lock that the server has by itself.
package mysqllock

import "embed"

// Files are the sources that the page shows, and the lessons.
//
//go:embed *.md
//go:embed central.go get_lock.go lock_insert.go lock_insert_by_name.go lock_insert_plain.go
//go:embed lock_row.go lock_table_central.go lock_table_segmented.go lock_table_v1.go
//go:embed mysql_counter.go session.go snapshot_first.go tables.go
var Files embed.FS
