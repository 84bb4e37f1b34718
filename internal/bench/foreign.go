package bench

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/go-zookeeper/zk"
	"go.etcd.io/etcd/client/v3/concurrency"

	"seckill/internal/backend"
	"seckill/internal/catalog"
)

// Foreign are the locks of other libraries, used as their documentation says,
// with our lease.
func Foreign(s catalog.Settings) []Candidate {
	return []Candidate{stockRedsync(s), stockGetLock(), stockZooKeeper(), stockEtcd(s)}
}

func stockRedsync(s catalog.Settings) Candidate {
	return Candidate{
		Name: "go-redsync/redsync", Key: "redsync", Foreign: true, Needs: []backend.Capability{backend.Redis},
		Terms: "its own pause of 50 to 250 ms between two attempts",
		open: func(_ context.Context, p *place, in *backend.Instance) (func() (taker, error), error) {
			client := redsync.New(goredis.NewPool(in.Redis))
			return every(func(ctx context.Context) (func(context.Context) error, error) {
				m := client.NewMutex(lockName(p.sku), redsync.WithExpiry(s.LockLease), redsync.WithTries(1<<30))
				return func(ctx context.Context) error {
					if ok, err := m.UnlockContext(ctx); err != nil || ok {
						return err
					}
					return errNotHeld
				}, m.LockContext(ctx)
			}), nil
		},
	}
}

func stockGetLock() Candidate {
	return Candidate{
		Name: "MySQL GET_LOCK", Key: "get-lock", Foreign: true, Needs: []backend.Capability{backend.RowLocks},
		Terms: "a pinned connection per contender, without a watchdog",
		open: func(ctx context.Context, p *place, in *backend.Instance) (func() (taker, error), error) {
			take, free := fmt.Sprintf("SELECT GET_LOCK('%s', 3600)", lockName(p.sku)),
				fmt.Sprintf("SELECT RELEASE_LOCK('%s')", lockName(p.sku))
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
		Name: "go-zookeeper Lock", Key: "go-zookeeper", Foreign: true, Needs: []backend.Capability{backend.ZooKeeper},
		Terms: "one connection for all contenders",
		open: func(ctx context.Context, p *place, in *backend.Instance) (func() (taker, error), error) {
			conn, _, err := zk.Connect(in.Config.ZooKeeperAddrs, 6*time.Second, zk.WithLogInfo(false),
				zk.WithLogger(silent{}), zk.WithDialer(func(network, addr string, limit time.Duration) (net.Conn, error) {
					c, err := net.DialTimeout(network, addr, limit)
					return &counted{c, &p.sent}, err
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
		},
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func stockEtcd(s catalog.Settings) Candidate {
	return Candidate{
		Name: "etcd concurrency.Mutex", Key: "etcd-mutex", Foreign: true, Needs: []backend.Capability{backend.Etcd},
		Terms: "a session per contender",
		open: func(_ context.Context, p *place, in *backend.Instance) (func() (taker, error), error) {
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
		},
	}
}

// A counted connection counts ZooKeeper's commands where they are written, for
// a client without a hook for the tap. The library writes each request at once:
// its length, its number and its operation, four bytes each.
type counted struct {
	net.Conn
	commands *atomic.Uint64
}

func (c *counted) Write(p []byte) (int, error) {
	const ping, setWatches = 11, 101
	if len(p) >= 12 {
		op := int32(binary.BigEndian.Uint32(p[8:]))
		if op > 0 && op != ping && op < setWatches { // the others are the session's own
			c.commands.Add(1)
		}
	}
	return c.Conn.Write(p)
}
