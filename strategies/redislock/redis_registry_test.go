package redislock

import (
	"os"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

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
