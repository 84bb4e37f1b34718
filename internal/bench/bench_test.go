package bench

import (
	"context"
	"errors"
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

// short is a run that is over soon.
func short(t testing.TB, locks ...catalog.Info) Options {
	var needs []backend.Capability
	for _, info := range locks {
		needs = append(needs, info.Needs...)
	}
	return Options{
		Backends: labtest.Start(t, needs...).Config(), Locks: locks, Contenders: []int{4},
		Hold: time.Millisecond, Rounds: 2, For: 400 * time.Millisecond, Progress: func(int, int, string) {},
	}
}

// A lock of each backend is measured: figures are there, commands are counted, and the
// counter under the lock is exact.
func TestEveryLockIsMeasured(t *testing.T) {
	var all []catalog.Info
	for _, name := range []string{"redis-watchdog", "redlock", "zk", "etcd", "get-lock", "lock-insert"} {
		all = append(all, strategies.Named(name))
	}
	r, err := Run(t.Context(), short(t, all...))
	labtest.Must(t, err)
	for _, s := range r.Scenes {
		if s.Error != "" || s.lostUpdates() > 0 || len(s.Passes) != 2 {
			t.Errorf("%s, %s: %d passes, %d updates lost, %q", s.Lock, describeContenders(s.Contenders), len(s.Passes), s.lostUpdates(), s.Error)
			continue
		}
		for _, p := range s.Passes {
			// Two commands at least: to take it, and to give it back.
			if p.Locks == 0 || p.Rate <= 0 || p.WaitP99 < p.WaitP50 || p.WaitP99 <= 0 || p.Taken < p.Locks || p.Commands < 1.9 {
				t.Errorf("%s, %s: %+v", s.Lock, describeContenders(s.Contenders), p)
			}
		}
	}
}

// A lock that lets everyone in, and fails in the end.
type open struct{ n atomic.Int64 }

func (o *open) Acquire(context.Context, string, lock.Options) (lock.Lease, error) { return o, nil }
func (o *open) Context() context.Context                                          { return context.Background() }
func (o *open) Fence() uint64                                                     { return 0 }
func (o *open) Release(context.Context) error {
	if o.n.Add(1) > 50 {
		return errors.New("no connection")
	}
	return nil
}

// A lock that fails does not stop the others, and an overlap is seen though the lock failed.
func TestAFailureDoesNotStopOthers(t *testing.T) {
	broken := catalog.Info{Name: "broken", Key: func(int64) string { return "" },
		Locker: func(catalog.Deps) (lock.Locker, error) { return nil, errors.New("no connection") }}
	overlaps := catalog.Info{Name: "open", Key: broken.Key, Locker: func(catalog.Deps) (lock.Locker, error) { return &open{}, nil }}
	r, err := Run(t.Context(), short(t, broken, overlaps, strategies.Named("redis-lua")))
	if err == nil || !strings.Contains(err.Error(), "broken, 4 contenders: ") || !strings.Contains(err.Error(), "open, uncontended: ") || strings.Contains(err.Error(), "redis-lua") {
		t.Errorf("failed: %v, want broken and open", err)
	}
	if got := r.Overlaps(); !slices.Equal(got, []string{"open"}) {
		t.Errorf("overlap in %v, want open alone", got)
	}
	if s := r.Scenes[len(r.Scenes)-1]; s.Lock != "redis-lua" || !s.isValid() || len(s.Passes) != 2 {
		t.Errorf("%s has %d passes, want 2", s.Lock, len(s.Passes))
	}
}
