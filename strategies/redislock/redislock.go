// Package redislock has the locks in Redis. Each file is one strategy. The
// files are written alike, so that the difference between two files is the
// lesson. All strategies use answers.go. The letters A to E name the articles
// from which the strategies come (see docs/architecture.md).
package redislock

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.lua *.md
//go:embed answers.go redis_blpop.go redis_fenced.go redis_get_set.go redis_getset.go
//go:embed redis_lock_mysql.go redis_lua.go redis_multi_lock.go redis_random_key.go
//go:embed redis_registry.go redis_renew.go redis_set_nx_px.go redis_setex.go redis_setnx.go
//go:embed redis_setnx_expire.go redis_setnx_timestamp.go redis_token.go redis_watchdog.go
//go:embed redlock.go redsync.go
var Files embed.FS
