package bench

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/tables"
	"seckill/strategies"
	"seckill/strategies/mysqllock"
	"seckill/strategies/redislock"
)

// A lease that is shorter than the task loses updates. A lease of ten times the task loses fewer.
func TestArticles(t *testing.T) {
	o := shortRun(t, mysqllock.LockTableCentral, redislock.RedisLua)
	// A second is long enough for the first holder of each name to write its row of the segmented table.
	o.Hold, o.For, o.Rounds = 10*time.Millisecond, time.Second, 1
	c, err := RunArticles(t.Context(), o, mysqllock.LockTableCentral, mysqllock.LockTableSegmented, redislock.RedisLua)
	labtest.Must(t, err)
	first, last := c.Leases[0], c.Leases[len(c.Leases)-1]
	lostShort, lostLong := first.spreadOf(lostPercent).Median(), last.spreadOf(lostPercent).Median()
	if lostShort == 0 || first.spreadOf(expiredPercent).Median() == 0 || lostLong >= lostShort {
		t.Errorf("a lease of half the task lost %v %% of the updates, a lease of ten times the task %v %%", lostShort, lostLong)
	}
	if c.Ratio[1] <= 0 || len(c.Polls) != len(pollFactors) || c.Polls[0].spreadOf(locksPerSecondOf).Median() <= 0 {
		t.Errorf("central over segmented %v, pauses %+v", c.Ratio, c.Polls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = RunArticles(ctx, o, mysqllock.LockTableCentral, mysqllock.LockTableSegmented, redislock.RedisLua)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
}

// Two holders of different names are no overlap.
func TestNamesHaveCountersOfTheirOwn(t *testing.T) {
	info := strategies.Named("mutex-per-sku")
	info.Needs = nil // only a purchase needs a server
	trial := Options{For: 100 * time.Millisecond}.newTableTrial(info, catalog.DefaultSettings())
	trial.load.hold = func() time.Duration { return time.Millisecond }
	pass, err := trial.load.measurePass(t.Context(), backend.Config{}, trial.Contenders)
	if err != nil || pass.Acquired == 0 || pass.Lost > 0 {
		t.Errorf("%+v, %v", pass, err)
	}
}

// A trial that failed or had two holders at a time is left out of the figures for the lessons.
func TestReportsOmitInvalidTrials(t *testing.T) {
	pass := Pass{Locks: 9, Rate: 180.04, WaitP50: 30, WaitP99: 40, MinLocks: 3, MaxLocks: 4, Commands: 3}
	r := &Report{HoldMS: 5, Trials: []*Trial{
		{Lock: "zk", Contenders: 1, Passes: []Pass{pass}}, {Lock: "zk", Contenders: 8, Passes: []Pass{pass}},
		{Lock: "etcd", Contenders: 8, Passes: []Pass{pass}, Error: "gone"},
		{Lock: "void", Contenders: 8, Passes: []Pass{pass, {Lost: 1}}},
	}}
	read := func(r tables.Report) string {
		text, err := json.Marshal(r.JSON)
		labtest.Must(t, err)
		return string(text)
	}
	const zk = `"locks":{"zk":{"1":{"commands":[3,3,3],"locks_per_second":[180,180,180],"lost_percent":[0,0,0],"p99_ms":[40,40,40]},"8":{`
	if got := read(r.Report(tables.Run{})); !strings.Contains(got, zk) || strings.Contains(got, "etcd") || strings.Contains(got, "void") {
		t.Error(got)
	}
	table := &Trial{Lock: "table", Contenders: 50, Passes: []Pass{pass}}
	c := Articles{Lock: "redis-lua", Central: table, Segmented: &Trial{},
		Polls:  []*Trial{{ms: 5, Lock: "polled", Passes: []Pass{pass, pass}}, {ms: 10}},
		Leases: []*Trial{{ms: 15}}}
	report := c.Report(tables.Run{})
	if got := read(report); !strings.Contains(got, `"lock":"redis-lua"`) || strings.Count(got, `"ms":`) != 1 || !strings.Contains(got, `"ms":5,`) {
		t.Error(got)
	}
	if lease := report.Tables[2].Rows[0]; !slices.Equal(lease, []string{"15.0", tables.None, tables.None, tables.None}) {
		t.Errorf("the row of a lease without a pass: %v", lease)
	}
}
