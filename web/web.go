// Package web is the page: native ES modules, one stylesheet and three vendored
// libraries, embedded as they are. There is no build step.
package web

import (
	"embed"
	"io/fs"
)

//go:embed static
var static embed.FS

//go:embed guarantees/*.json
var guarantees embed.FS

//go:embed recordings
var recordings embed.FS

// Recordings are what `seckill play --record` wrote: what real servers answered to the moves of each level.
func Recordings() fs.FS {
	return subFolder(recordings, "recordings")
}

// Files are index.html and whatever it loads from /static/.
func Files() fs.FS {
	return subFolder(static, "static")
}

// Guarantees are what `make prove` computed: matrix.json, and a counterexample
// for every broken cell that has one.
func Guarantees() fs.FS {
	return subFolder(guarantees, "guarantees")
}

func subFolder(files embed.FS, name string) fs.FS {
	inner, err := fs.Sub(files, name)
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return inner
}
