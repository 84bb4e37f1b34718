// Package sqlrow has the strategies that use the stock row only: naive with
// its lost update, the conditional update, optimistic and pessimistic locking.
// The files are written alike, so that the difference between two of them is
// the lesson.
package sqlrow

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.go *.md
var Files embed.FS
