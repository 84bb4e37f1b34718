// Package redislock has the locks in Redis. Each file is one strategy. The
// files are written alike, so that the difference between two files is the
// lesson. All strategies use answers.go. The letters A to E name the articles
// from which the strategies come (see docs/architecture.md).
package redislock

import (
	"embed"

	"seckill/internal/backend"
	"seckill/internal/catalog"
)

//go:embed *.go *.lua *.md
var files embed.FS

var family = catalog.Family{Name: "redislock", Files: files,
	Needs: []backend.Capability{backend.Redis}, Key: stockKey}
