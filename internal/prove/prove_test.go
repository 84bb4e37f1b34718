package prove_test

import (
	"bytes"
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/game"
	"seckill/internal/judge"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
	"seckill/strategies"
	"seckill/strategies/counter"
	"seckill/strategies/redislock"
	"seckill/strategies/sqlrow"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// shared returns the test program's servers. One worker at a time may explore on them.
func shared(t *testing.T) startFunc {
	return startServers(prove.Servers{Lab: labtest.Start(t, backend.SQL, backend.Redis)})
}

type startFunc = func(context.Context) (prove.Servers, func(), error)

func startServers(s prove.Servers) startFunc {
	return func(context.Context) (prove.Servers, func(), error) { return s, func() {}, nil }
}

// bound returns the maximum number of schedules of a search. With the build tag verify this is n.
// Otherwise it is a fourth of n, which is enough for these tests.
func bound(n int) int {
	if labtest.Verify {
		return n
	}
	return n / 4
}

func compute(t *testing.T, o prove.Options) *prove.Matrix {
	t.Helper()
	o.Servers, o.Workers, o.Schedules, o.Seed = shared(t), 1, bound(32), 1
	return labtest.Value(prove.Run(t.Context(), o)).Must(t)
}

// The answers of a small matrix are those that the strategies declare, and each "breaks" that was explored has a file.
func TestMatrixIsAsTheyShouldBe(t *testing.T) {
	kept, told := map[string]game.Example{}, 0
	infos := []catalog.Info{sqlrow.Naive, redislock.RedisToken, redislock.RedisLua}
	m := compute(t, prove.Options{
		Infos:     infos,
		Questions: []string{"oversell", "lost-update", "processes", "owner", "other-skus"},
		Example: func(strategy, question, rule string, o *explore.Schedule) (string, error) {
			name := strategy + "." + question + rule
			kept[name] = game.NewExample(strategy, question, o)
			return name, nil
		},
		Progress: func(done, total int, strategy string, q prove.Question, c prove.Cell) {
			if told++; done != told || total != 15 || c.Answer == prove.Missing {
				t.Errorf("progress says %d of %d, %s, %s: %+v; want %d of 15", done, total, strategy, q.ID, c, told)
			}
		},
	})
	const yes, no, none = prove.Holds, prove.Breaks, prove.NotAsked
	for _, want := range []struct {
		strategy string
		answers  []prove.Answer // in the order of the columns
	}{ //                oversell, lost update, processes, owner, other SKUs
		{"naive", []prove.Answer{no, no, no, none, yes}},
		{"redis-token", []prove.Answer{yes, yes, yes, no, yes}},
		{"redis-lua", []prove.Answer{yes, yes, yes, yes, yes}},
	} {
		i := slices.IndexFunc(m.Rows, func(r prove.Row) bool { return r.Strategy == want.strategy })
		for n, q := range m.Questions {
			c := m.Rows[i].Cells[q.ID]
			labtest.Same(t, c.Answer, want.answers[n], "%s, %s: %s", want.strategy, q.ID, c.Summary())
			switch e := kept[c.Example]; {
			case c.Answer == prove.NotAsked && c.Text == "":
				t.Errorf("%s, %s does not apply, without a reason", want.strategy, q.ID)
			case c.Answer == prove.NotAsked:
			case c.Schedules == 0:
				t.Errorf("%s, %s: %+v, want a number of schedules", want.strategy, q.ID, c)
			case c.Answer == prove.Breaks && (e.Strategy != want.strategy || e.Question != q.ID ||
				!slices.ContainsFunc(e.Problems, func(p explore.Problem) bool { return p.Rule == c.Rule })):
				t.Errorf("%s, %s breaks %s, and its file says %+v", want.strategy, q.ID, c.Rule, e)
			}
		}
	}
	labtest.Same(t, m.Differences(&prove.Matrix{}, infos), nil, "differences")
	if len(m.Backends) == 0 || m.Seed != 1 || m.Schedules != bound(32) {
		t.Errorf("the matrix does not say what it was made with: %+v, seed %d, %d schedules", m.Backends, m.Seed,
			m.Schedules)
	}
	labtest.Same(t, kept["naive.oversell"].Problems[0].Rule, judge.RuleOversold, "the rule in the file of naive")
	sameAgain(t, m, kept)
}

// sameAgain computes the matrix again with the same seed. The cells and files must be the same,
// although ids, times and tokens differ.
func sameAgain(t *testing.T, first *prove.Matrix, kept map[string]game.Example) {
	files := map[string]game.Example{}
	m := compute(t, prove.Options{Infos: []catalog.Info{redislock.RedisToken},
		Questions: []string{"processes", "owner"},
		Example: func(strategy, question, rule string, o *explore.Schedule) (string, error) {
			name := strategy + "." + question + rule
			files[name] = game.NewExample(strategy, question, o)
			return name, nil
		}})
	for _, q := range m.Questions {
		was := first.Rows[slices.IndexFunc(first.Rows,
			func(r prove.Row) bool { return r.Strategy == "redis-token" })].Cells[q.ID]
		labtest.Same(t, m.Rows[0].Cells[q.ID], was, "%s, the second time", q.ID)
	}
	text := func(e game.Example) string {
		return writeCommands(t, func(b *bytes.Buffer) error { return e.Write(b) })
	}
	if is, was := text(files["redis-token.owner"]), text(kept["redis-token.owner"]); is != was || len(files) != 1 {
		t.Errorf("%d files, and the second is\n%s\nwant\n%s", len(files), is, was)
	}
}

// If a strategy's backend is missing, each cell of the strategy says so.
func TestMissingBackend(t *testing.T) {
	l := labtest.NewLab(t, lab.Single, backend.NameMySQL)
	m := labtest.Value(prove.Run(t.Context(), prove.Options{Infos: []catalog.Info{redislock.RedisLua},
		Questions: []string{"oversell", "owner"}, Workers: 1, Servers: startServers(prove.Servers{Lab: l})})).Must(t)
	labtest.Same(t, len(m.Rows[0].Cells), 2, "the number of cells")
	for id, c := range m.Rows[0].Cells {
		if c.Answer != prove.NotAsked || c.Text != "there is no Redis" {
			t.Errorf("%s: %+v, want that there is no Redis", id, c)
		}
	}
}

// A caller whose context ends gets the cells so far.
func TestProofIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m, err := prove.Run(ctx, prove.Options{Infos: []catalog.Info{sqlrow.Conditional},
		Questions: []string{"oversell", "processes"}, Servers: shared(t), Workers: 1, Schedules: 5,
		Progress: func(int, int, string, prove.Question, prove.Cell) { cancel() }})
	if err == nil || m == nil {
		t.Fatalf("matrix %v, error %v; want both", m, err)
	}
	cells := m.Rows[0].Cells
	if cells["oversell"].Answer != prove.Holds || cells["processes"].Answer != prove.Missing ||
		cells["processes"].Sign() != "?" {
		t.Errorf("%+v, want the first, and the second not computed", cells)
	}
}

