package redislock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// forgetful is redis-fenced without the number to surpass: plain INCR.
func forgetful() catalog.Info {
	i := RedisFenced
	i.Locker = func(d catalog.Deps) (lock.Locker, error) {
		l, err := RedisFenced.Locker(d)
		return &incrementing{l}, err
	}
	return i
}

type incrementing struct{ lock.Locker }

func (l *incrementing) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	o.Above = 0
	return l.Locker.Acquire(ctx, key, o)
}

// A shop sells one SKU behind a Redis that can be lost.
type shop struct {
	*testing.T
	seckill.Strategy
	store *ledger.Store
	sku   int64
	users int64
}

var lastShop atomic.Int64

func openShop(t *testing.T, info catalog.Info, pair *lab.Ensemble) *shop {
	t.Helper()
	config := pair.Config(labtest.Config(t, backend.SQL), nil)
	in, err := backend.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	if err := ledger.Migrate(t.Context(), in.DB); err != nil {
		t.Fatal(err)
	}
	s := &shop{T: t, store: ledger.NewStore(in.DB), sku: 77_000 + lastShop.Add(1)}
	s.Strategy, err = catalog.Build(info, catalog.Deps{Instance: in, Ledger: s.store,
		Settings: catalog.Settings{LockTimes: catalog.LockTimes{LockWait: 20 * time.Second, LockLease: time.Minute}}})
	if err == nil {
		_, err = s.store.Reset(t.Context(), s.sku, "", 100)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shop) buy(ctx context.Context) error {
	s.users++
	_, err := s.Deduct(ctx, seckill.Purchase{SKU: s.sku, User: s.users, Quantity: 1, RequestID: fmt.Sprint("r", s.users)})
	return err
}

func (s *shop) sells(n int) {
	s.Helper()
	for range n {
		if err := s.buy(s.Context()); err != nil {
			s.Fatal(err)
		}
	}
}

func (s *shop) has(num, fence int64) {
	s.Helper()
	if row, err := s.store.SKU(s.Context(), s.sku); err != nil || row.Num != num || row.Fence != fence {
		s.Errorf("%d are left and the fence is %d, %v; want %d and %d", row.Num, row.Fence, err, num, fence)
	}
}

// losses of what Redis knows: all of it, or what was not replicated.
var losses = []struct {
	name         string
	before, lose func(*testing.T, *lab.Ensemble)
	knows        int64 // how many of the grants it still knows
}{
	{"restarted without its data", nil, func(t *testing.T, pair *lab.Ensemble) {
		if err := primary(t, pair).Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}, 0},
	{"failed over to a replica that lags", func(t *testing.T, pair *lab.Ensemble) {
		if err := pair.Lag(t.Context()); err != nil {
			t.Fatal(err)
		}
	}, func(t *testing.T, pair *lab.Ensemble) {
		if err := pair.Lose(t.Context(), primary(t, pair)); err != nil {
			t.Fatal(err)
		}
	}, 2},
}

func primary(t *testing.T, pair *lab.Ensemble) *lab.Process {
	t.Helper()
	p, err := pair.Node(t.Context(), lab.Primary)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Redis loses count, and the next buyer gets a greater token all the same.
// With INCR alone the row refuses every buyer until the count has caught up.
func TestTokenIsNotTurnedBack(t *testing.T) {
	each := func(t *testing.T, info catalog.Info, check func(s *shop, knows int64)) {
		pair, err := labtest.Start(t, backend.SQL).Ensemble(t.Context(), backend.NameRedis)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range losses {
			t.Run(l.name, func(t *testing.T) {
				give, err := pair.Take(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer give()
				s := openShop(t, info, pair)
				s.sells(2)
				if l.before != nil {
					l.before(t, pair)
				}
				s.sells(3)
				s.has(95, 5)
				l.lose(t, pair)
				check(s, l.knows)
			})
		}
	}
	t.Run(RedisFenced.Name, func(t *testing.T) {
		each(t, RedisFenced, func(s *shop, _ int64) {
			s.sells(2)
			s.has(93, 7)
		})
	})
	t.Run("mutant: INCR alone", func(t *testing.T) {
		each(t, forgetful(), func(s *shop, knows int64) {
			for n := knows; n < 5; n++ {
				if err := s.buy(s.Context()); !errors.Is(err, seckill.ErrConflict) {
					s.Errorf("token %d: %v, want that the row refuses it", n+1, err)
				}
			}
			s.has(95, 5)
			s.sells(1)
			s.has(94, 6)
		})
	})
}

// A holder has its token and stands before a command when Redis is restarted
// without its data: the lock is free, and the next holder may get the same
// token. Of the two, whoever is later at the row's fence is refused.
func TestTwoHoldersAfterARestart(t *testing.T) {
	pair, err := labtest.Start(t, backend.SQL).Ensemble(t.Context(), backend.NameRedis)
	if err != nil {
		t.Fatal(err)
	}
	give, err := pair.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer give()
	for at, fence := range map[string]int64{
		"UPDATE stock SET fence": 3, // both have 3
		"SELECT num":             4,
		"BEGIN":                  4,
	} {
		t.Run(at, func(t *testing.T) {
			s := openShop(t, RedisFenced, pair)
			s.sells(2)
			g := &gate{at: at, reached: make(chan struct{}), open: make(chan struct{})}
			told := make(chan error, 1)
			go func() { told <- s.buy(tap.With(t.Context(), g)) }()
			<-g.reached
			if err := primary(t, pair).Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			next := &shop{T: t, Strategy: s.Strategy, store: s.store, sku: s.sku, users: 50}
			next.sells(1)
			close(g.open)
			if err := <-told; !errors.Is(err, seckill.ErrConflict) {
				t.Errorf("the earlier holder was told %v, want a conflict", err)
			}
			s.has(97, fence)
			next.sells(1)
			s.has(96, fence+1)
		})
	}
}

// A gate holds a buyer before the first command that begins so.
type gate struct {
	at            string
	reached, open chan struct{}
	once          sync.Once
}

func (g *gate) Before(_ context.Context, c *tap.Command) error {
	if strings.HasPrefix(c.Text, g.at) {
		g.once.Do(func() {
			close(g.reached)
			<-g.open
		})
	}
	return nil
}

func (*gate) After(_ context.Context, _ *tap.Command, err error) error { return err }

// Tokens grow with every grant, from the greater of the two numbers; a key that
// somebody else has, of whatever type, is not taken and not counted.
func TestGrantsAreCounted(t *testing.T) {
	in := labtest.Instance(t, backend.Redis)
	l, err := RedisFenced.Locker(catalog.Deps{Instance: in, Settings: catalog.Settings{LockTimes: catalog.LockTimes{LockPoll: time.Millisecond, LockLease: time.Minute}}})
	if err != nil {
		t.Fatal(err)
	}
	const key = "seckill:lock:counted"
	in.Redis.Del(t.Context(), key, grantsOf(key))
	take := func(above uint64) (uint64, error) {
		lease, err := l.Acquire(t.Context(), key, lock.Options{Above: above})
		if err != nil {
			return 0, err
		}
		return lease.Fence(), lease.Release(t.Context())
	}
	for i, c := range []struct{ above, want uint64 }{{0, 1}, {0, 2}, {1, 3}, {3, 4}, {10, 11}, {0, 12}, {1 << 52, 1<<52 + 1}, {7, 1<<52 + 2}} {
		if got, err := take(c.above); err != nil || got != c.want {
			t.Errorf("grant %d, above %d: %d, %v; want %d", i+1, c.above, got, err, c.want)
		}
	}
	if err := in.Redis.LPush(t.Context(), key, "somebody's").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := take(0); !errors.Is(err, seckill.ErrBusy) {
		t.Errorf("a list of that name: %v, want busy", err)
	}
	in.Redis.Del(t.Context(), key)
	in.Redis.Set(t.Context(), grantsOf(key), "no number", 0)
	if _, err := take(0); !errors.Is(err, seckill.ErrUnavailable) || in.Redis.Exists(t.Context(), key).Val() != 0 {
		t.Errorf("the count is no number: %v, and the lock is left behind: %d", err, in.Redis.Exists(t.Context(), key).Val())
	}
	in.Redis.Del(t.Context(), grantsOf(key))
}
