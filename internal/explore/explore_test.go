package explore_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/strategies/counter"
	"seckill/strategies/etcdlock"
	"seckill/strategies/local"
	"seckill/strategies/mysqllock"
	"seckill/strategies/redislock"
	"seckill/strategies/sqlrow"
	"seckill/strategies/zklock"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// open opens a world on servers that belong to this test program. A world asks its servers which commands wait, so two
// worlds must not explore at the same time: no test of this package is parallel.
func open(t testing.TB, info catalog.Info) *explore.World {
	t.Helper()
	w := labtest.Value(explore.Open(t.Context(), info, labtest.Config(t, info.Uses()...), explore.Options{})).Must(t)
	t.Cleanup(func() { labtest.Check(t, w.Close(), nil, "close the world") })
	return w
}

// two returns a scenario of two buyers in a process each, with enough stock for both.
func two(does explore.Action) *explore.Scenario {
	return &explore.Scenario{Name: "two buyers", Stock: 5, Buyers: []explore.Buyer{
		{Name: "A", Quantity: 2, Action: does}, {Name: "B", Quantity: 1, Process: 1, Action: does},
	}}
}

func withFault(s *explore.Scenario, faults ...explore.Fault) *explore.Scenario {
	s.Faults, s.MaxFaults = faults, 1
	return s
}

func search(t testing.TB, w *explore.World, s *explore.Scenario, l explore.Limits) explore.Result {
	t.Helper()
	return labtest.Value(w.Search(t.Context(), s, l)).Must(t)
}

func again(t *testing.T, w *explore.World, s *explore.Scenario, choices ...explore.Choice) *explore.Schedule {
	t.Helper()
	return labtest.Value(w.Replay(t.Context(), s, choices)).Must(t)
}

// turns returns a turn of each buyer in a text such as "AAB".
func turns(who string) (list []explore.Choice) {
	for _, name := range who {
		list = append(list, explore.Choice{Who: string(name)})
	}
	return list
}

func broke(o *explore.Schedule, rule string) bool {
	return slices.ContainsFunc(o.Problems, func(p explore.Problem) bool { return p.Rule == rule })
}

func table(o *explore.Schedule) string {
	if o == nil {
		return "(no order)"
	}
	var b strings.Builder
	_ = game.NewExample("as it came", "", o).WriteSteps(&b)
	return b.String()
}

// Strategies read the explorer's clock, which moves with the schedule, also when the service calls them.
func TestTheServiceHasTheClockOfTheProcess(t *testing.T) {
	w := open(t, counter.RedisCounterMySQL)
	one := &explore.Scenario{Name: "one buyer with a key", Stock: 5, Buyers: []explore.Buyer{
		{Name: "A", Quantity: 2, Action: explore.Asks}}}
	if res := search(t, w, one, explore.Limits{Schedules: 1}); res.StoppedAt != nil || !w.ReadsClock() {
		t.Errorf("one buyer with a key: %+v, and the strategy asked the explorer's clock: %v", res, w.ReadsClock())
	}
}

// Two copies of a request poll a purchase that is still open. Neither of them wakes the other one, so
// time passes, and the schedule is short.
func TestCopiesDoNotWakeEachOtherForEver(t *testing.T) {
	w := open(t, counter.RedisCounterMySQL)
	copies := []explore.Buyer{{Name: "A", Quantity: 2, Action: explore.Asks, Again: 1},
		{Name: "B", Quantity: 2, Action: explore.Asks, Again: 1, Process: 1, Same: "A"}}
	s := &explore.Scenario{Name: "two copies", Stock: 4, Buyers: copies, MaxFaults: 1,
		Faults: []explore.Fault{explore.CommandLost}}
	o := again(t, w, s, happens(before(t, w, s, "COMMIT"), "A", explore.CommandLost)...)
	if len(o.Problems) > 0 || len(o.Steps) > 100 {
		t.Errorf("%d steps and %v, want at most 100 steps without a problem", len(o.Steps), o.Problems)
	}
}

// A buyer of conditional sends four commands: BEGIN, UPDATE, INSERT, COMMIT. Two buyers could interleave them in
// 8!/(4!·4!) = 70 ways. But while one buyer is between UPDATE and COMMIT, the other must wait for the row. The exact
// numbers prove that no schedule is missing, that none runs twice, and that a waiting buyer takes no turn.
func TestTreesOfKnownSize(t *testing.T) {
	for _, c := range []struct {
		info   catalog.Info
		orders int
	}{{sqlrow.Conditional, 24}, {sqlrow.ForUpdate, 36}} {
		res := search(t, open(t, c.info), two(explore.Buys), explore.Limits{})
		if res.Schedules != c.orders || res.Preemptions != nil || res.NotRun+res.Disturbed+res.Random != 0 {
			t.Errorf("%s: %+v, want all of %d orders, and nothing else", c.info.Name, res, c.orders)
		}
		if res.StoppedAt != nil {
			t.Errorf("%s broke:\n%s", c.info.Name, table(res.StoppedAt))
		}
	}
}

