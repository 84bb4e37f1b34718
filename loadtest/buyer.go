package loadtest

import "fmt"

// maxBuyers is how many distinct users a run can have.
const maxBuyers = 10_000_000

// A crowd is all the buyers of one run. Who buyer i is follows from the seed
// alone: a run with the same seed sends the same users in the same order.
type crowd struct {
	seed uint64
	run  int64
}

const userBits = 31

// user spreads the buyers over 2³¹ ids. An odd factor makes i ↦ i·factor a
// permutation of them, so no two buyers are the same user.
func (c crowd) user(i int) int64 {
	const factor = 0x9e3779b97f4a7c15
	return 1 + int64((c.seed+uint64(i)*factor)&(1<<userBits-1))
}

// key is buyer i's idempotency key. The run is part of it: a request that
// arrives after a later reset must not pass for one of the later run.
func (c crowd) key(i int) string {
	return fmt.Sprintf("load-%x-%d-%d", c.seed, c.run, i)
}
