//go:build verify

package labtest

// Verify is true in `make verify`, which runs the exhaustive variants of tests. A test reads Verify to choose numbers,
// such as rounds or buyers. A test that is slow with any numbers is in a file *_verify_test.go with this build tag.
const Verify = true
