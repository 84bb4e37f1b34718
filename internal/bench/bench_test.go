package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/strategies"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// shortRun returns the options of a run that ends within seconds, on servers that the locks need.
func shortRun(t testing.TB, locks ...catalog.Info) Options {
	var needs []backend.Capability
	for _, info := range locks {
		needs = append(needs, info.Needs...)
	}
	return Options{
		Backends: labtest.Start(t, needs...).Config(), Locks: locks, Contenders: []int{4},
		Hold: time.Millisecond, Rounds: 2, For: 400 * time.Millisecond, Progress: func(int, int, string) {},
	}
}

// A lock of each backend is measured. Every figure is set, and no update is lost.
func TestEveryLockIsMeasured(t *testing.T) {
	var all []catalog.Info
	for _, name := range []string{"redis-watchdog", "redlock", "zk", "etcd", "get-lock", "lock-insert"} {
		all = append(all, strategies.Named(name))
	}
	r, err := Run(t.Context(), shortRun(t, all...))
	labtest.Must(t, err)
	for _, s := range r.Trials {
		if s.Error != "" || s.lostUpdates() > 0 || len(s.Passes) != 2 {
			t.Errorf("%s, %s: %d passes, %d updates lost, %q",
				s.Lock, describeContenders(s.Contenders), len(s.Passes), s.lostUpdates(), s.Error)
			continue
		}
		for _, p := range s.Passes {
			// A lock needs at least one command to acquire it and one to release it.
			if p.Locks == 0 || p.Rate <= 0 || p.WaitP99 < p.WaitP50 || p.WaitP99 <= 0 ||
				p.Acquired < p.Locks || p.Commands < 1.9 {
				t.Errorf("%s, %s: %+v", s.Lock, describeContenders(s.Contenders), p)
			}
		}
	}
}

// openLock is a lock that everyone gets at once. Its 51st release fails.
type openLock struct{ n atomic.Int64 }

func (o *openLock) Acquire(context.Context, string, lock.Options) (lock.Lease, error) { return o, nil }
func (o *openLock) Context() context.Context                                          { return context.Background() }
func (o *openLock) Fence() uint64                                                     { return 0 }
func (o *openLock) Release(context.Context) error {
	if o.n.Add(1) > 50 {
		return errors.New("no connection")
	}
	return nil
}

// A lock that fails does not stop the others. An overlap is reported even if the lock fails afterwards.
func TestAFailureDoesNotStopOthers(t *testing.T) {
	broken := catalog.Info{Name: "broken", Key: func(int64) string { return "" },
		Locker: func(catalog.Deps) (lock.Locker, error) { return nil, errors.New("no connection") }}
	overlaps := catalog.Info{Name: "open", Key: broken.Key,
		Locker: func(catalog.Deps) (lock.Locker, error) { return &openLock{}, nil }}
	r, err := Run(t.Context(), shortRun(t, broken, overlaps, strategies.Named("redis-lua")))
	if text := fmt.Sprint(err); !strings.Contains(text, "broken, 4 contenders: ") ||
		!strings.Contains(text, "open, uncontended: ") || strings.Contains(text, "redis-lua") {
		t.Errorf("got the error %v, want one for broken and one for open", err)
	}
	if got := r.Overlaps(); !slices.Equal(got, []string{"open"}) {
		t.Errorf("overlaps in %v, want only open", got)
	}
	if s := r.Trials[len(r.Trials)-1]; s.Lock != "redis-lua" || !s.isValid() || len(s.Passes) != 2 {
		t.Errorf("%s has %d passes, want 2", s.Lock, len(s.Passes))
	}
}

// A gate lets one contender ask the lock at a time, so a lock that polls gets no refusals and
// sends two commands: one to acquire it, one to release it.
func TestAGateSavesThePolls(t *testing.T) {
	o := shortRun(t, strategies.Named("redis-lua"))
	o.Gated = []string{"redis-lua"}
	r, err := Run(t.Context(), o)
	labtest.Must(t, err)
	commands := map[string]float64{}
	for _, s := range r.Trials {
		if s.Contenders > 1 && s.isValid() {
			commands[s.Lock] = s.spreadOf(commandsPerLock).Median()
		}
	}
	if without, behind := commands["redis-lua"], commands["redis-lua-gated"]; behind < 1.9 || behind > 2.1 || without < 2.2 {
		t.Errorf("redis-lua sends %.2f commands, and %.2f behind a gate", without, behind)
	}
}
