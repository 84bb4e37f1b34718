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
func TestExperiments(t *testing.T) {
	o := short(t, mysqllock.LockTableCentral, redislock.RedisLua)
	// A second, as the first holder of each name of the segmented table writes its row.
	o.Hold, o.For, o.Rounds = 10*time.Millisecond, time.Second, 1
	c, err := RunArticles(t.Context(), o, mysqllock.LockTableCentral, mysqllock.LockTableSegmented, redislock.RedisLua)
	labtest.Must(t, err)
	first, last := c.Leases[0], c.Leases[len(c.Leases)-1]
	if first.spread(lost).Median() == 0 || first.spread(gone).Median() == 0 || last.spread(lost).Median() >= first.spread(lost).Median() {
		t.Errorf("a lease of half the task lost %v %%, one of ten times %v %%", first.spread(lost), last.spread(lost))
	}
	if c.Ratio[1] <= 0 || len(c.Polls) != len(pollFactors) || c.Polls[0].spread(rate).Median() <= 0 {
		t.Errorf("central over segmented %v, pauses %+v", c.Ratio, c.Polls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := RunArticles(ctx, o, mysqllock.LockTableCentral, mysqllock.LockTableSegmented, redislock.RedisLua); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Holders of different names are not two holders of one lock.
func TestManyNamesAreManyLocks(t *testing.T) {
	info := named(t, "mutex-per-sku")
	info.Needs = nil // of a purchase
	scene := Options{For: 100 * time.Millisecond}.onManyNames(info, catalog.DefaultSettings())
	scene.load.hold = func() time.Duration { return time.Millisecond }
	pass, err := scene.load.pass(t.Context(), backend.Config{}, scene.Contenders)
	if err != nil || pass.Taken == 0 || pass.Lost > 0 {
		t.Errorf("%+v, %v", pass, err)
	}
}
