//go:build verify

package labtest

// Verify is set in `make verify`, which runs the exhaustive variants, and not
// in `make test`. It chooses numbers (rounds, buyers) within a test; a whole
// test that is slow goes into a file *_verify_test.go with this build tag.
const Verify = true
