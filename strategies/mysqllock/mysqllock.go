// Package mysqllock has the locks in MySQL or MariaDB: a row that exists while
// the lock is held, a row that is locked, a record with a deadline that a
// central row protects, and GET_LOCK. Each file is one strategy. The letters B
// to D name articles (see docs/architecture.md).
package mysqllock

import (
	"embed"

	"seckill/internal/backend"
	"seckill/internal/catalog"
)

//go:embed *.go *.md
var files embed.FS

var family = catalog.Family{Name: "mysqllock", Files: files,
	Needs: []backend.Capability{backend.SQL, backend.RowLocks}, Key: stockKey}
