//go:build verify

package labtest

// Verify is true in `make verify`, which runs the exhaustive variants of tests. It chooses numbers within a test, such
// as rounds or buyers. A test that is slow as a whole is in a file *_verify_test.go with this build tag.
const Verify = true
