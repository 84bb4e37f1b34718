package mysqllock

import (
	"os"
	"testing"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock/locktest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

var testSettings = catalog.Settings{LockTimes: catalog.LockTimes{LockWait: 3 * time.Second, LockLease: time.Minute, LockPoll: 2 * time.Millisecond}}

// newBench is a lock on an instance of its own.
func newBench(t *testing.T, info catalog.Info, change ...func(*catalog.Deps)) *locktest.Process {
	t.Helper()
	d := catalog.Deps{Settings: testSettings}
	for _, c := range change {
		c(&d)
	}
	return locktest.Open(t, info, d)
}
