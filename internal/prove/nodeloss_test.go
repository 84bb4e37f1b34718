package prove_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/prove"
	"seckill/strategies"
	"seckill/strategies/redislock"
)

// losing has what the strategies of these tests need; ensembles come by
// themselves.
func losing(t *testing.T, needs ...backend.Capability) func(context.Context) (prove.Servers, error) {
	l := labtest.Start(t, append(needs, backend.SQL)...)
	return func(context.Context) (prove.Servers, error) { return servers{l}, nil }
}

// loseNodes asks the question of each and keeps the stories.
func loseNodes(
	t *testing.T, on func(context.Context) (prove.Servers, error), infos ...catalog.Info,
) (map[string]prove.Cell, map[string]explore.Example) {
	t.Helper()
	var mu sync.Mutex
	examples := map[string]explore.Example{}
	m, err := prove.Run(t.Context(), prove.Options{Infos: infos, Servers: on, Workers: 1,
		Schedules: 20, Budget: budget, Questions: []string{prove.NodeLossQuestion},
		Example: func(e explore.Example) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			examples[e.Strategy] = e
			return e.Strategy + ".json", nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]prove.Cell{}
	for _, r := range m.Rows {
		cells[r.Strategy] = r.Cells[prove.NodeLossQuestion]
		t.Logf("%s: %s", r.Strategy, r.Cells[prove.NodeLossQuestion].Summary())
	}
	return cells, examples
}

// A lock on one Redis is lost with its primary. Two workers share the pair.
func TestFailoverLosesTheLock(t *testing.T) {
	on := losing(t, backend.Redis)
	cells, examples := loseNodes(t, on, redislock.Redsync, redislock.RedisLua)
	for _, name := range []string{"redsync", "redis-lua"} {
		c, e := cells[name], examples[name]
		if c.Answer != prove.Breaks || c.Rule != ledger.RuleOversold || c.Example == "" {
			t.Errorf("%s: %+v, want that it breaks by %s, with a story", name, c, ledger.RuleOversold)
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
	isToldAgain(t, examples["redsync"], on)
}

// keyOf is what Redis kept for the lock after a step.
func keyOf(s explore.Step) string {
	for _, v := range s.Values {
		if v.Name == "seckill:lock:stock:1" {
			return v.Value
		}
	}
	return ""
}

// isToldAgain: a story is a file like any counterexample, and reads as one. The explorer
// does not replay it.
func isToldAgain(t *testing.T, told explore.Example, on func(context.Context) (prove.Servers, error)) {
	var file, table bytes.Buffer
	if err := told.Write(&file); err != nil {
		t.Fatal(err)
	}
	read, err := explore.ReadExample(&file)
	if err != nil {
		t.Fatalf("the story cannot be read: %v", err)
	}
	if err := read.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a node is lost: the primary", "buyer A", "buyer next", "A was told: sold 2, 1 left", "oversold"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table does not say %q:\n%s", want, table.String())
		}
	}
	s, err := on(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w, err := explore.Open(t.Context(), redislock.Redsync, s.Config().Only(redislock.Redsync.Uses()...), explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Replay(t.Context(), read); err == nil {
		t.Error("the explorer claims to replay the loss of a node")
	}
	if _, err := prove.LoseNode(t.Context(), named(t, "version"), s, read); err == nil {
		t.Error("version lost a node that it has not got")
	}
}

// A majority keeps the lock; and the row has the last word where it is asked.
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
		infos = append(infos, named(t, name))
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

func named(t *testing.T, name string) catalog.Info {
	t.Helper()
	for _, i := range strategies.All() {
		if i.Name == name {
			return i
		}
	}
	t.Fatalf("there is no strategy %q", name)
	return catalog.Info{}
}
