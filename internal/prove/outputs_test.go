package prove_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
	"seckill/strategies/redislock"
	"seckill/strategies/sqlrow"
)

// byHand returns a matrix with each kind of answer.
func byHand() *prove.Matrix {
	questions := []prove.Question{{ID: "oversell", Title: "no oversell", Choosing: true,
		Asks: "Is ever more sold than there was?"},
		{ID: "dead-holder", Title: "dead holder", Choosing: true}, {ID: "waits", Title: "how it waits", Choosing: true}}
	return &prove.Matrix{Format: 3, Questions: questions, Seed: 7, Schedules: 80, Took: "12m0s",
		Backends: []backend.Status{{Name: "mysql", OK: true, Version: "MariaDB 11"},
			{Name: "redlock", OK: true, Version: "Redis 7"}, {Name: "etcd", Error: "not found", Version: ""}},
		Rows: []prove.Row{
			{Strategy: "naive", Title: "Read, <b>compute</b>, write", Cells: map[string]prove.Cell{
				"oversell": {Answer: prove.Breaks, Text: "3 units sold out of 2", Rule: "oversold",
					Bounds:  explore.Bounds{Schedules: 9, Preemptions: new(1)},
					Example: "counterexamples/naive.oversell.json",
					Also: []prove.Finding{{Rule: "negative_stock", Text: "the stock is -1",
						Example: "counterexamples/naive.oversell.negative_stock.json"}}},
				"dead-holder": {Answer: prove.NotAsked, Text: "it breaks with everybody alive"},
				"waits":       {Answer: prove.Measured, Text: "polls; 30 commands in 300 ms"},
			}},
			{Strategy: "redis-lua", Cells: map[string]prove.Cell{
				"oversell": {Answer: prove.Holds, Bounds: explore.Bounds{Schedules: 24, Exhausted: true}},
				"dead-holder": {Answer: prove.Holds, Wait: 10,
					Bounds: explore.Bounds{Schedules: 90, Random: 10, Preemptions: new(2), NotRun: 5}},
				"waits": {Answer: prove.Failed, Text: "the server <died>"},
			}},
			{Strategy: "zk", Cells: map[string]prove.Cell{}},
		}}
}

func writeCommands(t *testing.T, write func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	labtest.Must(t, write(&b))
	return b.String()
}

func TestText(t *testing.T) {
	got := writeCommands(t, func(b *bytes.Buffer) error { return byHand().WriteText(b) })
	const want = `            ┌ no oversell
            │  ┌ dead holder
            │  │  ┌ how it waits
naive       ✗  –  • 
redis-lua   ✓ (✓) ! 
zk          ?  ?  ? 

✓ holds in all schedules   (✓) holds in the schedules that were tried   ✗ breaks   • measured   – does not apply   ! failed   ? not computed

✗ naive · no oversell: 3 units sold out of 2 (found in 9 schedules)  counterexamples/naive.oversell.json
    also: the stock is -1  counterexamples/naive.oversell.negative_stock.json
• naive · how it waits: polls; 30 commands in 300 ms
! redis-lua · how it waits: the server <died>

Seed 7, 80 schedules a search, 12m0s in all, on MariaDB 11, Redis 7
`
	if got != want {
		t.Errorf("the table is\n%s\nwant\n%s", got, want)
	}
}

func TestSummaries(t *testing.T) {
	for want, c := range map[string]prove.Cell{
		"holds (all 24 schedules)": {Answer: prove.Holds, Bounds: explore.Bounds{Schedules: 24, Exhausted: true}},
		"holds (80 schedules, all with at most 2 preemptions, and 10 at random; 5 turns not taken)": {Answer: prove.Holds,
			Bounds: explore.Bounds{Schedules: 90, Random: 10, Preemptions: new(2), NotRun: 5}},
		"holds (70 schedules; 31 sequences of conflicting commands; 5 turns not taken)": {Answer: prove.Holds,
			Bounds: explore.Bounds{Schedules: 70, Orders: 31, NotRun: 5}},
		"breaks: sold twice (found in 9 schedules)": {Answer: prove.Breaks,
			Text: "sold twice", Bounds: explore.Bounds{Schedules: 9, Preemptions: new(1), NotRun: 5}},
		"does not apply: no lock": {Answer: prove.NotAsked,
			Text: "no lock"},
		"not computed": {},
	} {
		labtest.Same(t, c.Summary(), want, "%+v", c)
	}
}

