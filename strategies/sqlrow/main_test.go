package sqlrow

import (
	"os"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// waitsFor is an instance whose statements wait for a row for so long.
func waitsFor(t *testing.T, wait time.Duration) *backend.Instance {
	t.Helper()
	c := labtest.Config(t, backend.RowLocks)
	c.RowLockWait = wait
	return labtest.Open(t, c)
}
