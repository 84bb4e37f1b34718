package explore_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lock"
	"seckill/internal/tap"
	"seckill/strategies/redislock"
)

// On a busy machine a goroutine that was woken runs later. A holder who waits for
// their renewer to end is not stuck meanwhile.
func TestARenewerThatWakesLate(t *testing.T) {
	w := open(t, recipe(redislock.RedisLua, func(d catalog.Deps) lock.Locker { return &drowsy{d.Redis} }))
	s := two(explore.Locks)
	s.Renewals = 1
	res := search(t, w, s, explore.Limits{Schedules: 2})
	if res.First != nil || res.Schedules == 0 {
		t.Errorf("%d schedules:\n%s", res.Schedules, table(res.First))
	}
}

// drowsy is a lock whose renewer wakes long after its context has ended.
type drowsy struct{ redis redis.UniversalClient }

func (l *drowsy) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	err := lock.Poll(ctx, o.Wait, lock.Every(time.Millisecond), func() (bool, error) {
		return l.redis.SetNX(ctx, key, "held", time.Minute).Result()
	})
	if err != nil {
		return nil, err
	}
	background, helper := tap.Background(context.WithoutCancel(ctx))
	ending, end := context.WithCancel(background)
	stopped := make(chan struct{})
	go func() {
		defer helper.Over()
		defer close(stopped)
		_ = tap.Sleep(late(ending), time.Minute)
	}()
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		end()
		if _, err := tap.Wait(ctx, "the renewer", stopped); err != nil {
			return err
		}
		return l.redis.Del(ctx, key).Err()
	}), nil
}

// late is ctx for one who hears of its end half a second later.
func late(ctx context.Context) context.Context {
	done := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(500*time.Millisecond, func() { close(done) }) })
	return lateContext{ctx, done}
}

type lateContext struct {
	context.Context
	done chan struct{}
}

func (c lateContext) Done() <-chan struct{} { return c.done }

// recipe is i with another lock.
func recipe(i catalog.Info, build func(catalog.Deps) lock.Locker) catalog.Info {
	i.Locker = func(d catalog.Deps) (lock.Locker, error) { return build(d), nil }
	return i
}
