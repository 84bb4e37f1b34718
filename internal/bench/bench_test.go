package bench

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
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
		Backends: labtest.Start(t, needs...).Config(), Candidates: candidates, Contenders: []int{4},
		Hold: time.Millisecond, Rounds: 2, For: 400 * time.Millisecond, Progress: func(int, int, string) {},
	}
}

// Every foreign lock, and one of ours for each backend, is measured: figures
// are there, commands are counted, and the counter under the lock is exact.
func TestEveryCandidateIsMeasured(t *testing.T) {
	all, ours := Foreign(catalog.DefaultSettings()), oneOfEach
	if !labtest.Verify {
		ours = []string{"redis-watchdog", "zk", "get-lock"}
	}
	for _, name := range ours {
		all = append(all, ourLock(t, name))
	}
	r, err := Run(t.Context(), short(t, all...))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Scenes {
		if s.Error != "" || s.lost() > 0 || len(s.Passes) != 2 {
			t.Errorf("%s, %s: %d passes, %d updates lost, %q", s.Lock, crowd(s.Contenders), len(s.Passes), s.lost(), s.Error)
			continue
		}
		for _, p := range s.Passes {
			// Two commands at least: to take it, and to give it back.
			if p.Locks == 0 || p.Rate <= 0 || p.WaitP99 < p.WaitP50 || p.WaitP99 <= 0 || p.Taken < p.Locks || p.Commands < 1.9 {
				t.Errorf("%s, %s: %+v", s.Lock, crowd(s.Contenders), p)
			}
		}
	}
	for _, write := range []func(*bytes.Buffer) error{
		func(b *bytes.Buffer) error { return r.Report().WriteText(b) },
		func(b *bytes.Buffer) error { return r.Report().WriteMarkdown(b) },
		func(b *bytes.Buffer) error { return r.Report().WriteJSON(b) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(b.String(), `\_`, "_") // Markdown
		for _, c := range all {
			if !strings.Contains(text, c.Name) {
				t.Errorf("%s is missing in:\n%s", c.Name, b.String())
			}
		}
	}
}

// A lock that fails does not stop the others.
func TestAFailureDoesNotStopOthers(t *testing.T) {
	refused := every(func(context.Context) (func(context.Context) error, error) { return nil, errors.New("no connection") })
	broken := Candidate{Name: "broken", open: func(context.Context, *place, *backend.Instance) (func() (taker, error), error) {
		return refused, nil
	}}
	r, err := Run(t.Context(), short(t, broken, ourLock(t, "redis-lua")))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Failed(); len(got) != 1 || got[0] != "broken" {
		t.Errorf("failed: %v, want broken alone", got)
	}
	if s := r.Scenes[len(r.Scenes)-1]; s.Lock != "redis-lua" || !s.valid() || len(s.Passes) != 2 {
		t.Errorf("%s has %d passes, want 2", s.Lock, len(s.Passes))
	}
}
