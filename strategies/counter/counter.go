// Package counter sells from a number in Redis: alone, and in front of the
// stock row.
package counter

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.lua *.md
//go:embed number.go redis_counter.go redis_counter_mysql.go redis_multi.go
var Files embed.FS
