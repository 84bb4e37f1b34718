package explore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lock"
	"seckill/internal/tap"
	"seckill/strategies/redislock"
	"seckill/strategies/zklock"
)

// On a busy machine a goroutine that was woken runs later. A holder who waits for
// their renewer to end is not stuck meanwhile.
func TestARenewerThatWakesLate(t *testing.T) {
	w := open(t, recipe(redislock.RedisLua, func(d catalog.Deps) lock.Locker { return &drowsy{d.Redis} }))
	s := two(explore.Locks)
	s.Renewals = 1
	res := search(t, w, s, explore.Limits{Schedules: 4})
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

// A wake-up that never comes leaves the waiter stuck, and the search sees it.
func TestALostWakeUpIsSeen(t *testing.T) {
	for watchesOwn, want := range map[bool]string{false: "", true: explore.RuleStuck} {
		w := open(t, recipe(zklock.ZK, func(d catalog.Deps) lock.Locker { return &zkQueue{d.ZooKeeper, watchesOwn} }))
		res := search(t, w, two(explore.Buys), explore.Limits{Preemptions: 2, All: !watchesOwn})
		if res.Schedules == 0 || (res.First == nil) != (want == "") || want != "" && !broke(res.First, want) {
			t.Errorf("watches its own node: %t; %+v, want %q:\n%s", watchesOwn, res, want, table(res.First))
		}
	}
}

// recipe is i with another lock.
func recipe(i catalog.Info, build func(catalog.Deps) lock.Locker) catalog.Info {
	i.Locker = func(d catalog.Deps) (lock.Locker, error) { return build(d), nil }
	return i
}

// A zkQueue is the recipe in few lines, and one way to get it wrong.
type zkQueue struct {
	zk         *backend.ZooKeeperClient
	watchesOwn bool // off by one: the node that it watches is its own
}

func (l *zkQueue) Acquire(ctx context.Context, key string, _ lock.Options) (lock.Lease, error) {
	path, err := l.zk.Create(ctx, key+"/lock-", nil, zk.FlagEphemeralSequential)
	if errors.Is(err, zk.ErrNoNode) { // the first buyer ever
		if err = l.zk.EnsurePath(ctx, key); err == nil {
			path, err = l.zk.Create(ctx, key+"/lock-", nil, zk.FlagEphemeralSequential)
		}
	}
	if err != nil {
		return nil, err
	}
	own := strings.TrimPrefix(path, key+"/")
	for {
		names, _, err := l.zk.Children(ctx, key)
		if err != nil {
			return nil, err
		}
		slices.Sort(names)
		i := slices.Index(names, own)
		if i < 0 {
			return nil, lock.ErrLost
		}
		if i == 0 {
			break
		}
		if !l.watchesOwn {
			i--
		}
		_, _, gone, err := l.zk.GetW(ctx, key+"/"+names[i])
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		if err == nil {
			err = l.zk.Wait(ctx, "node ahead", gone)
		}
		if err != nil {
			_ = l.zk.Delete(context.WithoutCancel(ctx), path)
			return nil, err
		}
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		err := l.zk.Delete(ctx, path)
		if errors.Is(err, zk.ErrNoNode) {
			return lock.ErrNotHeld
		}
		return err
	}), nil
}
