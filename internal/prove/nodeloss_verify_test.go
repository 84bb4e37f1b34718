//go:build verify

package prove_test

import (
	"context"
	"slices"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/prove"
	"seckill/strategies/zklock"
)

// Two of three servers keep the lock, whichever is lost.
func TestOneOfThreeIsLost(t *testing.T) {
	holdsWithout(t, losing(t, backend.ZooKeeper), map[string][]string{
		"zk": {"the leader of three is lost", "a follower of three is lost"},
	})
}

// leaky is a lock that is free again as soon as it is taken.
type leaky struct{ lock.Locker }

func (l leaky) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, key, o)
	if err == nil {
		err = lease.Release(ctx)
	}
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(context.Context) error { return nil }), nil
}

// What holds in the test above could have come out otherwise.
func TestLeakySeenOnThree(t *testing.T) {
	info := zklock.ZK
	info.Locker = func(d catalog.Deps) (lock.Locker, error) {
		inner, err := zklock.ZK.Locker(d)
		return leaky{inner}, err
	}
	on, err := losing(t, backend.ZooKeeper)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e, err := prove.LoseNode(t.Context(), info, on)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range []string{ledger.RuleOversold, explore.RuleOverlap} {
		if !slices.ContainsFunc(e.Problems, func(p explore.Problem) bool { return p.Rule == rule }) {
			t.Errorf("a lock that holds nothing breaks %+v, want %s among them", e.Problems, rule)
		}
	}
}
