package hotsku

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

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

// promises has a process accept and die, and another write. told is what the
// judge hears.
func (s *streamed) promises(t *testing.T, users ...int64) (told []ledger.Told) {
	t.Helper()
	for i, user := range users {
		p := s.purchase(user, 1, "")
		sent := time.Duration(i+1) * time.Second
		if _, written, err := s.of[0].Accept(t.Context(), p); err != nil || written {
			t.Fatalf("user %d: %t, %v", user, written, err)
		}
		told = append(told, ledger.Told{RequestID: p.RequestID, User: user, Quantity: 1, Outcome: ledger.OutcomeAccepted,
			Sent: sent, Answered: sent + time.Millisecond})
	}
	return told
}

// What is known of a request, by its SKU and without.
func TestStreamKnowsWhatBecame(t *testing.T) {
	s := openStream(t, RedisStream, 5)
	became := func(sku, user int64) error {
		t.Helper()
		return s.of[1].Became(t.Context(), sku, user, s.purchase(user, 1, "").RequestID)
	}
	s.promises(t, 1)
	for _, sku := range []int64{s.sku, 0} {
		if err := became(sku, 1); !errors.Is(err, seckill.ErrPending) {
			t.Errorf("an open request of SKU %d became %v", sku, err)
		}
		if err := became(sku, 2); !errors.Is(err, seckill.ErrUnknownOrder) {
			t.Errorf("an unknown request of SKU %d became %v", sku, err)
		}
	}
	if err := became(s.sku+1000, 1); !errors.Is(err, seckill.ErrUnknownOrder) {
		t.Errorf("the request of another SKU became %v", err)
	}
	s.write(t, "UPDATE stock SET num = 0 WHERE id = ?")
	s.drain(t, 1)
	if err := became(0, 1); !errors.Is(err, seckill.ErrSoldOut) {
		t.Errorf("a refused request became %v", err)
	}
	s.begin(t, 5)
	if err := became(0, 1); !errors.Is(err, seckill.ErrUnknownOrder) {
		t.Errorf("after a reset the request became %v", err)
	}
	if _, _, err := s.of[0].Accept(t.Context(), s.purchase(1, 1, "")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.of[1].Accept(t.Context(), s.purchase(1, 2, "")); !errors.Is(err, seckill.ErrMismatch) {
		t.Errorf("another quantity by the same key: %v", err)
	}
}