// budget is a short time limit for searches that a test is not about.
const budget = 300 * time.Millisecond

// measure asks the questions on real servers of every kind.
func measure(t *testing.T, questions []string, names ...string) map[string]map[string]prove.Cell {
	t.Helper()
	l := labtest.Start(t, backend.SQL, backend.Redis, backend.ZooKeeper, backend.Etcd)
	m, err := prove.Run(t.Context(), prove.Options{Infos: labtest.Map(names, strategies.Named),
		Questions: questions, Workers: 1, Schedules: bound(20),
		Budget: time.Minute, // the number of schedules is the limit, so that a busy machine finds the same violations
		Seed:   1, Servers: startServers(prove.Servers{Lab: l})})
	labtest.Must(t, err)
	cells := map[string]map[string]prove.Cell{}
	for _, r := range m.Rows {
		cells[r.Strategy] = r.Cells
	}
	return cells
}

// How a buyer waits, in which order buyers are served, and what a hanging holder does to the next buyer are properties
// of the lock, not of the stock row that every purchase writes. A strategy without a lock has no answer.
func TestLocksAreMeasuredAtTheLock(t *testing.T) {
	names := []string{"conditional", "mutex-per-sku", "get-lock", "redis-lua"} // one for each answer
	if labtest.Verify {
		names = append(names, "version", "redis-counter-mysql", "for-update", "for-update-nowait",
			"for-update-autocommit", "mutex-per-request", "snapshot-first", "lock-insert", "lock-table-central",
			"redis-setex", "redis-watchdog", "redis-lock-mysql", "zk", "etcd")
	}
	wants, short := published(t), func(c prove.Cell) string { return string(c.Answer) + ": " + strings.SplitN(c.Text, ";", 2)[0] }
	questions := []string{"hung-holder", "waits", "order"}
	for name, cells := range measure(t, questions, names...) {
		for _, q := range questions {
			if got, want := short(cells[q]), short(wants[name][q]); got != want || want == ": " {
				t.Errorf("%s, %s: %s, and the matrix in the program says %s", name, q, got, want)
			}
		}
	}
}

