package redislock

import (
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
)

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
