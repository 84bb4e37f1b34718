// Package counter has the strategies that keep the stock as a number in Redis.
// redis-counter and redis-multi do not use the stock row. In
// redis-counter-mysql, the stock row in MySQL decides after the number.
package counter

import (
	"embed"

	"seckill/internal/backend"
	"seckill/internal/catalog"
)

//go:embed *.go *.lua *.md
var files embed.FS

var family = catalog.Family{Name: "counter", Files: files,
	Needs: []backend.Capability{backend.SQL, backend.Redis}}
