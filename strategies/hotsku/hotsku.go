// Package hotsku has the strategies for one hot row, the stock row of a SKU
// that many buyers want. They keep this row locked for less time than the
// conditional update of package sqlrow. The files are written alike, so that
// the difference between two files is the lesson.
package hotsku

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.lua *.md *.sql
//go:embed bucketed.go bucketed_hasty.go merged.go merged_early.go one_trip.go order_first.go
//go:embed queued.go redis_stream.go redis_stream_two_calls.go reserve.go reserve_late.go
//go:embed stream_writer.go unit_rows.go unit_rows_hasty.go
var Files embed.FS
