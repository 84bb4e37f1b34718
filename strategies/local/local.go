// Package local has the strategies that lock with a mutex inside the program.
// Most people begin here. Each file goes one step further: a mutex that no two
// requests share, one mutex for the process, one mutex for each SKU. A second
// process does not see any of these mutexes.
package local

import (
	"embed"

	"seckill/internal/backend"
	"seckill/internal/catalog"
)

//go:embed *.go *.md
var files embed.FS

var family = catalog.Family{Name: "local", Files: files,
	Needs: []backend.Capability{backend.SQL}}
