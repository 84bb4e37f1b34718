// Package zklock holds the locks that are kept in ZooKeeper. Every file is one
// strategy and reads like its neighbour, so that the difference between two
// files is the lesson.
package zklock

import "embed"

// Files are the sources that the page shows, and the lessons.
//
//go:embed *.md
//go:embed hold.go zk.go zk_fenced.go zk_herd.go zk_node.go zk_norecheck.go
var Files embed.FS
