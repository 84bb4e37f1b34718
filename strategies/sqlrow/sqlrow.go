// Package sqlrow has the strategies that use the stock row only: naive with
// its lost update, the conditional update, optimistic and pessimistic locking.
// The files are written alike, so that the difference between two of them is
// the lesson.
package sqlrow

import (
	"embed"

	"seckill/internal/backend"
	"seckill/internal/catalog"
)

//go:embed *.go *.md
var files embed.FS

var family = catalog.Family{Name: "sqlrow", Files: files,
	Needs: []backend.Capability{backend.SQL}}
