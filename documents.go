// Package documents holds what people read about this project: `seckill site` makes pages of it.
package documents

import "embed"

// Files are README.md and the documents that it leads to, in their folders, with their pictures.
//
//go:embed README.md README.zh.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/screens web/docs/page.png internal/prove/mutants/README.md
var Files embed.FS