func TestJSON(t *testing.T) {
	text := writeCommands(t, func(b *bytes.Buffer) error { return json.NewEncoder(b).Encode(byHand()) })
	m := labtest.Value(prove.ReadMatrix(strings.NewReader(text))).Must(t)
	if m.Took = "12m0s"; !reflect.DeepEqual(m, byHand()) { // JSON does not contain Took
		t.Errorf("read back it is\n%+v\nwant\n%+v", m, byHand())
	}
	for name, bad := range map[string]string{"empty": "", "cut off": text[:len(text)/2], "no JSON": "| strategy |",
		"another format": strings.Replace(text, `"format":3`, `"format":9`, 1),
		"unknown fields": `{"format":3,"colour":"red"}`} {
		if m, err := prove.ReadMatrix(strings.NewReader(bad)); err == nil || m != nil ||
			!strings.Contains(err.Error(), "matrix") {
			t.Errorf("%s: %v, %v; want an error", name, m, err)
		}
	}
}

func listed(all []prove.Difference) string {
	say := func(d prove.Difference) string { return d.Question.ID + " " + d.Expected }
	return strings.Join(labtest.Map(all, say), ", ")
}

// An answer that is not the published one is a difference, whether it is better or worse and
// whether or not the strategy declares an answer.
func TestDifferences(t *testing.T) {
	matrix := func(bound int, answers ...prove.Answer) *prove.Matrix {
		m := &prove.Matrix{Schedules: bound, Backends: []backend.Status{{Name: backend.NameMySQL,
			Version: "MariaDB 11"}}}
		cells := map[string]prove.Cell{}
		for i, a := range answers {
			id := string(rune('a' + i))
			m.Questions = append(m.Questions, prove.Question{ID: id})
			cells[id] = prove.Cell{Answer: a, Bounds: explore.Bounds{Schedules: 9}}
			if a == prove.Measured {
				cells[id] = prove.Cell{Answer: a}
			}
			if a == prove.Breaks {
				cells[id] = prove.Cell{Answer: a, Rule: "oversold", Also: []prove.Finding{{Rule: "blocked"}}}
			}
		}
		m.Rows = []prove.Row{{Strategy: "x", Cells: cells}}
		return m
	}
	breaking := func(bound int, rule string, also ...prove.Finding) *prove.Matrix {
		m := matrix(bound, prove.Holds, prove.Breaks)
		m.Rows[0].Cells["b"] = prove.Cell{Answer: prove.Breaks, Rule: rule, Also: also}
		return m
	}
	published := matrix(60, prove.Holds, prove.Breaks, prove.Holds, prove.NotAsked, prove.Missing, prove.Breaks,
		prove.Measured)
	for name, c := range map[string]struct {
		now  *prove.Matrix
		want string
	}{
		"the same": {published, ""},
		"either way": {matrix(60, prove.Breaks, prove.Holds, prove.NotAsked, prove.Breaks, prove.Breaks, prove.Breaks),
			"a holds, b breaks oversold, blocked, c holds, d n/a"},
		"a lock that broke where it was measured": {matrix(60, prove.Holds, prove.Breaks, prove.Holds, prove.NotAsked,
			prove.Missing, prove.Breaks, prove.Breaks), "g measured"},
		"a lock that is not one any more": {matrix(60, prove.Holds, prove.Breaks, prove.Holds, prove.NotAsked,
			prove.Missing, prove.Breaks, prove.NotAsked), "g measured"},
		"a smaller bound": {matrix(5, prove.Breaks, prove.Holds, prove.Holds, prove.NotAsked, prove.Holds,
			prove.Holds), "a holds"},
		"the same rules, another first": {breaking(60, "blocked", prove.Finding{Rule: "oversold"}), ""},
		"another rule, too": {breaking(60, "oversold", prove.Finding{Rule: "blocked"}, prove.Finding{Rule: "stolen"}),
			"b breaks oversold, blocked"},
		"another rule instead": {breaking(60, "oversold", prove.Finding{Rule: "stolen"}),
			"b breaks oversold, blocked"},
		"a rule less":                    {breaking(60, "oversold"), "b breaks oversold, blocked"},
		"a rule less, fewer tried":       {breaking(59, "oversold"), ""},
		"a new rule, though fewer tried": {breaking(5, "stolen"), "b breaks oversold, blocked"},
		"fewer questions":                {matrix(60, prove.Holds, prove.Breaks), ""},
		"a question not answered":        {matrix(60, prove.Missing, prove.Breaks), ""},
		"a search that has failed":       {matrix(60, prove.Failed, prove.Breaks), "a can be asked"},
		"a lock that queues no longer": {&prove.Matrix{Questions: []prove.Question{{ID: "g"}},
			Backends: published.Backends, Rows: []prove.Row{
				{Strategy: "x", Cells: map[string]prove.Cell{"g": {Answer: prove.Measured, Text: "luck decides"}}}}},
			"g measured"},
	} {
		labtest.Same(t, listed(c.now.Differences(published, nil)), c.want, "%s: differences", name)
	}
}

