// Package web is the page: native ES modules, one stylesheet and three vendored
// libraries, embedded as they are. There is no build step.
package web

import (
	"embed"
	"io/fs"
)

//go:embed static
var static embed.FS

// Files are index.html and whatever it loads from /static/.
func Files() fs.FS {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return files
}
