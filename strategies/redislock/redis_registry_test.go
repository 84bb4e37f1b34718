package redislock

import (
	"os"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// The lock is released while its holder asks for it again, and that fails: it
// is free, in the process as well.
func TestRegistryReleasedDuringAFailedReentry(t *testing.T) {
	l := locktest.Open(t, RedisRegistry, catalog.Deps{})
	o := lock.Options{Lease: locktest.Long}
	outer, released := l.Take(t, o), false
	ctx := tap.With(outer.Context(), &taptest.Tap{OnBefore: func(*tap.Command) error {
		if released {
			return nil
		}
		released = true
		labtest.Must(t, outer.Release(t.Context()))
		return taptest.ErrLostReply
	}})
	if _, err := l.Acquire(ctx, l.Key, o); err == nil {
		t.Error("a command that was not sent acquired the lock again")
	}
	locktest.Free(t, l.Take(t, o))
}

// A take of an earlier turn arrives late: the lock stays the later turn's.
func TestRegistryTakeOfAnEarlierTurn(t *testing.T) {
	l := locktest.Open(t, RedisRegistry, catalog.Deps{})
	held := l.Take(t, lock.Options{Lease: locktest.Long})
	defer locktest.Free(t, held)
	early := &registryHold{lock: l.Locker.(*registryLock), key: l.Key, turn: 0}
	if ok, err := early.take(t.Context(), locktest.Long); err != nil || ok {
		t.Errorf("turn 0 took the lock from turn 1: %v, %v", ok, err)
	}
}