// The server reports which buyer waits inside it, and the step that wakes the buyer names it.
func TestWaitersAreBlocked(t *testing.T) {
	for _, c := range []struct {
		info catalog.Info
		at   string // the command of B that waits
	}{
		{sqlrow.ForUpdate, "SELECT num FROM stock WHERE id = 1 FOR UPDATE"},
		{sqlrow.Conditional, "UPDATE stock"},
		{mysqllock.GetLock, "SELECT GET_LOCK("},
		{redislock.RedisBLPOP, "BLPOP "},
		{zklock.ZK, "getData /"},
	} {
		t.Run(c.info.Name, func(t *testing.T) {
			w := open(t, c.info)
			var o *explore.Schedule
			for n := 1; n < 10; n++ {
				o = again(t, w, two(explore.Buys), turns(strings.Repeat("A", n)+"B")...)
				if o.Buyers[1].Waited {
					break
				}
			}
			if len(o.Problems) > 0 || !o.Buyers[1].Waited || o.Buyers[1].WaitedFor > 0 {
				t.Fatalf("B is to wait until A has finished, and no longer:\n%s", table(o))
			}
			last, woken := "", false // last is B's last command before it was woken
			for _, s := range o.Steps {
				if s.Who == "B" && !woken {
					last = s.Command
				}
				woken = woken || slices.Contains(s.Woke, "B")
			}
			if !woken || !strings.HasPrefix(last, c.at) {
				t.Errorf("B waited in %q (woken: %v), want %q:\n%s", last, woken, c.at, table(o))
			}
		})
	}
}

func TestLimits(t *testing.T) {
	res := search(t, open(t, sqlrow.Conditional), two(explore.Buys), explore.Limits{Schedules: 7, Random: 5, Seed: 1})
	if res.Schedules != 12 || res.Random != 5 || res.NotRun == 0 || res.Preemptions == nil {
		t.Errorf("%+v, want seven schedules, five at random, and a search that does not claim to have done all", res)
	}
	// A schedule that ends before its prefix of choices is complete could not be repeated.
	var came atomic.Int64
	w := open(t, deducting(func(ctx context.Context, store *ledger.Store, _ int64) error {
		if came.Add(1) > 4 { // the first four purchases are those of the warm-up and the first schedule
			return nil
		}
		return store.Tx(ctx, func(*gorm.DB) error { return nil })
	}))
	res = search(t, w, two(explore.Buys), explore.Limits{Stop: func(*explore.Schedule) bool { return false }})
	labtest.Same(t, res.Exhausted, false, "all others could be repeated, of %+v", res)
}

// before returns the turns of A before the first command that begins with word.
func before(t *testing.T, w *explore.World, s *explore.Scenario, word string) []explore.Choice {
	t.Helper()
	n := 0
	for _, step := range again(t, w, s).Steps {
		if step.Who != "A" {
			continue
		}
		if strings.HasPrefix(step.Command, word) {
			return turns(strings.Repeat("A", n))
		}
		n++
	}
	t.Fatalf("A sends no %q:\n%s", word, table(again(t, w, s)))
	return nil
}

func happens(choices []explore.Choice, who string, f explore.Fault) []explore.Choice {
	return append(choices, explore.Choice{Who: who, Fault: f})
}

// When a process dies, all its buyers die. When a buyer leaves, the other buyers continue.
func TestADeathTakesTheWholeProcess(t *testing.T) {
	w := open(t, local.MutexPerSKU)
	s := withFault(two(explore.Buys), explore.Dies)
	s.Next = true
	s.Buyers[1].Process = s.Buyers[0].Process
	o := again(t, w, s, happens(before(t, w, s, "COMMIT"), "A", explore.Dies)...)
	if !o.Buyers[0].Dead || !o.Buyers[1].Dead || o.Buyers[2].Err != nil {
		t.Errorf("A and B share a process that died: %+v", o.Buyers)
	}
	s.Faults = []explore.Fault{explore.Leaves}
	o = again(t, w, s, happens(before(t, w, s, "COMMIT"), "B", explore.Leaves)...)
	if o.Buyers[0].Err != nil || o.Buyers[1].Err == nil || o.Buyers[1].Dead || len(o.Problems) > 0 {
		t.Errorf("B has left while they waited for A: %+v %+v", o.Buyers, o.Problems)
	}
}

