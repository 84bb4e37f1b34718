// Package etcdlock holds the locks that are kept in etcd. Every file is one
// strategy and reads like its neighbour, so that the difference between two
// files is the lesson. session.go keeps the lease that both live under.
package etcdlock

import "embed"

// Files are the sources that the page shows, and the lessons.
//
//go:embed *.md
//go:embed contender.go etcd.go etcd_fenced.go etcd_node.go session.go
var Files embed.FS
