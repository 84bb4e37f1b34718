package bench

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/go-zookeeper/zk"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
	"go.etcd.io/etcd/client/v3/concurrency"

	"seckill/internal/backend"
	"seckill/internal/catalog"
)

// Foreign are the locks of other libraries, used as their documentation says,
// with our lease. Where a library lets its user choose the pause between two
// attempts, it is ours, too.
func Foreign(s catalog.Settings) []Candidate {
	return []Candidate{
		stockRedsync(s), stockRedislock(s), stockRueidislock(s), stockGetLock(), stockZooKeeper(), stockEtcd(s),
	}
}

// Names of foreign locks.
const (
	Redsync      = "go-redsync/redsync"
	Redislock    = "bsm/redislock"
	Rueidislock  = "rueidis/rueidislock"
	GoZooKeeper  = "go-zookeeper Lock"
	EtcdMutex    = "etcd concurrency.Mutex"
	MySQLGetLock = "MySQL GET_LOCK"
)

func stockRedsync(s catalog.Settings) Candidate {
	return Candidate{
		Name: Redsync, Key: "redsync", Foreign: true, Needs: []backend.Capability{backend.Redis},
		Terms: "its own pause of 50 to 250 ms between two attempts",
		open: func(_ context.Context, p *place) error {
			return p.each(func(in *backend.Instance) (func() (taker, error), error) {
				client := redsync.New(goredis.NewPool(in.Redis))
				take := func(ctx context.Context) (func(context.Context) error, error) {
					m := client.NewMutex(lockName(p.sku), redsync.WithExpiry(s.LockLease), redsync.WithTries(1<<30))
					return func(ctx context.Context) error {
						if ok, err := m.UnlockContext(ctx); err != nil || ok {
							return err
						}
						return errNotHeld
					}, m.LockContext(ctx)
				}
				return func() (taker, error) { return take, nil }, nil
			})
		},
	}
}

func stockRedislock(s catalog.Settings) Candidate {
	return Candidate{
		Name: Redislock, Key: "redislock", Foreign: true, Needs: []backend.Capability{backend.Redis},
		Terms: fmt.Sprintf("LinearBackoff of %v", s.LockPoll),
		open: func(_ context.Context, p *place) error {
			return p.each(func(in *backend.Instance) (func() (taker, error), error) {
				client := redislock.New(in.Redis)
				retry := &redislock.Options{RetryStrategy: redislock.LinearBackoff(s.LockPoll)}
				take := func(ctx context.Context) (func(context.Context) error, error) {
					l, err := client.Obtain(ctx, lockName(p.sku), s.LockLease, retry)
					if err != nil {
						return nil, err
					}
					return func(ctx context.Context) error {
						err := l.Release(ctx)
						if errors.Is(err, redislock.ErrLockNotHeld) {
							return errNotHeld
						}
						return err
					}, nil
				}
				return func() (taker, error) { return take, nil }, nil
			})
		},
	}
}

func stockRueidislock(s catalog.Settings) Candidate {
	return Candidate{
		Name: Rueidislock, Key: "rueidislock", Foreign: true, Needs: []backend.Capability{backend.Redis},
		Terms: "one key, notified by client-side caching",
		open: func(_ context.Context, p *place) error {
			return p.each(func(in *backend.Instance) (func() (taker, error), error) {
				login, err := backend.ParseRedis(in.Config.RedisAddrs[0])
				if err != nil {
					return nil, err
				}
				locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
					KeyMajority: 1, KeyValidity: s.LockLease,
					ClientOption: rueidis.ClientOption{
						InitAddress: []string{login.Host}, Username: login.User, Password: login.Password,
						DialCtxFn: func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
							return p.sent.dialContext(ctx, d, addr, redisRequests)
						},
					},
				})
				if err != nil {
					return nil, err
				}
				p.closers = append(p.closers, func() error { locker.Close(); return nil })
				take := func(ctx context.Context) (func(context.Context) error, error) {
					_, cancel, err := locker.WithContext(ctx, lockName(p.sku))
					return func(context.Context) error { cancel(); return nil }, err
				}
				return func() (taker, error) { return take, nil }, nil
			})
		},
	}
}

func stockGetLock() Candidate {
	return Candidate{
		Name: MySQLGetLock, Key: "get-lock", Foreign: true, Needs: []backend.Capability{backend.RowLocks},
		Terms: "a pinned connection per contender, without a watchdog",
		open: func(ctx context.Context, p *place) error {
			take, free := fmt.Sprintf("SELECT GET_LOCK('%s', 3600)", lockName(p.sku)),
				fmt.Sprintf("SELECT RELEASE_LOCK('%s')", lockName(p.sku))
			return p.each(func(in *backend.Instance) (func() (taker, error), error) {
				db, err := in.LockDB.DB()
				if err != nil {
					return nil, err
				}
				return func() (taker, error) {
					conn, err := db.Conn(ctx)
					if err != nil {
						return nil, err
					}
					p.closers = append(p.closers, conn.Close)
					return func(ctx context.Context) (func(context.Context) error, error) {
						return func(ctx context.Context) error { return one(ctx, conn, free) }, one(ctx, conn, take)
					}, nil
				}, nil
			})
		},
	}
}

func one(ctx context.Context, conn *sql.Conn, query string) error {
	var n sql.NullInt64
	if err := conn.QueryRowContext(ctx, query).Scan(&n); err != nil {
		return err
	}
	if n.Int64 != 1 {
		return fmt.Errorf("%w: %s answered %v", errNotHeld, query, n)
	}
	return nil
}

func stockZooKeeper() Candidate {
	return Candidate{
		Name: GoZooKeeper, Key: "go-zookeeper", Foreign: true, Needs: []backend.Capability{backend.ZooKeeper},
		Terms: "one connection for all contenders of an instance",
		open: func(ctx context.Context, p *place) error {
			return p.each(func(in *backend.Instance) (func() (taker, error), error) {
				conn, _, err := zk.Connect(in.Config.ZooKeeperAddrs, 6*time.Second, zk.WithLogInfo(false),
					zk.WithLogger(silent{}), zk.WithDialer(func(network, addr string, _ time.Duration) (net.Conn, error) {
						return p.sent.dial(network, addr, zooKeeperRequests)
					}))
				if err != nil {
					return nil, err
				}
				p.closers = append(p.closers, func() error { conn.Close(); return nil })
				stop := context.AfterFunc(ctx, conn.Close) // its Lock takes no context
				p.closers = append(p.closers, func() error { stop(); return nil })
				return func() (taker, error) {
					l := zk.NewLock(conn, lockPath(p.sku), zk.WorldACL(zk.PermAll))
					return func(context.Context) (func(context.Context) error, error) {
						return func(context.Context) error { return l.Unlock() }, l.Lock()
					}, nil
				}, nil
			})
		},
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func stockEtcd(s catalog.Settings) Candidate {
	return Candidate{
		Name: EtcdMutex, Key: "etcd-mutex", Foreign: true, Needs: []backend.Capability{backend.Etcd},
		Terms: "a session per contender",
		open: func(_ context.Context, p *place) error {
			return p.each(func(in *backend.Instance) (func() (taker, error), error) {
				return func() (taker, error) {
					session, err := concurrency.NewSession(in.Etcd, concurrency.WithTTL(int(s.LockLease.Seconds())))
					if err != nil {
						return nil, err
					}
					p.closers = append(p.closers, session.Close)
					m := concurrency.NewMutex(session, lockPath(p.sku))
					return func(ctx context.Context) (func(context.Context) error, error) {
						return m.Unlock, m.Lock(ctx)
					}, nil
				}, nil
			})
		},
	}
}
