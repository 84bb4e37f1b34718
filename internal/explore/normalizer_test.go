package explore

import (
	"math"
	"testing"
)

// A hash is a random value, also if it is short or its digits look like a time. The row of a restock
// has such a hash as its user.
func TestHashesAreNormalized(t *testing.T) {
	for _, hash := range []int64{-math.MaxInt64, -123456789012345678, -1799999999999999999, -1700000000} {
		n := NewNormalizer(41)
		n.markHash(hash)
		text := "user_id = " + formatArgument(hash) + ", sku_id = 41, quantity = 2"
		if got := n.Normalize(text); got != "user_id = -t1, sku_id = 1, quantity = 2" {
			t.Errorf("%d: %s", hash, got)
		}
	}
}
