// Package zklock has the locks in ZooKeeper. Each file is one strategy. The
// files are written alike, so that the difference between two files is the
// lesson. All queues use nodes.go.
package zklock

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.md
//go:embed nodes.go zk.go zk_fenced.go zk_herd.go zk_node.go zk_norecheck.go
var Files embed.FS
