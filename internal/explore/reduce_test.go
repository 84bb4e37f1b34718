package explore_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/strategies/etcdlock"
	"seckill/strategies/redislock"
	"seckill/strategies/sqlrow"
	"seckill/strategies/zklock"
)

// Leaving out orders of independent commands leaves out no end: every way in
// which a scenario can end is reached by both searches, and the reduced one
// runs fewer schedules to see that there is no other.
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
				t.Errorf("all %d schedules end in\n%s\nand the %d of the reduced search in\n%s", n, strings.Join(whole, "\n"), m, strings.Join(fewer, "\n"))
			}
			if m > n {
				t.Errorf("%d schedules, and %d when they are reduced", n, m)
			}
			t.Logf("%d ends; %d schedules, reduced to %d", len(whole), n, m)
		})
	}
}

// ends are all ways in which a scenario ended: what the buyers were told, and
// what the ledger shows.
func ends(t *testing.T, w *explore.World, s *explore.Scenario, reduce bool) (list []string, schedules int) {
	t.Helper()
	seen := map[string]bool{}
	res := search(t, w, s, explore.Limits{All: true, Reduce: reduce, Seen: func(o *explore.Schedule) {
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

// gossip is a strategy whose buyers meet in their process's memory: one goes to Redis
// and leaves word, the other goes to the row and looks.
type gossip struct {
	seckill.Strategy
	redis redis.UniversalClient
	store *ledger.Store
	word  atomic.Int64
}

func (g *gossip) Deduct(ctx context.Context, p seckill.Purchase) (r seckill.Receipt, err error) {
	if p.Quantity == 2 {
		err = g.redis.Exists(ctx, "gossip").Err()
		g.word.Store(1)
		return r, err
	}
	err = g.store.Read(ctx, new(int64), "SELECT num FROM stock WHERE id = ?", p.SKU)
	return seckill.Receipt{Remaining: g.word.Load()}, err
}

// Commands to different servers are not independent when their senders share memory.
func TestReducedSearchKnowsOfSharedMemory(t *testing.T) {
	info := redislock.RedisLua
	info.Locker = nil
	last := new(gossip)
	info.New = func(d catalog.Deps) (seckill.Strategy, error) {
		last.redis, last.store = d.Redis, d.Ledger
		return last, nil
	}
	s := two(explore.Buys)
	s.Buyers[0].Quantity, s.Buyers[1].Quantity, s.Buyers[1].Process = 2, 1, s.Buyers[0].Process
	w := open(t, info)
	seen := map[int64]int{}
	search(t, w, s, explore.Limits{All: true, Reduce: true, Seen: func(o *explore.Schedule) {
		seen[o.Buyers[1].Receipt.Remaining]++
		last.word.Store(0)
	}})
	if len(seen) != 2 {
		t.Errorf("the second buyer saw %v; want both 0 and 1", seen)
	}
}
