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

// A lease shorter than its task loses updates; one many times longer does not.
func TestExperiments(t *testing.T) {
	o := short(t, mysqllock.LockTableCentral, redislock.RedisLua)
	// A second, as the first holder of each name of the segmented table writes its row.
	o.Hold, o.For, o.Rounds = 10*time.Millisecond, time.Second, 1
	c, err := RunArticles(t.Context(), o, mysqllock.LockTableCentral, mysqllock.LockTableSegmented, redislock.RedisLua)
	labtest.Must(t, err)
	first, last := c.Leases[0], c.Leases[len(c.Leases)-1]
	if first.spreadOf(lost).Median() == 0 || first.spreadOf(gone).Median() == 0 || last.spreadOf(lost).Median() >= first.spreadOf(lost).Median() {
		t.Errorf("a lease of half the task lost %v %%, one of ten times %v %%", first.spreadOf(lost), last.spreadOf(lost))
	}
	if c.Ratio[1] <= 0 || len(c.Polls) != len(pollFactors) || c.Polls[0].spreadOf(locksPerSecondOf).Median() <= 0 {
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
	info := strategies.Named("mutex-per-sku")
	info.Needs = nil // of a purchase
	scene := Options{For: 100 * time.Millisecond}.onManyNames(info, catalog.DefaultSettings())
	scene.load.hold = func() time.Duration { return time.Millisecond }
	pass, err := scene.load.measurePass(t.Context(), backend.Config{}, scene.Contenders)
	if err != nil || pass.Taken == 0 || pass.Lost > 0 {
		t.Errorf("%+v, %v", pass, err)
	}
}

// What could not be measured is left out of the lessons' figures.
func TestFiguresOfTheLessons(t *testing.T) {
	pass := Pass{Locks: 9, Rate: 180.04, WaitP50: 30, WaitP99: 40, Fewest: 3, Most: 4, Commands: 3}
	r := &Report{HoldMS: 5, Scenes: []*Scene{
		{Lock: "zk", Contenders: 1, Passes: []Pass{pass}}, {Lock: "zk", Contenders: 8, Passes: []Pass{pass}},
		{Lock: "etcd", Contenders: 8, Passes: []Pass{pass}, Error: "gone"}, {Lock: "void", Contenders: 8, Passes: []Pass{pass, {Lost: 1}}},
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
	table := &Scene{Lock: "table", Contenders: 50, Passes: []Pass{pass}}
	c := Articles{Lock: "redis-lua", Central: table, Segmented: &Scene{}, Polls: []*Scene{{ms: 5, Lock: "polled", Passes: []Pass{pass, pass}}, {ms: 10}},
		Leases: []*Scene{{ms: 15}}}
	report := c.Report(tables.Run{})
	if got := read(report); !strings.Contains(got, `"lock":"redis-lua"`) || strings.Count(got, `"ms":`) != 1 || !strings.Contains(got, `"ms":5,`) {
		t.Error(got)
	}
	if lease := report.Tables[2].Rows[0]; !slices.Equal(lease, []string{"15.0", tables.None, tables.None, tables.None}) {
		t.Errorf("a lease that was not measured: %v", lease)
	}
}
