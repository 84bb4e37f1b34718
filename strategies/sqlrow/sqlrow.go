// Package sqlrow deducts from the stock row alone: from the lost update of
// naive to the conditional update, optimistic and pessimistic locking. Every
// file is one strategy and reads like its neighbour, so that the difference
// between two files is the lesson.
package sqlrow

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.md
//go:embed atomic.go conditional.go conditional_scan.go for_update.go for_update_autocommit.go
//go:embed for_update_nowait.go for_update_scan.go naive.go timestamp.go version.go
var Files embed.FS
