// Package counter has the strategies that keep the stock as a number in Redis.
// redis-counter and redis-multi do not use the stock row. In
// redis-counter-mysql, the stock row in MySQL decides after the number.
package counter

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.go *.lua *.md
var Files embed.FS
