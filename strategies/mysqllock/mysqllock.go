// Package mysqllock has the locks in MySQL or MariaDB: a row that exists while
// the lock is held, a row that is locked, a record with a deadline that a
// central row protects, and GET_LOCK. Each file is one strategy. The letters B
// to D name articles (see docs/architecture.md).
package mysqllock

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.md
//go:embed central.go get_lock.go lock_insert.go lock_insert_by_name.go lock_insert_plain.go
//go:embed lock_row.go lock_table_central.go lock_table_segmented.go lock_table_v1.go
//go:embed mysql_counter.go session.go snapshot_first.go tables.go
var Files embed.FS
