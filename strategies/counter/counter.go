// Package counter has the strategies that sell from a number in Redis: without
// a stock row behind it, or in front of the stock row.
package counter

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.lua *.md
//go:embed holding.go number.go
//go:embed redis_counter.go redis_counter_mysql.go redis_multi.go
var Files embed.FS