// Computed cells replace the old ones, other cells stay, and the rows are in the order of the current strategies.
func TestMergeKeepsWhatWasNotComputed(t *testing.T) {
	old := byHand()
	now := &prove.Matrix{
		Backends: []backend.Status{{Name: "mysql", OK: true, Version: "MariaDB 11", Address: "another port"},
			{Name: "redlock", OK: true, Version: "Redis 8"}, {Name: "zookeeper", OK: true, Version: "ZooKeeper 3.8"}},
		Rows: []prove.Row{
			{Strategy: "redis-lua", Cells: map[string]prove.Cell{"waits": {Answer: prove.Measured, Text: "polls"},
				"oversell": {}}},
			{Strategy: "conditional", Cells: map[string]prove.Cell{"oversell": {Answer: prove.Holds}}},
		}}
	m := prove.Merge(prove.Options{Infos: []catalog.Info{sqlrow.Naive, sqlrow.Conditional, redislock.RedisLua},
		Seed: 7, Schedules: 80}, old, now)
	names := labtest.Map(m.Rows, func(r prove.Row) string { return r.Strategy })
	labtest.Same(t, names, []string{"naive", "conditional", "redis-lua"}, "the rows")
	for _, c := range []struct {
		what      string
		got, want prove.Cell
	}{
		{"a row that was not asked", m.Rows[0].Cells["oversell"], old.Rows[0].Cells["oversell"]},
		{"a new row", m.Rows[1].Cells["oversell"], prove.Cell{Answer: prove.Holds}},
		{"a new cell of an old row", m.Rows[2].Cells["waits"], prove.Cell{Answer: prove.Measured, Text: "polls"}},
		{"a cell that was not asked", m.Rows[2].Cells["dead-holder"], old.Rows[1].Cells["dead-holder"]},
		{"a cell that was asked and not answered", m.Rows[2].Cells["oversell"], old.Rows[1].Cells["oversell"]},
	} {
		labtest.Same(t, c.got, c.want, "%s", c.what)
	}
	if len(m.Questions) != len(prove.Questions()) || m.Seed != 7 || m.Schedules != 80 {
		t.Errorf("%d questions, seed %d, %d schedules", len(m.Questions), m.Seed, m.Schedules)
	}
	want := []backend.Status{old.Backends[0], now.Backends[1], old.Backends[2], now.Backends[2]}
	labtest.Same(t, m.Backends, want, "the servers, each newest version once")
}
