// Package etcdlock has the locks in etcd. Each file is one strategy. The files
// are written alike, so that the difference between two files is the lesson.
// All strategies use contender.go and session.go.
package etcdlock

import (
	"embed"

	"seckill/internal/backend"
	"seckill/internal/catalog"
)

//go:embed *.go *.md
var files embed.FS

var family = catalog.Family{Name: "etcdlock", Files: files,
	Needs: []backend.Capability{backend.Etcd}, Key: stockPath}
