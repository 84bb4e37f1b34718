// Package hotsku has the strategies for one hot row, the stock row of a SKU
// that many buyers want. They keep this row locked for less time than the
// conditional update of package sqlrow. The files are written alike, so that
// the difference between two files is the lesson.
package hotsku

import (
	"embed"

	"seckill/internal/backend"
	"seckill/internal/catalog"
)

//go:embed *.go *.lua *.md *.sql
var files embed.FS

var family = catalog.Family{Name: "hotsku", Files: files,
	Needs: []backend.Capability{backend.SQL, backend.RowLocks}}
