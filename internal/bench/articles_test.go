package bench

import (
	"context"
	"errors"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/strategies/mysqllock"
	"seckill/strategies/redislock"
)

// A lease shorter than its task loses updates; one many times longer does not.
// Nothing is left of the experiment's many names.
func TestExperiments(t *testing.T) {
	o := short(t, ourLock(t, "lock-row"), ourLock(t, "redis-lua"))
	o.Candidates, o.Hold, o.For, o.Rounds = o.Candidates[:1], 10*time.Millisecond, 300*time.Millisecond, 1
	c, err := RunArticles(t.Context(), o, Experiment{Central: mysqllock.LockTableCentral, Segmented: mysqllock.LockTableSegmented,
		Polling: redislock.RedisLua, Settings: catalog.DefaultSettings(), Workers: 5})
	if err != nil {
		t.Fatal(err)
	}
	first, last := c.Leases[0].Scene, c.Leases[len(c.Leases)-1].Scene
	if first.spread(lost).Median == 0 || first.spread(gone).Median == 0 || last.spread(lost).Median >= first.spread(lost).Median {
		t.Errorf("a lease of half the task lost %v %%, one of ten times %v %%", first.spread(lost), last.spread(lost))
	}
	if c.Ratio.Low <= 0 || len(c.Polls) != len(pollFactors) || c.Polls[0].spread(rate).Median <= 0 {
		t.Errorf("central over segmented %v, pauses %+v", c.Ratio, c.Polls)
	}
	var n int64
	err = labtest.Instance(t, backend.SQL, backend.RowLocks).DB.Raw("SELECT COUNT(*) FROM lock_record").Scan(&n).Error
	if err != nil || n != 0 {
		t.Errorf("%d records are left behind, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := RunArticles(ctx, o, Experiment{Polling: redislock.RedisLua}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
