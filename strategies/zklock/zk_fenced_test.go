package zklock

import (
	"testing"

	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
)

// The token is the holder's own node's czxid, and grows with every grant; also
// when the lock's node is deleted and made anew, and sequence numbers with it.
func TestTokenOutlivesTheLocksNode(t *testing.T) {
	b := newBench(t, ZKFenced)
	other := newBench(t, ZKFenced)
	var last uint64
	numbers := map[int32]int{}
	check := func(l lock.Lease) {
		t.Helper()
		b.queued(t, 1)
		name := contenders(t, b.zk, b.key)[0]
		stat, err := b.zk.Exists(t.Context(), name)
		if err != nil || stat == nil {
			t.Fatalf("%v, %v", stat, err)
		}
		if l.Fence() <= last || l.Fence() != uint64(stat.Czxid) {
			t.Errorf("token %d follows %d; the node was created by %d", l.Fence(), last, stat.Czxid)
		}
		n, _ := sequence(name)
		numbers[n]++
		last = l.Fence()
	}
	for range 3 {
		first, err := b.Acquire(t.Context(), b.key, lock.Options{})
		if err != nil {
			t.Fatal(err)
		}
		check(first)
		second := make(chan lock.Lease, 1)
		go func() { // it queues: the list changes once more before its turn
			defer close(second)
			if l, err := other.Acquire(t.Context(), b.key, lock.Options{Wait: -1}); err != nil {
				t.Error(err)
			} else {
				second <- l
			}
		}()
		b.queued(t, 2)
		locktest.Free(t, first)
		l := <-second
		if l == nil {
			return
		}
		check(l)
		locktest.Free(t, l)
		if err := b.zk.Delete(t.Context(), b.key); err != nil {
			t.Fatal(err)
		}
	}
	if numbers[0] != 3 || numbers[1] != 3 {
		t.Errorf("sequence numbers %v: they were to begin anew each time, or this shows nothing", numbers)
	}
}
