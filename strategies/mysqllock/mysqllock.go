// Package mysqllock has the locks in MySQL or MariaDB: a row that exists while
// the lock is held, a row that is locked, a record with a deadline that a
// central row protects, and GET_LOCK. Each file is one strategy. The letters B
// to D name articles (see docs/architecture.md).
package mysqllock

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.go *.md
var Files embed.FS
