package explore_test

import (
	"slices"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/strategies/counter"
	"seckill/strategies/etcdlock"
	"seckill/strategies/hotsku"
	"seckill/strategies/local"
	"seckill/strategies/mysqllock"
	"seckill/strategies/redislock"
	"seckill/strategies/sqlrow"
	"seckill/strategies/zklock"
)

// Mutations prove that the search can see: each is a correct strategy with one
// guard removed. The very search that finds the original clean must catch it.
func TestMutationsAreCaught(t *testing.T) {
	buy := two(explore.Buys)
	scarce := two(explore.Buys)
	scarce.Name, scarce.Stock = "two buyers, enough for one", 2
	together := two(explore.Buys)
	together.Name, together.Buyers[1].Process = "two buyers in one process", 0
	crowd := two(explore.Buys)
	crowd.Name = "three buyers"
	crowd.Buyers = append(crowd.Buyers, explore.Buyer{Name: "C", Quantity: 1, Process: 2, Does: explore.Buys})
	expiring := withFault(two(explore.Locks), explore.LeaseEnds)
	expiring.Name = "two contenders, a lease ends"
	all, twice, once := explore.Limits{Preemptions: -1}, explore.Limits{Preemptions: 2}, explore.Limits{Preemptions: 1}
	fenced := func(i catalog.Info, f looseFence) catalog.Info {
		return guarded(i, func(g *lock.Guarded) seckill.Strategy {
			f.Guarded = g
			return &f
		})
	}
	again := locker(redislock.RedisFenced, func(l lock.Locker, _ *backend.Instance) lock.Locker { return repeating{l} })
	again.Name = "redis-fenced-again"
	under, sample := withFault(two(explore.Buys), explore.LeaseEnds), explore.Limits{Preemptions: 1}
	under.Name = "two buyers, a lease ends"
	if !labtest.Verify {
		sample.Schedules = 120 // the mutants need 52 to 96
	}
	const early, always, forAll = "unlocks before its COMMIT", "takes a busy lock for its own", "names the lock after the buyer"
	const blind = "deletes the key, whoever holds it"
	zk := recipe(zklock.ZK, func(d catalog.Deps) lock.Locker { return &zkQueue{zk: d.ZooKeeper} })

	clean := map[string]explore.Result{}
	for _, m := range []struct {
		original catalog.Info
		fault    string
		mutant   catalog.Info
		scenario *explore.Scenario
		limits   explore.Limits
		rules    []string // one of which the mutant breaks; none: any of the ledger's
	}{
		{sqlrow.Conditional, "does not look at the affected rows",
			strategy(sqlrow.Conditional, func(d catalog.Deps) seckill.Strategy { return &careless{store: d.Ledger} }), scarce, all, nil},
		{sqlrow.Version, "does not look at the affected rows of its retry",
			strategy(sqlrow.Version, func(d catalog.Deps) seckill.Strategy { return &hopeful{store: d.Ledger} }), crowd, once, nil},
		{sqlrow.ForUpdate, "reads before it locks",
			strategy(sqlrow.ForUpdate, func(d catalog.Deps) seckill.Strategy { return &snapshot{store: d.Ledger} }), buy, all, nil},
		{hotsku.Reserve, "pays after the deadline", reserving(paysReserved), atOne("one pays after the deadline", explore.PaysLate), once, nil},
		{hotsku.Reserve, "pays what has expired", reserving(paysAnyway), atOne("one pays, a sweeper comes", explore.Pays, explore.Sweeps), once, nil},
		{hotsku.Reserve, "gives a cancelled reservation back again", reserving(releasesTwice), atOne("two cancel", explore.Releases, explore.Releases), once, nil},
		{counter.RedisMulti, "does not WATCH", unwatching(), buy, once, nil},

		{redislock.RedisLua, blind, locker(redislock.RedisLua, byDelete), expiring, twice, []string{explore.RuleStolen}},
		{redislock.RedisWatchdog, blind, locker(redislock.RedisWatchdog, byDelete), expiring, twice, []string{explore.RuleStolen}},
		{redislock.Redsync, blind, locker(redislock.Redsync, byDelete), expiring, twice, []string{explore.RuleStolen}},
		{redislock.RedisRegistry, "has no local lock", ungated(), together, all, nil},
		{redislock.RedisFenced, "does not check the fence when it writes", fenced(redislock.RedisFenced, looseFence{unchecked: true}), under, sample, nil},
		{redislock.RedisFenced, "raises the fence after its read", fenced(redislock.RedisFenced, looseFence{afterRead: true}), under, sample, nil},
		{redislock.RedisFenced, "raises the fence with its write", fenced(redislock.RedisFenced, looseFence{atWrite: true}), under, sample, nil},
		{again, "raises the fence to the token that it has", fenced(again, looseFence{equal: true}), under, sample, nil},

		{redislock.Redsync, early, guarded(redislock.Redsync, tooEarly), buy, all, nil},
		{redislock.RedisWatchdog, early, guarded(redislock.RedisWatchdog, tooEarly), buy, twice, nil},
		{zklock.ZK, early, guarded(zklock.ZK, tooEarly), buy, twice, nil},
		{etcdlock.Etcd, early, guarded(etcdlock.Etcd, tooEarly), buy, all, nil},
		{mysqllock.GetLock, early, guarded(mysqllock.GetLock, tooEarly), buy, all, nil},

		{local.MutexPerSKU, forAll, guarded(local.MutexPerSKU, byBuyer), together, all, nil},
		{redislock.RedisLua, forAll, guarded(redislock.RedisLua, byBuyer), buy, all, nil},
		{mysqllock.GetLock, forAll, guarded(mysqllock.GetLock, byBuyer), buy, all, nil},

		{redislock.RedisBLPOP, always, locker(redislock.RedisBLPOP, deaf), buy, all, nil},
		{mysqllock.LockRow, always, locker(mysqllock.LockRow, deaf), buy, once, nil},
		{zklock.ZK, always, locker(zklock.ZK, deaf), buy, twice, nil},

		{zk, "watches its own node", recipe(zk, func(d catalog.Deps) lock.Locker {
			return &zkQueue{zk: d.ZooKeeper, watchesOwn: true}
		}), buy, twice, []string{explore.RuleStuck}},
	} {
		t.Run(m.original.Name+" "+m.fault, func(t *testing.T) {
			first, done := clean[m.original.Name+m.scenario.Name]
			if !done {
				l := m.limits
				l.All = true
				first = search(t, open(t, m.original), m.scenario, l)
				clean[m.original.Name+m.scenario.Name] = first
			}
			if first.Broken > 0 || first.Schedules == 0 || first.Diverged > 0 {
				t.Fatalf("the original: %+v, want that it is clean:\n%s", first, table(first.First))
			}
			if m.scenario.MaxFaults > 0 && first.Faulty == 0 {
				t.Fatal("nothing went wrong in any order of the original")
			}
			counts := func(rule string) bool {
				return m.rules == nil && fromLedger(rule) || slices.Contains(m.rules, rule)
			}
			m.limits.Stop = counts
			res := search(t, open(t, m.mutant), m.scenario, m.limits)
			if res.First == nil {
				t.Fatalf("the mutant passes: %+v", res)
			}
			if !slices.ContainsFunc(res.First.Problems, func(p explore.Problem) bool { return counts(p.Rule) }) {
				t.Errorf("the mutant broke %+v, want %v:\n%s", res.First.Problems, m.rules, table(res.First))
			}
			t.Logf("caught in %d orders, with %d preemptions; the original passes %d",
				res.Schedules, res.First.Preemptions, first.Schedules)
		})
	}
}

