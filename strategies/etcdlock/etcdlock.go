// Package etcdlock has the locks in etcd. Each file is one strategy. The files
// are written alike, so that the difference between two files is the lesson.
// All strategies use contender.go and session.go.
package etcdlock

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.go *.md
var Files embed.FS
