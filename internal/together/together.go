// Package together reads once for all who ask at the same time.
package together

import (
	"context"
	"sync"
	"time"
)

// A Reading is something dear that many want to know. It is made by one at a time,
// for all who came before it began. The zero value is ready.
type Reading[T any] struct {
	mu     sync.Mutex
	began  time.Time
	rested time.Time // no reading begins before
	value  T
}

// Since returns a value that was read after came, and reads it if there is none.
// rest is how long nothing is read after a reading that took so long. An error is
// read's or that of ctx, and is told to this caller only.
func (r *Reading[T]) Since(
	ctx context.Context, came time.Time, read func(context.Context) (T, error), rest func(took time.Duration) time.Duration,
) (value T, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.began.After(came) {
		return r.value, nil
	}
	pause := time.NewTimer(time.Until(r.rested))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return value, context.Cause(ctx)
	}
	began := time.Now()
	value, err = read(ctx)
	now := time.Now()
	r.rested = now.Add(rest(now.Sub(began)))
	if err == nil {
		r.began, r.value = began, value
	}
	return value, err
}