// strategy is i with other code of its own.
func strategy(i catalog.Info, build func(catalog.Deps) seckill.Strategy) catalog.Info {
	i.New = func(d catalog.Deps) (seckill.Strategy, error) { return build(d), nil }
	return i
}

// locker is i with something round its lock.
func locker(i catalog.Info, round func(lock.Locker, *backend.Instance) lock.Locker) catalog.Info {
	inner := i.Locker
	i.Locker = func(d catalog.Deps) (lock.Locker, error) {
		l, err := inner(d)
		return round(l, d.Instance), err
	}
	return i
}

// recipe is i with another lock.
func recipe(i catalog.Info, build func(catalog.Deps) lock.Locker) catalog.Info {
	i.Locker = func(d catalog.Deps) (lock.Locker, error) { return build(d), nil }
	return i
}

// guarded is i with another way of using its lock.
func guarded(i catalog.Info, use func(*lock.Guarded) seckill.Strategy) catalog.Info {
	inner := i.Locker
	i.Locker = nil
	i.New = func(d catalog.Deps) (seckill.Strategy, error) {
		l, err := inner(d)
		return use(&lock.Guarded{Locker: l, Key: i.Key, Options: i.LockOptions(d.Settings),
			Outlives: d.Settings.LockLease, Ledger: d.Ledger, Observe: d.Observe}), err
	}
	return i
}
