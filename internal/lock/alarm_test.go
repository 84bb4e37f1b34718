package lock

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Whatever is set, stopped and set anew, and in whatever order: an alarm calls
// when it is due, and only then.
func TestAlarmsRingWhenTheyAreDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock alarmClock
		var mu sync.Mutex
		began := time.Now()
		rang := map[int]time.Duration{}
		at := func(i int, due time.Duration) *alarm {
			return clock.at(began.Add(due), func() {
				mu.Lock()
				defer mu.Unlock()
				rang[i] = time.Since(began)
			})
		}
		want := map[int]time.Duration{}
		for i := range 200 {
			due := time.Duration(rand.IntN(1000)) * time.Millisecond
			a := at(i, due)
			switch i % 4 {
			case 0:
				if !a.stop() || a.stop() {
					t.Errorf("alarm %d was stopped early not once", i)
				}
				continue
			case 1: // earlier than all others, or later
				due = time.Duration(rand.IntN(2000)) * time.Millisecond
				a.reset(began.Add(due))
			}
			want[i] = due
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if len(rang) != len(want) {
			t.Errorf("%d alarms rang, want %d", len(rang), len(want))
		}
		for i, due := range want {
			if rang[i] != due {
				t.Errorf("alarm %d rang after %v, want %v", i, rang[i], due)
			}
		}
		// The clock has come to rest, and goes again.
		late := at(1000, 4*time.Second)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if rang[1000] != 4*time.Second || late.stop() {
			t.Errorf("the last alarm rang after %v, want 4s", rang[1000])
		}
		late.reset(began.Add(6 * time.Second))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if rang[1000] != 6*time.Second {
			t.Errorf("the last alarm rang again after %v, want 6s", rang[1000])
		}
	})
}

// An alarm that was stopped has not called and never will; one that was not
// has, though both are tried at once.
func TestAlarmIsStoppedOrCalls(t *testing.T) {
	var clock alarmClock
	for range 500 {
		called := make(chan struct{}, 1)
		a := clock.at(time.Now().Add(time.Duration(rand.IntN(100))*time.Microsecond), func() { called <- struct{}{} })
		time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond)
		if !a.stop() {
			<-called
		}
		select {
		case <-called:
			t.Fatal("it called once more, or although it was stopped")
		default:
		}
	}
}

func TestWithin(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := Within(t.Context(), time.Millisecond, enough)
	defer cancel()
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), enough) {
		t.Errorf("the cause is %v, want %v", context.Cause(ctx), enough)
	}
	ctx, cancel = Within(t.Context(), time.Hour, enough)
	cancel()
	if !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Errorf("the cause is %v, want %v", context.Cause(ctx), context.Canceled)
	}
	alarms.mu.Lock()
	defer alarms.mu.Unlock()
	if len(alarms.set) > 0 {
		t.Errorf("%d alarms are left behind", len(alarms.set))
	}
}
