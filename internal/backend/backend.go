// Package backend opens MySQL/MariaDB (or SQLite), Redis, ZooKeeper and etcd
// for one instance of the service: one set of pools and sessions, all of them
// dialled through one Dialer and watched by the tap. A service process has one
// Instance; a test may have several.
package backend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"gorm.io/gorm"

	"seckill/internal/zkclient"
)

// A Capability is what a strategy asks of the backends. Strategies do not know
// tiers: an embedded engine offers fewer capabilities.
type Capability string

const (
	SQL           Capability = "SQL"           // transactions on a SQL database
	RowLocks      Capability = "RowLocks"      // SELECT … FOR UPDATE that locks a row
	Procedures    Capability = "Procedures"    // stored procedures
	SkipLocked    Capability = "SkipLocked"    // SELECT … FOR UPDATE SKIP LOCKED
	ReadCommitted Capability = "ReadCommitted" // transactions that write at READ COMMITTED
	Redis         Capability = "Redis"         // one Redis
	RedisQuorum   Capability = "RedisQuorum"   // five independent Redis nodes
	ZooKeeper     Capability = "ZooKeeper"
	Etcd          Capability = "Etcd"
)

// A Tier says where a backend came from. It is shown wherever a result is.
type Tier string

const (
	Given    Tier = "given"    // its address was configured
	Private  Tier = "private"  // a real server that the lab started for itself
	Embedded Tier = "embedded" // an engine inside a Go process (SQLite, miniredis)
)

// Names of backends, as keys of Config.Tiers and in Status.
const (
	NameMySQL     = "mysql"
	NameRedis     = "redis"
	NameRedlock   = "redlock"
	NameZooKeeper = "zookeeper"
	NameEtcd      = "etcd"
)

// A Config says which backends an instance uses. Empty: not configured. The
// addresses are flags of the commands, which Kinds lists.
type Config struct {
	MySQLDSN   string   `name:"mysql-dsn" env:"SECKILL_MYSQL_DSN" placeholder:"DSN" help:"MySQL or MariaDB: user:password@tcp(host:port)/database?tls=true."`
	SQLitePath string   `name:"sqlite-path" env:"SECKILL_SQLITE_PATH" placeholder:"FILE" help:"SQLite file, instead of MySQL."`
	RedisAddrs []string `name:"redis-addrs" type:"addresses" env:"SECKILL_REDIS_ADDRS" placeholder:"HOST:PORT,..." help:"Redis: host:port or redis://:password@host:port (with TLS rediss://); several are a Cluster."`
	// Instead of RedisAddrs: the primary is the one that these name.
	RedisSentinels []string `name:"redis-sentinels" group:"rare" type:"addresses" env:"SECKILL_REDIS_SENTINELS" placeholder:"HOST:PORT,..." help:"Redis Sentinels, instead of --redis-addrs: host:port or redis://:password@host:port of each. The Redis that they know as mymaster is used, and has the same login."`
	// Instead of RedisAddrs: each has the keys that hash to its number.
	RedisRing      []string `name:"redis-ring" group:"rare" type:"addresses" env:"SECKILL_REDIS_RING" placeholder:"HOST:PORT,..." help:"Independent Redis servers which share the keys by consistent hashing, instead of --redis-addrs. All services must give them in the same order."`
	RedlockAddrs   []string `name:"redlock-addrs" type:"addresses" env:"SECKILL_REDLOCK_ADDRS" placeholder:"HOST:PORT,..." help:"Five independent Redis nodes, each as in --redis-addrs."`
	ZooKeeperAddrs []string `name:"zookeeper-addrs" type:"addresses" env:"SECKILL_ZOOKEEPER_ADDRS" placeholder:"HOST:PORT,..." help:"ZooKeeper servers: host:port."`
	EtcdEndpoints  []string `name:"etcd-endpoints" type:"addresses" env:"SECKILL_ETCD_ENDPOINTS" placeholder:"HOST:PORT,..." help:"etcd servers: host:port or https://user:password@host:port."`

	// Tiers by backend name; a backend that is missing here was given.
	Tiers map[string]Tier `kong:"-"`

	// MaxSQLConns bounds each of the two SQL pools, the business's and the
	// locks'. 0 means 32.
	MaxSQLConns int `kong:"-"`
	// RowLockWait bounds how long the SQL server lets a statement wait for a
	// row; MySQL counts in whole seconds, so it is rounded up. 0 means 3 s.
	RowLockWait time.Duration `kong:"-"`
	// CreateNothing opens no database, which would be created if it were missing.
	CreateNothing bool `kong:"-"`
	// WrapConn wraps every connection that is opened; tests lose replies with
	// it. Nil: none is wrapped.
	WrapConn func(net.Conn) net.Conn `json:"-" kong:"-"`
	// ZooKeeperSession is the session time-out asked for. 0 means 6 s.
	ZooKeeperSession time.Duration `kong:"-"`
}

