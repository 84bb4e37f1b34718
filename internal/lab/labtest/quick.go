//go:build !verify

package labtest

// Verify reports whether the exhaustive variants of tests run. It is false in `make test`, and true in verify.go.
const Verify = false
