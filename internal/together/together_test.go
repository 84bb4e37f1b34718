package together_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/together"
)

func never(time.Duration) time.Duration { return 0 }

// All who came before a reading began share it; who came later gets a newer one.
func TestSince(t *testing.T) {
	var r together.Reading[int64]
	var readings atomic.Int64
	count := func(context.Context) (int64, error) { return readings.Add(1), nil }
	came := time.Now()
	var g errgroup.Group
	for range 100 {
		g.Go(func() error {
			if n, err := r.Since(t.Context(), came, count, never); n != 1 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
			return nil
		})
	}
	_ = g.Wait()
	if n, err := r.Since(t.Context(), time.Now(), count, never); n != 2 || err != nil {
		t.Errorf("who came later: %d, %v", n, err)
	}
}

// A caller who leaves, and a reading that fails, leave nothing to others.
func TestSinceOfOneWhoFails(t *testing.T) {
	var r together.Reading[int]
	came, failure := time.Now(), errors.New("no")
	fails := func(context.Context) (int, error) { return 1, failure }
	if _, err := r.Since(t.Context(), came, fails, func(time.Duration) time.Duration { return time.Hour }); !errors.Is(err, failure) {
		t.Error(err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := r.Since(gone, came, fails, never); !errors.Is(err, context.Canceled) {
		t.Errorf("in the rest after it: %v", err)
	}
}

// After a reading there is a rest.
func TestRest(t *testing.T) {
	var r together.Reading[time.Time]
	now := func(context.Context) (time.Time, error) { return time.Now(), nil }
	const rest = 50 * time.Millisecond
	first, _ := r.Since(t.Context(), time.Now(), now, func(time.Duration) time.Duration { return rest })
	second, _ := r.Since(t.Context(), time.Now(), now, never)
	if second.Sub(first) < rest {
		t.Errorf("read again after %v", second.Sub(first))
	}
}