// An Instance is one set of pools and sessions. Backends that are not configured
// are nil.
type Instance struct {
	Config     Config
	Dialer     *Dialer
	DB         *gorm.DB
	LockDB     *gorm.DB // MySQL and MariaDB only: a pool for locks, beside the business's
	Database   string   // its name there
	Redis      redis.UniversalClient
	RedisNodes []*redis.Client // the independent nodes of RedlockAddrs
	ZooKeeper  *zkclient.Client
	Etcd       *clientv3.Client
	// Background is held for reading by a command that may outlive what it was sent for: a
	// quorum does not wait for all of its nodes. Close waits for such.
	Background sync.RWMutex

	// Lacks has the capabilities that a server denied when it was asked at the start, and why.
	Lacks map[Capability]string

	versions map[string]string
	closers  []func() error
}

// A Status is the state of one configured backend.
type Status struct {
	Name    string `json:"name"`
	Tier    Tier   `json:"tier"`
	Address string `json:"address"`
	Version string `json:"version"`
	OK      bool   `json:"ok"`
	Error   string `json:"error,omitempty"`
}

// Versions returns the version and the tier of each server, without duplicates.
func Versions(servers []Status) (versions []string) {
	for _, s := range servers {
		text := s.Version
		if text != "" && s.Tier != "" {
			text = fmt.Sprintf("%s (%s)", s.Version, s.Tier)
		}
		if text != "" && !slices.Contains(versions, text) {
			versions = append(versions, text)
		}
	}
	return versions
}

// Open connects to every configured backend and fails with the name and the
// address of the first that cannot be reached. After a success each client
// reconnects by itself whenever its server comes back.
func Open(ctx context.Context, c Config) (_ *Instance, err error) {
	in := &Instance{Config: c, Dialer: &Dialer{wrap: c.WrapConn}, Lacks: map[Capability]string{}, versions: map[string]string{}}
	defer func() {
		if err != nil {
			in.Close()
		}
	}()
	if err := c.Check(); err != nil {
		return nil, err
	}
	for _, open := range []func(context.Context) error{
		in.openMySQL, in.openSQLite, in.openRedis, in.openRedlock, in.openZooKeeper, in.openEtcd,
	} {
		if err := open(ctx); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// Check finds what is wrong with c before any server is asked.
func (c Config) Check() error {
	for _, k := range Kinds {
		if flags := k.Flags(c); strings.Contains(flags, " and ") {
			return fmt.Errorf("%s are given: give one of them", flags)
		}
	}
	if _, err := ParseMySQL(c.MySQLDSN); c.MySQLDSN != "" && err != nil {
		return err
	}
	for _, address := range slices.Concat(c.RedisAddrs, c.RedisSentinels, c.RedisRing, c.RedlockAddrs) {
		if _, err := ParseRedis(address); err != nil {
			return err
		}
	}
	return nil
}

// Tier of a backend by name.
func (in *Instance) Tier(name string) Tier {
	if t := in.Config.Tiers[name]; t != "" {
		return t
	}
	if name == NameMySQL && in.Config.SQLitePath != "" {
		return Embedded
	}
	return Given
}

// Kill simulates the death of this instance's process: its sockets close without
// notice to the servers, and every later command fails. Close must still be
// called.
func (in *Instance) Kill() { in.Dialer.Kill() }

// Close ends every session and pool, and what still waits for an answer there.
func (in *Instance) Close() error {
	var errs []error
	for _, closeOne := range slices.Backward(in.closers) {
		errs = append(errs, closeOne())
	}
	in.closers = nil
	in.Background.Lock() // the pools are closed, so what is left fails
	defer in.Background.Unlock()
	return errors.Join(errs...)
}

// statusTimeout bounds the wait for each backend.
const statusTimeout = 2 * time.Second

// Status asks all configured backends concurrently whether they answer, and waits for
// so long at most.
func (in *Instance) Status(ctx context.Context) []Status {
	ctx, cancel := context.WithTimeoutCause(ctx, statusTimeout, errors.New("it has not answered in time"))
	defer cancel()
	var asking sync.WaitGroup
	configured := slices.DeleteFunc(slices.Clone(Kinds), func(k Kind) bool { return len(k.In(in.Config)) == 0 })
	all := make([]Status, len(configured))
	for i, k := range configured {
		asking.Go(func() {
			err := k.ask(in, ctx)
			all[i] = Status{Name: k.Name, Tier: in.Tier(k.Name), Address: showAddresses(k.In(in.Config)), Version: in.versions[k.Name], OK: err == nil}
			if err != nil {
				all[i].Error = err.Error()
			}
		})
	}
	asking.Wait()
	return all
}

func (in *Instance) askSQL(ctx context.Context) error {
	var one int
	return in.DB.WithContext(ctx).Raw("SELECT 1").Scan(&one).Error
}

// askRedlock needs the majority that the lock needs.
func (in *Instance) askRedlock(ctx context.Context) error {
	_, err := in.reachMajority(ctx)
	return err
}

func (in *Instance) askZooKeeper(ctx context.Context) error {
	if !in.ZooKeeper.Connected() {
		return errors.New("there is no connection to any server")
	}
	_, err := in.ZooKeeper.Exists(ctx, "/")
	return err
}

// askEtcd reads a missing key, which takes a quorum.
func (in *Instance) askEtcd(ctx context.Context) error {
	_, err := in.Etcd.Get(ctx, "seckill/status")
	return err
}
