package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"seckill/internal/ledger"
	"seckill/loadtest/compare"
)

// comparison runs the program and returns what it says.
func comparison(t *testing.T, ctx context.Context, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	t.Setenv("SECKILL_STATE", t.TempDir()) // no lab of whoever runs the test
	var out, err bytes.Buffer
	status = run(ctx, func() {}, append([]string{"compare"}, args...), &out, &err)
	return status, out.String(), err.String()
}

// onLab is the small comparison on the test's servers and services.
func onLab(t *testing.T) []string {
	l, urls := sharedServices(t)
	c := l.Config()
	return []string{"--target", strings.Join(urls, ","), "--mysql-dsn", c.MySQLDSN, "--redis-addrs", strings.Join(c.RedisAddrs, ","),
		"--stock", "150", "--buyers", "200", "--concurrency", "16", "--turn", "0", "--seed", "7"}
}

func TestCompare(t *testing.T) {
	here := onLab(t)
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	status, stdout, stderr := comparison(t, t.Context(), append(here, "--strategies", "naive,conditional", "--repeats", "2",
		"--html", file("r.html"), "--json", file("r.json"), "--csv", file("r.csv"), "--markdown", file("r.md"))...)
	if status != compare.ExitAsKnown {
		t.Fatalf("exit status %d\n%s%s", status, stdout, stderr)
	}
	f, err := os.Open(file("r.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := compare.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]ledger.Verdict{"naive": ledger.Oversold, "conditional": ledger.Held}
	for _, e := range r.Strategies {
		if e.Verdict != want[e.Strategy] || !e.Expected || len(e.Rounds) != 2 || e.Sales.Low <= 0 || e.CommandsEach() <= 0 {
			t.Errorf("%+v", e)
		}
		for _, floor := range []string{compare.FloorHTTP, compare.FloorRedis, compare.FloorUpdate, compare.FloorTransaction} {
			if e.Ratios[floor].Low <= 0 {
				t.Errorf("%s has no ratio to the floor %s: %+v", e.Strategy, floor, r.Floors)
			}
		}
	}
	if len(r.Strategies) != 2 || len(r.Durability) < 8 || r.Settings.Seed != 7 || len(r.Servers) == 0 {
		t.Errorf("%d strategies, durability %v, seed %d, servers %v", len(r.Strategies), r.Durability, r.Settings.Seed, r.Servers)
	}
	for _, d := range r.Durability {
		if strings.Contains(d.Value, "could not") {
			t.Errorf("%+v", d)
		}
	}
	for name, text := range map[string]string{"r.html": "OVERSOLD, as known", "r.csv": "strategy,naive,16,2,oversold", "r.md": "| naive | OVERSOLD, as known |"} {
		if data, err := os.ReadFile(file(name)); err != nil || !strings.Contains(string(data), text) {
			t.Errorf("%s lacks %q: %v", name, text, err)
		}
	}
	if !strings.Contains(stdout, "1 held as they must, 1 broken one was caught.") {
		t.Errorf("%s", stdout)
	}
	if tables := leftTables(t); len(tables) > 0 {
		t.Errorf("the floors left tables: %v", tables)
	}
	t.Run("against itself, and a faster one", func(t *testing.T) { testAgainst(t, here, r) })
}

func leftTables(t *testing.T) (names []string) {
	if err := books(t).DB(t.Context()).Raw("SHOW TABLES LIKE 'compare\\_%'").Scan(&names).Error; err != nil {
		t.Fatal(err)
	}
	return names
}

// testAgainst: figures are not asserted, so the older result is made so slow,
// and then so fast, that no machine comes near it.
func testAgainst(t *testing.T, here []string, older *compare.Result) {
	for _, c := range []struct {
		times float64
		want  int
	}{{1e-6, compare.ExitAsKnown}, {1e6, compare.ExitChanged}} {
		for _, e := range older.Strategies {
			e.Ratios = map[string]compare.Spread{}
			e.Sales.Median = 1000 * c.times
		}
		file := filepath.Join(t.TempDir(), "old.json")
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := older.WriteJSON(f); err != nil {
			t.Fatal(err)
		}
		f.Close()
		status, stdout, stderr := comparison(t, t.Context(), append(here, "--strategies", "conditional", "--repeats", "1", "--html=", "--against", file)...)
		if status != c.want || !strings.Contains(stdout, "Since the older result") {
			t.Errorf("against rates of %g times a thousand: exit status %d, want %d\n%s%s", c.times, status, c.want, stdout, stderr)
		}
	}
}

// The disk is full, and nothing is lost.
func TestCompareOnAFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /dev/full")
	}
	// A comparison of a service that nobody is at has a result as well, and is quick.
	here := []string{"--target", "http://127.0.0.1:1", "--strategies", "conditional", "--repeats", "1", "--turn", "0", "--html", "/dev/full"}
	for _, temp := range []string{t.TempDir(), "/nowhere"} { // where the rescue goes
		t.Setenv("TMPDIR", temp)
		status, stdout, stderr := comparison(t, t.Context(), here...)
		if status != statusFailed || !strings.Contains(stderr, "--html: the result could not be written") || !strings.Contains(stderr, "no space left") {
			t.Errorf("exit status %d: %s", status, stderr)
		}
		if !strings.Contains(stdout, "conditional  NOT VALID") {
			t.Errorf("the table is not on standard output: %s", stdout)
		}
		text := stdout[max(0, strings.Index(stdout, "\n{")):]
		if temp != "/nowhere" {
			saved, _ := filepath.Glob(filepath.Join(temp, "seckill-compare-*.json"))
			if len(saved) != 1 || !strings.Contains(stderr, saved[0]) {
				t.Fatalf("%v is kept: %s", saved, stderr)
			}
			data, err := os.ReadFile(saved[0])
			if err != nil {
				t.Fatal(err)
			}
			text = string(data)
		}
		if r, err := compare.Read(strings.NewReader(text)); err != nil || len(r.Strategies) != 1 {
			t.Errorf("with %s for temporary files the result is gone: %v", temp, err)
		}
	}
}

