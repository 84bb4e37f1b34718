// Package zklock has the locks in ZooKeeper. Each file is one strategy. The
// files are written alike, so that the difference between two files is the
// lesson. All queues use nodes.go.
package zklock

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.go *.md
var Files embed.FS
