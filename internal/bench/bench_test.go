package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/measure"
	"seckill/strategies"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

func ourLock(t testing.TB, name string) Candidate {
	t.Helper()
	for _, info := range strategies.All() {
		if info.Name == name {
			return Ours(info, catalog.DefaultSettings())
		}
	}
	t.Fatalf("there is no strategy %q", name)
	return Candidate{}
}

// oneOfEach of our locks, for each backend.
var oneOfEach = []string{"redis-watchdog", "redlock", "zk", "etcd", "get-lock", "lock-insert"}

// short is a run that is over soon.
func short(t testing.TB, candidates ...Candidate) Options {
	var needs []backend.Capability
	for _, c := range candidates {
		needs = append(needs, c.Needs...)
	}
	return Options{
		Backends: labtest.Start(t, needs...).Config(), Candidates: candidates, Contenders: []int{4}, Instances: 2,
		Hold: time.Millisecond, Rounds: 2, For: 400 * time.Millisecond, Progress: func(int, int, string) {},
	}
}

// Every foreign lock, and one of ours for each backend, is measured: figures
// are there, commands are counted, and the counter under the lock is exact.
// make test measures those whose ratio has a goal, and one more.
func TestEveryCandidateIsMeasured(t *testing.T) {
	all, ours := Foreign(catalog.DefaultSettings()), oneOfEach
	if !labtest.Verify {
		ours = []string{"redis-watchdog", "zk", "get-lock"}
		all = slices.DeleteFunc(all, func(c Candidate) bool { return c.Name == Rueidislock || c.Name == EtcdMutex || c.Name == MySQLGetLock })
	}
	for _, name := range ours {
		all = append(all, ourLock(t, name))
	}
	r, err := Run(t.Context(), short(t, all...))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range r.Locks {
		for _, s := range l.Scenes {
			if l.Foreign && strings.Contains(s.Error, "stalled") {
				// rueidislock loses a wake-up when an attempt of its own times
				// out, as on a busy machine: it is reported, and not ours.
				t.Logf("%s, %s: %s", l.Name, crowd(s.Contenders), s.Error)
				continue
			}
			if s.Error != "" || s.lost() > 0 || len(s.Passes) != 2 {
				t.Errorf("%s, %s: %d passes, %d updates lost, %q", l.Name, crowd(s.Contenders), len(s.Passes), s.lost(), s.Error)
				continue
			}
			for _, p := range s.Passes {
				if p.Locks == 0 || p.Rate <= 0 || p.WaitP99 < p.WaitP50 || p.WaitP99 <= 0 || p.Taken < p.Locks {
					t.Errorf("%s, %s: %+v", l.Name, crowd(s.Contenders), p)
				}
			}
			if s.Commands < 1.9 { // to take it, and to give it back
				t.Errorf("%s, %s: %.2f commands an acquisition, want 2 or more", l.Name, crowd(s.Contenders), s.Commands)
			}
		}
	}
	zk := 0
	for _, x := range r.Ratios {
		if x.Ratio.Median <= 0 && x.Measure != fairness.name || x.Ratio.Low > x.Ratio.Median || x.Ratio.High < x.Ratio.Median {
			t.Errorf("ratio %+v", x)
		}
		if x.Ours == "zk" && x.Foreign == GoZooKeeper {
			zk++
		}
	}
	if zk != 3 { // two rates, and a wait
		t.Errorf("%d ratios of zk, want 3: %+v", zk, r.Ratios)
	}
	for _, write := range []func(*bytes.Buffer) error{
		func(b *bytes.Buffer) error { return measure.WriteText(b, r.Tables()) },
		func(b *bytes.Buffer) error { return measure.WriteMarkdown(b, r.Tables()) },
		func(b *bytes.Buffer) error { return r.WriteJSON(b) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(b.String(), `\_`, "_") // Markdown
		for _, l := range r.Locks {
			if !strings.Contains(text, l.Name) {
				t.Errorf("%s is missing in:\n%s", l.Name, b.String())
			}
		}
	}
}

// A broken lock is detected, and its figures are not shown.
func TestOverlapIsSeen(t *testing.T) {
	o := short(t, ourLock(t, "redis-random-key"), ourLock(t, "redis-lua"))
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Overlaps(); len(got) != 1 || got[0] != "redis-random-key" {
		t.Fatalf("overlaps of %v were seen, want redis-random-key alone", got)
	}
	var b bytes.Buffer
	if err := measure.WriteText(&b, r.Tables()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"overlap seen", "NOT VALID: redis-random-key"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, b.String())
		}
	}
}

// A lock that fails does not stop the others.
func TestAFailureDoesNotStopOthers(t *testing.T) {
	broken := Candidate{Name: "broken", open: func(_ context.Context, p *place) error {
		for range p.contenders {
			p.takers = append(p.takers, func(context.Context) (func(context.Context) error, error) {
				return nil, errors.New("no connection")
			})
		}
		return nil
	}}
	r, err := Run(t.Context(), short(t, broken, ourLock(t, "redis-lua")))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Failed(); len(got) != 1 || got[0] != "broken" {
		t.Errorf("failed: %v, want broken alone", got)
	}
	if s, ok := r.scene("redis-lua", 4); !ok || len(s.Passes) != 2 {
		t.Errorf("redis-lua has %d passes, want 2", len(s.Passes))
	}
}

// An interrupted run returns its figures until then, as JSON that can be read.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := short(t, ourLock(t, "redis-lua"), ourLock(t, "zk"))
	o.Progress = func(done, _ int, _ string) {
		if done == 3 {
			cancel()
		}
	}
	r, err := Run(ctx, o)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("Run said %v, want %v", err, context.Canceled)
	}
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var again Report
	if err := json.Unmarshal(b.Bytes(), &again); err != nil {
		t.Fatal(err)
	}
	if s, ok := again.scene("redis-lua", 4); !ok || len(s.Passes) != 1 {
		t.Errorf("redis-lua, 4 contenders: %d passes, want 1", len(s.Passes))
	}
}

// A lease shorter than its task loses updates; one many times longer does not.
func TestLeaseSweepShowsShortLeases(t *testing.T) {
	var info catalog.Info
	for _, i := range strategies.All() {
		if i.Name == "redis-lua" {
			info = i
		}
	}
	o := short(t, ourLock(t, "redis-lua"))
	all, err := Sweeps{Backends: o.Backends, Info: info, Contenders: 4, Hold: 10 * time.Millisecond,
		For: 500 * time.Millisecond, Rounds: 1, Progress: o.Progress}.Leases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, last := all[0], all[len(all)-1]
	if first.Lost.Median == 0 || first.Gone.Median == 0 || last.Lost.Median >= first.Lost.Median {
		t.Errorf("a lease of half the task lost %v %%, one of ten times %v %%", first.Lost, last.Lost)
	}
}

// The uncontended round: profile it with -cpuprofile.
func BenchmarkUncontended(b *testing.B) {
	for _, c := range append([]Candidate{ourLock(b, "redis-watchdog")}, Foreign(catalog.DefaultSettings())[:3]...) {
		b.Run(c.Name, func(b *testing.B) {
			p, err := c.at(b.Context(), labtest.Start(b, backend.Redis).Config(), 1, 1)
			if err != nil {
				b.Fatal(err)
			}
			defer p.close()
			b.ReportAllocs()
			for b.Loop() {
				free, err := p.takers[0](context.Background())
				if err == nil {
					err = free(context.Background())
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
