// Package zklock has the locks in ZooKeeper. Each file is one strategy. The
// files are written alike, so that the difference between two files is the
// lesson. All queues use nodes.go.
package zklock

import (
	"embed"

	"seckill/internal/backend"
	"seckill/internal/catalog"
)

//go:embed *.go *.md
var files embed.FS

var family = catalog.Family{Name: "zklock", Files: files,
	Needs: []backend.Capability{backend.ZooKeeper}, Key: stockPath}
