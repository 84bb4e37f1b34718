//go:build !verify

package labtest

// Verify is not set: this is `make test`. See verify.go.
const Verify = false
