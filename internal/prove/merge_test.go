package prove_test

import (
	"reflect"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/prove"
	"seckill/strategies/redislock"
	"seckill/strategies/sqlrow"
)

// What was computed replaces its cells, the rest stays, and both stand in the
// order of today's strategies.
func TestMergeKeepsWhatWasNotComputed(t *testing.T) {
	old := byHand()
	now := &prove.Matrix{Seed: 7, Schedules: 80, Took: "1m0s",
		Backends: []backend.Status{{Name: "mysql", OK: true, Version: "MariaDB 11", Address: "another port"},
			{Name: "redlock", OK: true, Version: "Redis 8"}, {Name: "zookeeper", OK: true, Version: "ZooKeeper 3.8"}},
		Rows: []prove.Row{
			{Strategy: "redis-lua", Cells: map[string]prove.Cell{"waits": {Answer: prove.Measured, Text: "polls"}, "oversell": {}}},
			{Strategy: "conditional", Cells: map[string]prove.Cell{"oversell": {Answer: prove.Holds}}},
		}}
	m := now.Merge(old, []catalog.Info{sqlrow.Naive, sqlrow.Conditional, redislock.RedisLua})
	var names []string
	for _, r := range m.Rows {
		names = append(names, r.Strategy)
	}
	if want := []string{"naive", "conditional", "redis-lua"}; !reflect.DeepEqual(names, want) {
		t.Fatalf("rows %v, want %v", names, want)
	}
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
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", c.what, c.got, c.want)
		}
	}
	if len(m.Questions) != len(prove.Questions()) || m.Took != "1m0s" || m.Seed != 7 || m.Schedules != 80 {
		t.Errorf("%d questions, took %s, seed %d, %d schedules", len(m.Questions), m.Took, m.Seed, m.Schedules)
	}
	want := []backend.Status{old.Backends[0], now.Backends[1], old.Backends[2], now.Backends[2]}
	if !reflect.DeepEqual(m.Backends, want) {
		t.Errorf("servers %+v, want another only where its version is another: %+v", m.Backends, want)
	}
}
