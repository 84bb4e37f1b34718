// Package local locks inside the program: a mutex, and what a mutex cannot do.
// It is where most people begin, and each file takes one step further: a mutex
// that is never shared, one for the whole process, one for each SKU. Another
// process sees none of them.
package local

import "embed"

// Files has the sources and lessons that the page shows.
//
//go:embed *.md
//go:embed mutex.go mutex_per_request.go mutex_per_sku.go unlock_before_commit.go
var Files embed.FS