// Ctrl-C in the middle: what is there is reported.
func TestCompareInterrupted(t *testing.T) {
	here := append(onLab(t), "--strategies", "conditional,for-update", "--repeats", "100", "--html=", "--json", "-")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	t.Setenv("SECKILL_STATE", t.TempDir())
	watch := &cancelsOn{what: []byte("for-update\n"), cancel: cancel} // its turn comes after that of conditional
	var stdout bytes.Buffer
	status := run(ctx, func() {}, append([]string{"compare"}, here...), &stdout, watch)
	r, err := compare.Read(&stdout)
	if err != nil {
		t.Fatal(err)
	}
	if status != compare.ExitNotValid || !r.Interrupted || r.Entry("conditional") == nil {
		t.Errorf("exit status %d, interrupted %v", status, r.Interrupted)
	}
	if tables := leftTables(t); len(tables) > 0 {
		t.Errorf("the floors left tables: %v", tables)
	}
}

// cancelsOn cancels when what is written.
type cancelsOn struct {
	what   []byte
	cancel func()
}

func (c *cancelsOn) Write(p []byte) (int, error) {
	if bytes.HasSuffix(p, c.what) {
		c.cancel()
	}
	return len(p), nil
}

// What is wrong is said before anything is started.
func TestCompareRefuses(t *testing.T) {
	old := filepath.Join(t.TempDir(), "old.json")
	if err := os.WriteFile(old, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	data, err := json.Marshal(compare.Result{Format: compare.Format, Strategies: []*compare.Entry{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--strategies", "nothing"}, `there is no strategy "nothing"; seckill strategies lists them`},
		{[]string{"--strategies", "naive,naive"}, "names naive twice"},
		{[]string{"--strategies", ""}, "give all, or some"},
		{[]string{"--buyers", "10"}, "nothing could be oversold"},
		{[]string{"--repeats", "0"}, "--repeats must be 1 to 100"},
		{[]string{"--few", "65"}, "--few must be"},
		{[]string{"--turn=-1s"}, "--turn must be"},
		{[]string{"--limit", "NaN"}, "--limit must be"},
		{[]string{"--against", "/nowhere.json"}, "no such file"},
		{[]string{"--against", old}, "no result of seckill compare"},
		{[]string{"--against", other}, "give --stock 0 to compare like with like"},
		{[]string{"--matrix", old}, "no matrix of seckill prove"},
		{[]string{"--json", "-", "--csv", "-"}, "give each a place of its own"},
		{[]string{"--json", "x", "--csv", "x"}, "give each a place of its own"},
		{[]string{"--target", "nonsense"}, "is not an address"},
	} {
		status, _, stderr := comparison(t, t.Context(), c.args...)
		if status != statusUsage || !strings.Contains(stderr, c.says) {
			t.Errorf("%q: exit status %d: %s; want %q", c.args, status, stderr, c.says)
		}
	}
	status, _, stderr := comparison(t, t.Context(), "--html", "/nowhere/r.html", "--target", "http://127.0.0.1:1")
	if status != statusFailed || !strings.Contains(stderr, "--html: the result could not be written there") {
		t.Errorf("an unwritable report: exit status %d: %s", status, stderr)
	}
}

// Nobody listens: every strategy says so, and the report is there.
func TestCompareUnreachable(t *testing.T) {
	status, stdout, stderr := comparison(t, t.Context(), "--target", "http://127.0.0.1:1", "--strategies", "conditional", "--repeats", "1", "--turn", "0", "--html=")
	if status != compare.ExitNotValid || !strings.Contains(stdout, "is it running, and is the address right?") {
		t.Errorf("exit status %d\n%s%s", status, stdout, stderr)
	}
}
