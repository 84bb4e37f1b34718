// Package counter sells from a number in Redis: alone, and in front of the
// stock row.
package counter

import "embed"

// Files are the sources that the page shows, and the lessons.
//
//go:embed *.lua *.md
//go:embed number.go redis_counter.go redis_counter_mysql.go redis_multi.go
var Files embed.FS
