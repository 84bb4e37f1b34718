// Package redislock has the locks in Redis. Each file is one strategy. The
// files are written alike, so that the difference between two files is the
// lesson. All strategies use answers.go. The letters A to E name the articles
// from which the strategies come (see docs/architecture.md).
package redislock

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.go *.lua *.md
var Files embed.FS
