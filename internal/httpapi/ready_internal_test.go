package httpapi

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/backend"
)

// Backends are asked once a second at most, however many callers there are, and
// no caller waits longer than they want to.
func TestChecksAreShared(t *testing.T) {
	var asked atomic.Int64
	begun, end := make(chan bool), make(chan bool)
	now := time.Now()
	k := checks{now: func() time.Time { return now }, ask: func(context.Context) []backend.Status {
		asked.Add(1)
		begun <- true
		<-end
		return []backend.Status{{Name: "mysql", OK: true}}
	}}
	read := func() {
		if said, err := k.read(t.Context()); err != nil || len(said) != 1 {
			t.Errorf("it was told %v, %v", said, err)
		}
	}
	var all sync.WaitGroup
	all.Go(read)
	<-begun
	asking := now
	now = now.Add(time.Hour) // however long the backends take
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.read(gone); err == nil {
		t.Error("a caller who hung up was told something")
	}
	now = asking
	for range 200 { // some while the backends are asked, some later
		all.Go(read)
	}
	end <- true
	all.Wait()
	if asked.Load() != 1 {
		t.Errorf("200 at once: the backends were asked %d times, want once", asked.Load())
	}
	again := func(want int64) {
		t.Helper()
		done, asks := make(chan bool), want > asked.Load()
		go func() {
			k.read(t.Context())
			close(done)
		}()
		if asks {
			<-begun
			end <- true
		}
		<-done
		if asked.Load() != want {
			t.Errorf("the backends were asked %d times, want %d", asked.Load(), want)
		}
	}
	now = asking.Add(time.Hour)
	again(2)
	now = now.Add(checkAge - 1)
	again(2)
	now = now.Add(1)
	again(3)
}
