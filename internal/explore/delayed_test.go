package explore_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/strategies/redislock"
)

// A delayer keeps the first command that would be sent; its sender is told
// nothing, and gives up. The command arrives when it is let go.
type delayer struct{ kept atomic.Pointer[tap.Command] }

var errGaveUp = errors.New("no answer within the time")

func (d *delayer) Before(_ context.Context, c *tap.Command) error {
	if d.kept.CompareAndSwap(nil, c) {
		return errGaveUp
	}
	return nil
}

func (*delayer) After(_ context.Context, _ *tap.Command, err error) error { return err }

func (d *delayer) arrive(t *testing.T, in *backend.Instance) {
	t.Helper()
	words := []any{}
	for word := range strings.FieldsSeq(d.kept.Load().Text) {
		words = append(words, word)
	}
	if err := in.Redis.Do(t.Context(), words...).Err(); err != nil {
		t.Errorf("%s: %v", d.kept.Load().Text, err)
	}
}

// Two buyers of one process, and one of another. The first's release is delayed
// until the second holds the lock: the third must not get it then.
func TestDelayedRelease(t *testing.T) {
	for _, c := range []struct {
		name    string
		info    catalog.Info
		holders int
	}{
		{"redis-registry", redislock.RedisRegistry, 1},
		{"mutant: the process alone", turnless(), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			here, there, in := registry(t, c.info), registry(t, c.info), labtest.Instance(t, backend.Redis)
			if err := hold(t, here).Release(t.Context()); err != nil { // loads the scripts
				t.Fatal(err)
			}
			first := hold(t, here)
			late := &delayer{}
			if err := first.Release(tap.With(t.Context(), late)); err == nil {
				t.Error("released without an answer")
			}
			second := hold(t, here)
			late.arrive(t, in)
			holders := 1
			third, err := there.Acquire(t.Context(), delayedKey, lock.Options{Lease: oneLease})
			if err == nil {
				holders++
				defer third.Release(t.Context())
			} else if !errors.Is(err, seckill.ErrBusy) {
				t.Error(err)
			}
			if holders != c.holders {
				t.Errorf("%d hold the lock, want %d", holders, c.holders)
			}
			if err := second.Release(t.Context()); err != nil && c.holders == 1 {
				t.Errorf("the second releases: %v", err)
			}
		})
	}
}

// The same with what takes: it comes when its buyer has given up and another of
// the process holds the lock. The holder's release must free it then.
func TestDelayedTake(t *testing.T) {
	here, in := registry(t, redislock.RedisRegistry), labtest.Instance(t, backend.Redis)
	if err := hold(t, here).Release(t.Context()); err != nil { // loads the scripts
		t.Fatal(err)
	}
	late := &delayer{}
	if _, err := here.Acquire(tap.With(t.Context(), late), delayedKey, lock.Options{Lease: oneLease}); err == nil {
		t.Fatal("acquired without an answer")
	}
	second := hold(t, here)
	late.arrive(t, in)
	if err := second.Release(t.Context()); err != nil {
		t.Errorf("the holder was robbed by a late command: %v", err)
	}
	late.arrive(t, in) // no holder's: it does not delay this process's next buyer
	if err := hold(t, here).Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// Who holds the lock gets it again, and frees it with the last lease on it.
func TestRegistryIsStillReentrant(t *testing.T) {
	here, there := registry(t, redislock.RedisRegistry), registry(t, redislock.RedisRegistry)
	outer := hold(t, here)
	inner, err := here.Acquire(outer.Context(), delayedKey, lock.Options{Lease: oneLease})
	if err != nil {
		t.Fatal(err)
	}
	for _, lease := range []lock.Lease{inner, outer} {
		if _, err := there.Acquire(t.Context(), delayedKey, lock.Options{}); !errors.Is(err, seckill.ErrBusy) {
			t.Errorf("while it is held: %v, want busy", err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := hold(t, there).Release(t.Context()); err != nil {
		t.Error(err)
	}
}

const (
	delayedKey = "seckill:lock:delayed"
	oneLease   = 60e9
)

// registry is one process's lock.
func registry(t *testing.T, info catalog.Info) lock.Locker {
	t.Helper()
	in := labtest.Instance(t, backend.Redis)
	in.Redis.Del(t.Context(), delayedKey)
	l, err := catalog.NewLocker(info, catalog.Deps{Instance: in, Settings: catalog.DefaultSettings()})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func hold(t *testing.T, l lock.Locker) lock.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), delayedKey, lock.Options{Lease: oneLease})
	if err != nil {
		t.Fatal(err)
	}
	return lease
}
