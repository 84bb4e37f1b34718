package figures

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/bench"
	"seckill/internal/measure"
	"seckill/loadtest/compare"
)

func measured() *Set {
	servers := []backend.Status{{Name: "mysql", Version: "MariaDB 10.11", Tier: backend.Private}, {Name: "redis", Version: "Redis 7.0"}}
	begun := time.Date(2026, 11, 11, 8, 0, 0, 0, time.UTC)
	sales := compare.Result{Command: "seckill compare", Begun: begun, Machine: measure.Machine{OS: "linux", CPUs: 2}, Servers: servers,
		Strategies: []*compare.Entry{
			{Strategy: "naive", Verdict: "oversold", Sales: measure.Spread{Median: 1451.26, Low: 1400, High: 1729},
				Ratios: map[string]measure.Spread{compare.BaselineTransaction: {Median: 0.61234}}},
			{Strategy: "redis-setnx", Verdict: "held"},
		}}
	sales.Settings.Concurrency = 64
	pass := bench.Pass{Locks: 9, Rate: 180.04, WaitP50: 30, WaitP99: 40, Fewest: 3, Most: 4}
	locks := bench.Report{Command: "seckill bench locks", Began: begun, HoldMS: 5, Machine: measure.Machine{OS: "linux", CPUs: 2},
		Locks: []*bench.Result{
			{Name: "zk", Scenes: []bench.Scene{{Contenders: 1, Commands: 3, Passes: []bench.Pass{pass}}, {Contenders: 8, Passes: []bench.Pass{pass}}}},
			{Name: "theirs", Foreign: true, Scenes: []bench.Scene{{Contenders: 8, Passes: []bench.Pass{pass}}}},
			{Name: "etcd", Scenes: []bench.Scene{{Contenders: 8, Error: "gone"}}},
		}}
	claims := bench.Claims{Report: &locks, Polls: []bench.SweepPoint{{Poll: 5}}}
	return &Set{OfSales(&sales), OfLocks(&locks), OfClaims(&claims)}
}

// What could not be measured is left out, and no figure pretends to more digits
// than it has.
func TestSet(t *testing.T) {
	var b bytes.Buffer
	if err := measured().Write(&b); err != nil {
		t.Fatal(err)
	}
	var s Set
	if err := json.Unmarshal(b.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	naive := s.Compare.Strategies["naive"]
	if naive.Rate != (Spread{1451, 1400, 1729}) || naive.Share[0] != 0.6123 || naive.Verdict != "oversold" || s.Compare.AtOnce != 64 {
		t.Errorf("%+v", naive)
	}
	if eight := s.Locks.Locks["zk"].Crowds[8]; eight.Rate[0] != 180 || eight.Fairness[0] != 0.75 || len(s.Locks.Locks) != 2 {
		t.Errorf("%+v of %v", eight, s.Locks.Locks)
	}
	if len(s.Claims.Polls) != 1 || s.Claims.Polls[0].MS != 5 {
		t.Errorf("%+v", s.Claims)
	}
}

func TestPutIntoReadme(t *testing.T) {
	file := filepath.Join(t.TempDir(), "README.md")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# A\n\nno place\n")
	if err := measured().PutIntoReadme(file); err == nil || !strings.Contains(err.Error(), begins) {
		t.Errorf("without a place: %v", err)
	}
	write("before\n" + begins + "\nold\n" + ends + "\nafter\n")
	for range 2 { // the second time changes nothing
		if err := measured().PutIntoReadme(file); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, want := range []string{"before\n" + begins, ends + "\nafter\n", "`seckill compare`, 2026-11-11, 2 processors, linux, MariaDB 10.11 (private), Redis 7.0",
		"| `naive` | oversold | 1,451 (1,400–1,729) | – | – | – | 0.61 |", "| `zk` | 180 | 3.00 | 180 | 30.0 | 40.0 | 0.75 |",
		"| theirs (not ours) |"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "old\n") || strings.Count(text, "`naive`") != 1 || strings.Contains(text, "etcd") {
		t.Errorf("what was there before, or what was not measured, is in\n%s", text)
	}
}