// The time after a death starts at the death. It is the rest of the lease plus the time until the
// server notices. (With etcd, the holder renews its lease after each third of the lease.) The time
// does not include a wait until the dead buyer's calls fail.
func TestTimeAfterDeathBeginsAtTheDeath(t *testing.T) {
	const lease, bound = 2.0, 2.0 // seconds; etcd looks for ended leases twice a second
	leases := map[string]float64{"etcd": lease * 2 / 3 * 0.95}
	if labtest.Verify {
		leases["redis-lua"] = lease * 0.9
	}
	cells := measure(t, []string{"dead-holder"}, append(slices.Sorted(maps.Keys(leases)), "get-lock")...)
	for name, least := range leases {
		c := cells[name]["dead-holder"]
		if c.Answer != prove.Holds || c.Wait < least || c.Wait > lease+bound {
			t.Errorf("%s: %s after %.2f s, want at least %.2f s and at most %.2f s", name, c.Summary(), c.Wait, least,
				lease+bound)
		}
	}
	if c := cells["get-lock"]["dead-holder"]; c.Answer != prove.Holds || c.Wait != 0 {
		t.Errorf("get-lock: %s after %.2f s, want at once: its lock ends with its connection", c.Summary(), c.Wait)
	}
}

// losing starts the servers that the strategies of these tests need. It starts ensembles at their first use.
func losing(t *testing.T, needs ...backend.Capability) prove.Servers {
	return prove.Servers{Lab: labtest.Start(t, append(needs, backend.SQL)...),
		Losing: labtest.NewLab(t, lab.Losable, []string{}...)}
}

// loseNodes asks the question about each strategy, and returns the cells and the counterexamples.
func loseNodes(
	t *testing.T, on prove.Servers, infos ...catalog.Info,
) (map[string]prove.Cell, map[string]*explore.Schedule) {
	t.Helper()
	examples := map[string]*explore.Schedule{}
	m := labtest.Value(prove.Run(t.Context(), prove.Options{Infos: infos, Servers: startServers(on), Workers: 1,
		Schedules: 20, Budget: budget, Questions: []string{prove.NodeLossQuestion},
		Example: func(strategy, _, _ string, o *explore.Schedule) (string, error) {
			examples[strategy] = o
			return strategy + ".json", nil
		}})).Must(t)
	cells := map[string]prove.Cell{}
	for _, r := range m.Rows {
		cells[r.Strategy] = r.Cells[prove.NodeLossQuestion]
		t.Logf("%s: %s", r.Strategy, r.Cells[prove.NodeLossQuestion].Summary())
	}
	return cells, examples
}

// When the primary of a single Redis is lost, its locks are lost and a counter loses its last
// changes. If the stock row decides, by a token or a condition, nothing is sold twice.
func TestFailoverLosesTheLock(t *testing.T) {
	on := losing(t, backend.Redis)
	cells, examples := loseNodes(t, on, redislock.Redsync, redislock.RedisLua,
		redislock.RedisFenced, counter.RedisCounter, counter.RedisCounterMySQL)
	for name, want := range map[string][]string{"redis-fenced": {explore.RuleOverlap},
		"redis-counter": {judge.RuleOversold, judge.RuleLostUpdate}} {
		broken := labtest.Map(examples[name].Problems, func(p explore.Problem) string { return p.Rule })
		if cells[name].Answer != prove.Breaks || !slices.Equal(broken, want) {
			t.Errorf("%s: %+v breaks %q, want %q", name, cells[name], broken, want)
		}
	}
	labtest.Same(t, cells["redis-counter-mysql"].Answer, prove.Holds, "redis-counter-mysql, which the row corrects,")
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
			t.Errorf("%s: the lock's key is %q before the loss and %q after it, want a token and none", name,
				before, after)
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

// isReplayed checks that a counterexample with a lost node can be replayed on several servers.
func isReplayed(t *testing.T, o *explore.Schedule, s prove.Servers) {
	now := labtest.Value(prove.LoseNode(t.Context(), redislock.Redsync, s, o.Choices())).Must(t)
	if !slices.Equal(now.Choices(), o.Choices()) || !slices.Equal(now.Problems, o.Problems) {
		t.Errorf("replayed, %v breaks %v; want that %v breaks %v", now.Choices(), now.Problems, o.Choices(), o.Problems)
	}
	labtest.Value(prove.LoseNode(t.Context(), redislock.Redsync, s, slices.Repeat(o.Choices()[:1], 18))).Check(t,
		explore.ErrDiverged, "a schedule that does not fit")
	labtest.Value(prove.LoseNode(t.Context(), strategies.Named("version"), s, o.Choices())).Fails(t, "",
		"the loss of a node that version has not got")
}

// If a majority of the servers keeps the lock, one server may be lost. If the stock row decides,
// even the loss of the lock does no harm.
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
		labtest.Same(t, cells[name].Answer, prove.Holds, "%s: %s", name, cells[name].Summary())
		for _, part := range parts {
			labtest.Contains(t, cells[name].Text, part, "the text of %s", name)
		}
	}
}
