//go:build !verify

package labtest

// Verify reports whether the exhaustive variants of tests run. This file is for `make test`, verify.go for the rest.
const Verify = false
