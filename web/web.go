// Package web contains the page: native ES modules, one stylesheet and three vendored libraries.
// The files are embedded unchanged, without a build step.
package web

import (
	"embed"
	"io/fs"
)

//go:embed static guarantees/*.json recordings
var files embed.FS

// Recordings returns the files that `seckill play --record` has written. They contain the answers
// of real servers to the moves of each level.
func Recordings() fs.FS { return subFolder("recordings") }

// Files returns index.html and the files that it loads from /static/.
func Files() fs.FS { return subFolder("static") }

// Guarantees returns the files that `make prove` has computed: the guarantee matrix in matrix.json, and
// counterexamples for the guarantees that do not hold.
func Guarantees() fs.FS { return subFolder("guarantees") }

func subFolder(name string) fs.FS {
	inner, err := fs.Sub(files, name)
	if err != nil {
		panic(err) // this cannot happen, because the folder is embedded
	}
	return inner
}
