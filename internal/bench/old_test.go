package bench

import (
	"testing"

	"seckill/internal/measure/measuretest"
)

func TestReadsOldResults(t *testing.T) {
	measuretest.Keeps(t, "testdata/locks.json", &Report{})
	measuretest.Keeps(t, "testdata/claims.json", &Claims{})
}