// The reduced search runs fewer schedules than the full search, but both reach every result of a
// scenario. It leaves out only other orders of independent commands.
func TestReducedSearchReachesTheSameEnds(t *testing.T) {
	enough, scarce := two(explore.Buys), two(explore.Buys)
	scarce.Name, scarce.Stock = "enough for one", 2
	ending := withFault(two(explore.Buys), explore.LeaseEnds)
	ending.Name, ending.Stock = "the lease ends", 2
	for _, c := range []struct {
		info     catalog.Info
		scenario *explore.Scenario
		quick    bool
	}{
		{sqlrow.Conditional, enough, true}, {sqlrow.Naive, scarce, false}, {sqlrow.ForUpdate, scarce, false},
		{redislock.RedisLua, enough, true}, {redislock.RedisSetEX, scarce, false}, {redislock.RedisWatchdog, scarce, false},
		{redislock.RedisLua, ending, false}, {zklock.ZK, scarce, false}, {etcdlock.EtcdNode, enough, false},
	} {
		if !c.quick && !labtest.Verify {
			continue
		}
		t.Run(c.info.Name+" "+c.scenario.Name, func(t *testing.T) {
			w := open(t, c.info)
			whole, n := ends(t, w, c.scenario, false)
			fewer, m := ends(t, w, c.scenario, true)
			labtest.Same(t, strings.Join(fewer, "\n"), strings.Join(whole, "\n"), "%d schedules instead of %d", m, n)
			if m > n {
				t.Errorf("%d schedules, and %d when they are reduced", n, m)
			}
		})
	}
}

// ends returns the different results of a scenario, from the buyers' answers and the ledger's
// violations, and the number of schedules.
func ends(t *testing.T, w *explore.World, s *explore.Scenario, reduce bool) (list []string, schedules int) {
	t.Helper()
	seen := map[string]bool{}
	res := search(t, w, s, explore.Limits{Reduce: reduce, Stop: func(o *explore.Schedule) bool {
		var end strings.Builder
		for _, b := range o.Buyers {
			fmt.Fprintf(&end, "%s: sold %v, %d left; ", b.Name, b.Err == nil, b.Receipt.Remaining)
		}
		for _, p := range o.Problems {
			if explore.LedgerRule(p.Rule) {
				end.WriteString(p.Rule + " ")
			}
		}
		seen[end.String()] = true
		return false
	}})
	if !res.Exhausted {
		t.Fatalf("%+v, want all schedules", res)
	}
	for end := range seen {
		list = append(list, end)
	}
	slices.Sort(list)
	return list, res.Schedules + res.Pruned
}

// BenchmarkSearch runs all schedules of two buyers on a real server.
func BenchmarkSearch(b *testing.B) {
	w, schedules := open(b, sqlrow.Conditional), 0
	for b.Loop() {
		schedules += search(b, w, two(explore.Buys), explore.Limits{}).Schedules
	}
	b.ReportMetric(float64(schedules)/b.Elapsed().Seconds(), "schedules/s")
}

// A counterexample consists of choices for one strategy. Replaying it with another strategy fails,
// and the error names the step.
func TestReplayDiverges(t *testing.T) {
	naive := open(t, sqlrow.Naive)
	broken := search(t, naive, two(explore.Buys), explore.Limits{}).StoppedAt
	o := labtest.Value(naive.Shorten(t.Context(), broken, explore.LedgerRule)).Must(t)
	// C does not exist, and A has finished, so neither can take a turn.
	for _, who := range []string{"C", "A"} {
		longer := append(slices.Clone(o.Choices()), turns(who)...)
		labtest.Value(naive.Replay(t.Context(), o.Scenario, longer)).Check(t, explore.ErrDiverged, "a step of %s", who)
	}
	w := open(t, sqlrow.Conditional)
	_, err := w.Replay(t.Context(), o.Scenario, o.Choices())
	labtest.Check(t, err, explore.ErrDiverged, "another strategy replays the counterexample")
	labtest.Fails(t, err, "step ", "another strategy replays the counterexample")
	_, err = w.Replay(t.Context(), two(explore.Locks), nil)
	labtest.Check(t, err, explore.ErrDiverged, "a buyer locks, though conditional has no lock")
	labtest.Fails(t, err, "has nothing for a buyer who locks", "a buyer locks, though conditional has no lock")
}
