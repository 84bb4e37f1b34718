// Package etcdlock has the locks in etcd. Each file is one strategy. The files
// are written alike, so that the difference between two files is the lesson.
// All strategies use contender.go and session.go.
package etcdlock

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.md
//go:embed contender.go etcd.go etcd_fenced.go etcd_node.go session.go
var Files embed.FS
