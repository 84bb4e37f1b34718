// Package hotsku has the strategies for one hot row, the stock row of a SKU
// that many buyers want. They keep this row locked for less time than the
// conditional update of package sqlrow. The files are written alike, so that
// the difference between two files is the lesson.
package hotsku

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.go *.lua *.md *.sql
var Files embed.FS
