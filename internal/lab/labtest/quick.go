//go:build !verify

package labtest

// Verify reports whether the exhaustive variants of tests run. This file is for `make test`, the other for `make verify`.
const Verify = false
