//go:build !verify

package labtest

// Verify is false in `make test`; see verify.go.
const Verify = false
