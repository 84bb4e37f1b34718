package hotsku

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// acceptsEarly answers before the XADD, which it leaves for later: a process
// that dies then has promised an order that is never written.
func (s *redisStream) acceptsEarly(ctx context.Context, p seckill.Purchase) (state string, run int64, err error) {
	id, err := s.store.Identity(ctx)
	if err != nil {
		return "", 0, err
	}
	return stateOf(streamTake.Run(ctx, s.redis, keysOf(p.SKU), p.Quantity, p.User, p.RequestID, id))
}

// Processes that accept and write die, and replies are lost, in every order: what
// was accepted comes to an order, and the look-up says so. The search finds the
// mutants that lose it.
func TestTheExplorerFindsLostPromises(t *testing.T) {
	mutant := func(mutate func(*redisStream)) catalog.Info {
		info := RedisStream
		info.New = func(d catalog.Deps) (seckill.Strategy, error) {
			s := newRedisStream(d)
			mutate(s)
			return s, nil
		}
		return info
	}
	early := mutant(func(s *redisStream) { s.accept = s.acceptsEarly })
	acks := mutant(func(s *redisStream) {
		options := s.redis.(*redis.Client).Options()
		client, own := redis.NewClient(options), redis.NewClient(options)
		t.Cleanup(func() { _ = errors.Join(client.Close(), own.Close()) })
		client.AddHook(tap.RedisHook{})
		client.AddHook(&meddler{on: own, meddles: acksEarly})
		s.redis = client
	})
	lost, schedules := []explore.Fault{explore.Dies, explore.ReplyLost, explore.CommandLost}, 40 // the mutants are found within 13
	if labtest.Verify {
		schedules = 200
	}
	for _, c := range []struct {
		what   string
		info   catalog.Info
		faults []explore.Fault
		rules  []string // that are broken
	}{
		{"redis-stream", RedisStream, nil, nil},
		{"redis-stream, one fault", RedisStream, lost, nil},
		{"it answers before the XADD", early, nil, []string{ledger.RuleLostRequest, explore.RuleUntold}},
		{"it acknowledges before the COMMIT", acks, lost, []string{ledger.RuleLostRequest, explore.RuleUntold}},
	} {
		scenario := &explore.Scenario{Name: c.what, Stock: 6, Next: true, Faults: c.faults, MaxFaults: min(1, len(c.faults)), Buyers: []explore.Buyer{
			{Name: "A", Quantity: 2, Does: explore.Accepts, Again: 1}, {Name: "B", Process: 1, Quantity: 1, Does: explore.Buys}}}
		w, err := explore.Open(t.Context(), c.info, labtest.Config(t, c.info.Uses()...), explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := w.Search(t.Context(), scenario, explore.Limits{Preemptions: 1, Schedules: schedules,
			Stop: func(rule string) bool { return rule == ledger.RuleLostRequest || rule == explore.RuleUntold }})
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		var broken []string
		if r.First != nil {
			for _, p := range r.First.Problems {
				if slices.Contains(c.rules, p.Rule) || c.rules == nil {
					broken = append(broken, p.Rule)
				}
			}
		}
		if !slices.Equal(broken, c.rules) || r.Schedules == 0 {
			t.Errorf("%s: %v is broken (%+v), want %v", c.what, broken, r, c.rules)
		}
		t.Logf("%s: %d schedules", c.what, r.Schedules)
	}
}
