package explore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/strategies/etcdlock"
	"seckill/strategies/redislock"
	"seckill/strategies/sqlrow"
	"seckill/strategies/zklock"
)

// Both searches reach every result of a scenario: leaving out orders of independent commands loses
// none. The reduced search runs fewer schedules.
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
			if !slices.Equal(whole, fewer) {
				t.Errorf("all %d schedules end in\n%s\nand the %d of the reduced search in\n%s",
					n, strings.Join(whole, "\n"), m, strings.Join(fewer, "\n"))
			}
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
	res := search(t, w, s, explore.Limits{Reduce: reduce, Broken: func(o *explore.Schedule) bool {
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
	if !res.Exhausted() {
		t.Fatalf("%+v, want all schedules", res)
	}
	for end := range seen {
		list = append(list, end)
	}
	slices.Sort(list)
	return list, res.Schedules + res.Pruned
}
