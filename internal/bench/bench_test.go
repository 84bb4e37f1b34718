package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/tables"
	"seckill/strategies"
	"seckill/strategies/mysqllock"
	"seckill/strategies/redislock"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// shortRun returns the options of a run of a few seconds, with the servers that the locks need.
func shortRun(t testing.TB, locks ...catalog.Info) Options {
	var needs []backend.Capability
	for _, info := range locks {
		needs = append(needs, info.Needs...)
	}
	return Options{
		Backends: labtest.Start(t, needs...).Config(), Locks: locks, Contenders: []int{4},
		Hold: time.Millisecond, Rounds: 2, For: 400 * time.Millisecond, Progress: func(int, int, string) {},
	}
}

// For each kind of backend, a lock is measured. Every figure is set, and no update is lost.
func TestEveryLockIsMeasured(t *testing.T) {
	all := labtest.Map([]string{"redis-watchdog", "redlock", "zk", "etcd", "get-lock", "lock-insert"}, strategies.Named)
	r := labtest.Value(Run(t.Context(), shortRun(t, all...))).Must(t)
	for _, s := range r.Trials {
		if s.Error != "" || s.lostUpdates() > 0 || len(s.Passes) != 2 {
			t.Errorf("%s: %d passes, %d updates lost, %q", s, len(s.Passes), s.lostUpdates(), s.Error)
			continue
		}
		for _, p := range s.Passes {
			// A lock needs at least one command to acquire it and one to release it.
			of, seconds := p.Figures, s.measured.Seconds()
			if of[locksPerSecond] <= 0 || of[waitP99] < of[waitP50] || of[waitP99] <= 0 ||
				float64(p.Acquired)+.5 < of[locksPerSecond]*seconds || of[commands] < 1.9 {
				t.Errorf("%s: %+v", s, p)
			}
		}
	}
}

// openLock is a lock that many contenders can hold at the same time. Its 51st release fails.
type openLock struct{ n atomic.Int64 }

func (o *openLock) Acquire(context.Context, string, lock.Options) (lock.Lease, error) { return o, nil }
func (o *openLock) Context() context.Context                                          { return context.Background() }
func (o *openLock) Fence() uint64                                                     { return 0 }
func (o *openLock) Release(context.Context) error {
	if o.n.Add(1) > 50 {
		return errors.New("no connection")
	}
	return nil
}

// A lock that fails does not stop the others. If the lock had two holders at a time, this is
// reported even if the lock fails afterwards.
func TestAFailureDoesNotStopOthers(t *testing.T) {
	broken := catalog.Info{Name: "broken", Key: func(int64) string { return "" },
		Locker: func(catalog.Deps) (lock.Locker, error) { return nil, errors.New("no connection") }}
	overlaps := catalog.Info{Name: "open", Key: broken.Key,
		Locker: func(catalog.Deps) (lock.Locker, error) { return &openLock{}, nil }}
	r, err := Run(t.Context(), shortRun(t, broken, overlaps, strategies.Named("redis-lua")))
	if text := fmt.Sprint(err); !strings.Contains(text, "broken, 4 contenders: ") ||
		!strings.Contains(text, "open, 1 contender: ") || strings.Contains(text, "redis-lua") {
		t.Errorf("got the error %v, want one for broken and one for open", err)
	}
	labtest.Same(t, r.Overlaps(), []string{"open"}, "overlaps in")
	if s := r.Trials[len(r.Trials)-1]; s.Lock != "redis-lua" || !s.isValid() || len(s.Passes) != 2 {
		t.Errorf("%s has %d passes, want 2", s.Lock, len(s.Passes))
	}
}

// Behind a gate, only one contender at a time asks the lock. So a lock that polls is never refused
// and sends two commands: one to acquire the lock, one to release it.
func TestAGateSavesThePolls(t *testing.T) {
	o := shortRun(t, strategies.Named("redis-lua"))
	o.Gated = []string{"redis-lua"}
	r := labtest.Value(Run(t.Context(), o)).Must(t)
	sent := map[string]float64{}
	for _, s := range r.Trials {
		if s.Contenders > 1 && s.isValid() {
			sent[s.Lock] = s.spreadOf(commands).Median()
		}
	}
	if without, behind := sent["redis-lua"], sent["redis-lua-gated"]; behind < 1.9 || behind > 2.1 || without < 2.2 {
		t.Errorf("redis-lua sends %.2f commands, and %.2f behind a gate", without, behind)
	}
}

// A lease shorter than the task makes holders overlap, so updates are lost. With a lease of ten
// times the task, fewer are lost.
func TestArticles(t *testing.T) {
	o := shortRun(t, mysqllock.LockTableCentral, mysqllock.LockTableSegmented, redislock.RedisLua)
	// A second is long enough for the first holder of each name to write its row of the segmented table.
	o.Hold, o.For, o.Rounds = 10*time.Millisecond, time.Second, 1
	c := labtest.Value(RunArticles(t.Context(), o)).Must(t)
	first, last := c.Leases[0], c.Leases[len(c.Leases)-1]
	lostShort, lostLong := first.spreadOf(lostPercent).Median(), last.spreadOf(lostPercent).Median()
	if lostShort == 0 || first.spreadOf(expiredPercent).Median() == 0 || lostLong >= lostShort {
		t.Errorf("a lease of half the task lost %v %% of the updates, a lease of ten times the task %v %%", lostShort, lostLong)
	}
	if c.Ratio[1] <= 0 || len(c.Polls) != len(pollFactors) || c.Polls[0].spreadOf(locksPerSecond).Median() <= 0 {
		t.Errorf("central over segmented %v, pauses %+v", c.Ratio, c.Polls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	labtest.Value(RunArticles(ctx, o)).Check(t, context.Canceled, "with a cancelled context")
}

// Two holders of different names do not overlap, because each name has its own counter.
func TestNamesHaveCountersOfTheirOwn(t *testing.T) {
	info := strategies.Named("mutex-per-sku")
	info.Needs = nil // a lock without a purchase needs no server here
	trial := Options{For: 100 * time.Millisecond}.newTableTrial(info, catalog.DefaultSettings())
	trial.hold = func() time.Duration { return time.Millisecond }
	pass, err := trial.measurePass(t.Context(), backend.Config{})
	if err != nil || pass.Acquired == 0 || pass.Lost > 0 {
		t.Errorf("%+v, %v", pass, err)
	}
}

// A trial that failed or had two holders at a time is left out of the figures for the lessons.
func TestReportsOmitInvalidTrials(t *testing.T) {
	pass := Pass{Figures: map[string]float64{locksPerSecond: 180.04, waitP50: 30, waitP99: 40, commands: 3}}
	r := &Report{HoldMS: 5, Trials: []*Trial{
		{Lock: "zk", Contenders: 1, Passes: []Pass{pass}}, {Lock: "zk", Contenders: 8, Passes: []Pass{pass}},
		{Lock: "etcd", Contenders: 8, Passes: []Pass{pass}, Error: "gone"},
		{Lock: "void", Contenders: 8, Passes: []Pass{pass, {Lost: 1}}},
	}}
	read := func(r tables.Report) string {
		return string(labtest.Value(json.Marshal(r.JSON)).Must(t))
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
	labtest.Same(t, report.Tables[2].Rows[0], []string{"15.0", tables.None, tables.None, tables.None},
		"the row of a lease without a pass")
}
