package prove_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/judge"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
	"seckill/strategies"
	"seckill/strategies/counter"
	"seckill/strategies/redislock"
)

// losers are the test program's servers, and several servers of each backend, one of which can be
// lost.
type losers struct {
	servers
	losing *lab.Lab
}

func (l losers) Ensemble(ctx context.Context, name string) (*lab.Ensemble, error) {
	return l.losing.Ensemble(ctx, name)
}

// losing starts the servers that the strategies of these tests need; ensembles are started on
// demand.
func losing(t *testing.T, needs ...backend.Capability) func(context.Context) (prove.Servers, error) {
	l := losers{servers{labtest.Start(t, append(needs, backend.SQL)...)}, labtest.NewLab(t, lab.Losable, []string{}...)}
	return func(context.Context) (prove.Servers, error) { return l, nil }
}

// loseNodes asks the question about each strategy, and returns the cells and the counterexamples.
func loseNodes(
	t *testing.T, on func(context.Context) (prove.Servers, error), infos ...catalog.Info,
) (map[string]prove.Cell, map[string]*explore.Schedule) {
	t.Helper()
	examples := map[string]*explore.Schedule{}
	m, err := prove.Run(t.Context(), prove.Options{Infos: infos, Servers: on, Workers: 1,
		Schedules: 20, Budget: budget, Questions: []string{prove.NodeLossQuestion},
		Example: func(strategy, _, _ string, o *explore.Schedule) (string, error) {
			examples[strategy] = o
			return strategy + ".json", nil
		}})
	labtest.Must(t, err)
	cells := map[string]prove.Cell{}
	for _, r := range m.Rows {
		cells[r.Strategy] = r.Cells[prove.NodeLossQuestion]
		t.Logf("%s: %s", r.Strategy, r.Cells[prove.NodeLossQuestion].Summary())
	}
	return cells, examples
}

// A lock on one Redis is lost with its primary, and a counter loses its last changes. If the row
// decides (by a token or a condition), nothing is sold twice.
func TestFailoverLosesTheLock(t *testing.T) {
	on := losing(t, backend.Redis)
	cells, examples := loseNodes(t, on, redislock.Redsync, redislock.RedisLua,
		redislock.RedisFenced, counter.RedisCounter, counter.RedisCounterMySQL)
	for name, want := range map[string][]string{"redis-fenced": {explore.RuleOverlap},
		"redis-counter": {judge.RuleOversold, judge.RuleLostUpdate}} {
		var broken []string
		for _, p := range examples[name].Problems {
			broken = append(broken, p.Rule)
		}
		if cells[name].Answer != prove.Breaks || !slices.Equal(broken, want) {
			t.Errorf("%s: %+v breaks %q, want %q", name, cells[name], broken, want)
		}
	}
	if c := cells["redis-counter-mysql"]; c.Answer != prove.Holds {
		t.Errorf("redis-counter-mysql: %+v, want that a refusal by the row corrects the number", c)
	}
	for _, name := range []string{"redsync", "redis-lua"} {
		c, e := cells[name], examples[name]
		if c.Answer != prove.Breaks || c.Rule != judge.RuleOversold || c.Example == "" {
			t.Errorf("%s: %+v, want that it breaks by %s, with a counterexample", name, c, judge.RuleOversold)
			continue
		}
		if !slices.ContainsFunc(e.Problems, func(p explore.Problem) bool { return p.Rule == explore.RuleOverlap }) {
			t.Errorf("%s: problems %+v, want two holders among them", name, e.Problems)
		}
		lost := slices.IndexFunc(e.Steps, func(s explore.Step) bool { return s.Fault == explore.NodeLost })
		if lost < 1 {
			t.Fatalf("%s: no node is lost in %+v", name, e.Steps)
		}
		before, after := keyOf(e.Steps[lost-1]), keyOf(e.Steps[lost])
		if before == "" || before == "—" || after != "—" {
			t.Errorf("%s: the lock's key is %q before the loss and %q after it, want a token and none", name, before, after)
		}
	}
	isReplayed(t, examples["redsync"], on)
}

// keyOf returns the value of the lock's key in Redis after a step, or "".
func keyOf(s explore.Step) string {
	for _, v := range s.Values {
		if v.Name == "seckill:lock:stock:1" {
			return v.Value
		}
	}
	return ""
}

// isReplayed checks that the counterexample of a lost node can be replayed on several servers.
func isReplayed(t *testing.T, o *explore.Schedule, on func(context.Context) (prove.Servers, error)) {
	s, err := on(t.Context())
	labtest.Must(t, err)
	now, err := prove.LoseNode(t.Context(), redislock.Redsync, s, o.Choices())
	labtest.Must(t, err)
	if !slices.Equal(now.Choices(), o.Choices()) || !slices.Equal(now.Problems, o.Problems) {
		t.Errorf("replayed, %v breaks %v; want that %v breaks %v", now.Choices(), now.Problems, o.Choices(), o.Problems)
	}
	if _, err := prove.LoseNode(t.Context(), redislock.Redsync, s, slices.Repeat(o.Choices()[:1], 18)); !errors.Is(err, explore.ErrDiverged) {
		t.Errorf("a schedule that does not fit: %v", err)
	}
	if _, err := prove.LoseNode(t.Context(), strategies.Named("version"), s, o.Choices()); err == nil {
		t.Error("version lost a node that it has not got")
	}
}

// A majority keeps the lock. If the row decides, the loss of the lock does no harm.
func TestOneOfManyIsLost(t *testing.T) {
	needs := []backend.Capability{backend.Redis, backend.RedisQuorum}
	lost := map[string][]string{
		"redlock":          {"one of five is lost"},
		"redis-lock-mysql": {"the primary is lost"},
	}
	if labtest.Verify {
		needs = append(needs, backend.ZooKeeper)
		lost["zk"] = []string{"the leader of three is lost", "a follower of three is lost"}
	}
	var infos []catalog.Info
	for name := range lost {
		infos = append(infos, strategies.Named(name))
	}
	cells, _ := loseNodes(t, losing(t, needs...), infos...)
	for name, parts := range lost {
		if cells[name].Answer != prove.Holds {
			t.Errorf("%s: %+v, want that it holds", name, cells[name])
		}
		for _, part := range parts {
			if !strings.Contains(cells[name].Text, part) {
				t.Errorf("%s: %q does not say that %s", name, cells[name].Text, part)
			}
		}
	}
}
