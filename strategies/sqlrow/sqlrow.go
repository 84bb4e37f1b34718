// Package sqlrow has the strategies that use the stock row only: naive with
// its lost update, the conditional update, optimistic and pessimistic locking.
// The files are written alike, so that the difference between two of them is
// the lesson.
package sqlrow

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.md
//go:embed atomic.go conditional.go conditional_scan.go for_update.go for_update_autocommit.go
//go:embed for_update_nowait.go for_update_scan.go naive.go timestamp.go version.go
var Files embed.FS
