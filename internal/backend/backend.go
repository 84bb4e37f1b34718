// Package backend connects to MySQL or MariaDB (or SQLite), Redis, ZooKeeper and etcd. An Instance
// is one set of connection pools and sessions. All its connections are opened by one Dialer, and
// package tap sees all its commands. A service process has one Instance; a test may have several.
package backend

import (
	"cmp"
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

// A Capability is a feature of a backend that a strategy may need. A strategy lists the capabilities that it needs. So
// it need not know whether a backend is a real server or an embedded engine.
type Capability string

const (
	SQL           Capability = "SQL"           // transactions on a SQL database
	RowLocks      Capability = "RowLocks"      // SELECT … FOR UPDATE that locks a row
	Procedures    Capability = "Procedures"    // stored procedures
	SkipLocked    Capability = "SkipLocked"    // SELECT … FOR UPDATE SKIP LOCKED
	ReadCommitted Capability = "ReadCommitted" // transactions that write at READ COMMITTED
	Redis         Capability = "Redis"         // a Redis server or Cluster
	RedisQuorum   Capability = "RedisQuorum"   // five independent Redis nodes
	ZooKeeper     Capability = "ZooKeeper"
	Etcd          Capability = "Etcd"
)

// A Tier says where a backend comes from. Every result shows the tiers of its backends.
type Tier string

const (
	Given    Tier = "given"    // the user has configured the backend's address
	Private  Tier = "private"  // a real server that the lab started for itself
	Embedded Tier = "embedded" // an engine inside a Go process (SQLite, miniredis)
)

// The names of the backends in Config.Tiers and in Status.
const (
	NameMySQL     = "mysql"
	NameRedis     = "redis"
	NameRedlock   = "redlock"
	NameZooKeeper = "zookeeper"
	NameEtcd      = "etcd"
)

// A Config contains the addresses of the backends that an instance uses. A backend without an address is not
// configured. The tag of each address field names its command-line flag.
type Config struct {
	MySQLDSN   string   `name:"mysql-dsn" env:"SECKILL_MYSQL_DSN" placeholder:"DSN" help:"${MySQLDSN}"`
	SQLitePath string   `name:"sqlite-path" env:"SECKILL_SQLITE_PATH" placeholder:"FILE" help:"${SQLitePath}"`
	RedisAddrs []string `name:"redis-addrs" type:"addresses" env:"SECKILL_REDIS_ADDRS" help:"${RedisAddrs}"`

	// RedisSentinels replaces RedisAddrs. The sentinels name the primary server that clients use.
	RedisSentinels []string `name:"redis-sentinels" group:"rare" type:"addresses" env:"SECKILL_REDIS_SENTINELS" help:"${Sentinels}"`

	// RedisRing replaces RedisAddrs. For each key, a hash chooses one of these servers.
	RedisRing      []string `name:"redis-ring" group:"rare" type:"addresses" env:"SECKILL_REDIS_RING" help:"${Ring}"`
	RedlockAddrs   []string `name:"redlock-addrs" type:"addresses" env:"SECKILL_REDLOCK_ADDRS" help:"${RedlockAddrs}"`
	ZooKeeperAddrs []string `name:"zookeeper-addrs" type:"addresses" env:"SECKILL_ZOOKEEPER_ADDRS" help:"${ZooKeeper}"`
	EtcdEndpoints  []string `name:"etcd-endpoints" type:"addresses" env:"SECKILL_ETCD_ENDPOINTS" help:"${Etcd}"`

	// Tiers maps the name of a backend to its tier. A configured backend without an entry is Given.
	Tiers map[string]Tier `kong:"-"`

	Tuning `kong:"-"`
}

// Tuning holds the limits of an instance and the options of its connections.
type Tuning struct {
	// MaxSQLConns limits the connections of each of the two SQL pools. One pool is for purchases,
	// the other for locks. 0 means 32.
	MaxSQLConns int
	// RowLockWait limits how long the SQL server lets a statement wait for a row. It is rounded up
	// to whole seconds, because MySQL counts in seconds. 0 means 3 s.
	RowLockWait time.Duration
	// If CreateNothing is true, Open checks the SQL server without opening a database. Opening
	// would create the database if it is missing.
	CreateNothing bool
	// If WrapConn is not nil, it wraps every new connection. Tests use it to lose replies.
	WrapConn func(net.Conn) net.Conn `json:"-"`
	// ZooKeeperSession is the session timeout that the client requests. 0 means 6 s.
	ZooKeeperSession time.Duration
}

// FlagHelp has the help texts of a Config's flags. Their keys are the names in the fields' tags.
var FlagHelp = map[string]string{
	"MySQLDSN":   "MySQL or MariaDB: user:password@tcp(host:port)/database?tls=true.",
	"SQLitePath": "SQLite file, instead of MySQL.",
	"RedisAddrs": "Redis: host:port or redis://:password@host:port (with TLS rediss://); several addresses form " +
		"a Cluster.",
	"Sentinels": "Redis Sentinels, instead of --redis-addrs, each as in --redis-addrs. The Redis called mymaster " +
		"is used, with the same login.",
	"Ring": "Independent Redis servers, instead of --redis-addrs; a hash of the key chooses the server. " +
		"Give every service the same order.",
	"RedlockAddrs": "Five independent Redis nodes, each as in --redis-addrs.",
	"ZooKeeper":    "ZooKeeper servers: host:port.",
	"Etcd":         "etcd servers: host:port or https://user:password@host:port.",
}

// An Instance is one set of connection pools and sessions. The field of a backend that is not configured is nil.
type Instance struct {
	Config     Config
	Dialer     *Dialer
	DB         *gorm.DB
	LockDB     *gorm.DB // the second pool, for locks; only with MySQL and MariaDB
	Database   string   // name of the MySQL or MariaDB database
	Redis      redis.UniversalClient
	RedisNodes []*redis.Client // clients of the independent nodes of RedlockAddrs
	ZooKeeper  *zkclient.Client
	Etcd       *clientv3.Client
	// Each goroutine that sends a command to a node of a quorum holds Background for reading. It may run longer than
	// its caller, who does not wait for all nodes. Close locks Background, and so waits for these goroutines.
	Background sync.RWMutex

	// Lacks maps a capability to the reason why the instance does not offer it. Open adds the capabilities that a
	// server denies, for example because a user lacks a right.
	Lacks map[Capability]string

	opened
}

// opened holds the versions and functions that openMySQL, openRedis and so on add to an Instance.
type opened struct {
	versions map[string]string // version of each server, by the name of its backend
	closers  []func() error    // Close calls these functions, the last one first
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
func Versions(servers []Status) []string {
	var versions []string
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

// Open connects to every configured backend. The error names the first backend that cannot be used, and its address. If
// a server restarts later, its client reconnects automatically.
func Open(ctx context.Context, c Config) (_ *Instance, err error) {
	in := &Instance{Config: c, Dialer: &Dialer{wrap: c.WrapConn, conns: map[*trackedConn]bool{}},
		Lacks: map[Capability]string{}, opened: opened{versions: map[string]string{}}}
	defer func() {
		if err != nil {
			in.Close()
		}
	}()
	if err := c.Check(); err != nil {
		return nil, err
	}
	for _, k := range Kinds {
		addresses := k.In(c)
		switch {
		case len(addresses) == 0:
		case c.SQLitePath != "" && k.Name == NameMySQL:
			err = in.openSQLite(ctx)
		default:
			err = explainUnreachable(k.Name, showAddresses(addresses), k.open(in, ctx, addresses))
		}
		if err != nil {
			return nil, err
		}
	}
	return in, nil
}

// Check returns an error if the addresses are malformed or contradict each other. It contacts no server.
func (c Config) Check() error {
	for _, k := range Kinds {
		if flags := k.Flags(c); strings.Contains(flags, " and ") {
			return fmt.Errorf("%s exclude each other: give one of them", flags)
		}
	}
	if _, err := ParseMySQL(c.MySQLDSN); c.MySQLDSN != "" && err != nil {
		return err
	}
	for _, address := range c.RedlockAddrs {
		if _, err := ParseRedis(address); err != nil {
			return err
		}
	}
	_, _, errRedis := parseRedisList(slices.Concat(c.RedisAddrs, c.RedisSentinels, c.RedisRing))
	_, _, _, errEtcd := parseEtcd(c.EtcdEndpoints)
	return cmp.Or(errRedis, errEtcd)
}

// Tier returns the tier of the backend with the given name.
func (in *Instance) Tier(name string) Tier {
	if t := in.Config.Tiers[name]; t != "" {
		return t
	}
	if name == NameMySQL && in.Config.SQLitePath != "" {
		return Embedded
	}
	return Given
}

// Close ends every session and pool. Commands that still wait for an answer fail.
func (in *Instance) Close() error {
	var errs []error
	for _, closeOne := range slices.Backward(in.closers) {
		errs = append(errs, closeOne())
	}
	in.closers = nil
	in.Background.Lock() // this wait is short, because the pools are closed and the remaining commands fail
	defer in.Background.Unlock()
	return errors.Join(errs...)
}

// Status asks all configured backends concurrently whether they answer. A backend that does not answer within
// two seconds is reported as not OK.
func (in *Instance) Status(ctx context.Context) []Status {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Second, errors.New("no answer in time"))
	defer cancel()
	var asking sync.WaitGroup
	configured := slices.DeleteFunc(slices.Clone(Kinds), func(k Kind) bool { return len(k.In(in.Config)) == 0 })
	all := make([]Status, len(configured))
	for i, k := range configured {
		asking.Go(func() {
			err := k.ask(in, ctx)
			all[i] = Status{Name: k.Name, Tier: in.Tier(k.Name), Address: showAddresses(k.In(in.Config)),
				Version: in.versions[k.Name], OK: err == nil}
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

// askRedlock returns nil if a majority of the nodes answers. Redlock needs a majority, too.
func (in *Instance) askRedlock(ctx context.Context) error {
	_, err := in.reachMajority(ctx)
	return err
}

func (in *Instance) askZooKeeper(ctx context.Context) error {
	if !in.ZooKeeper.Connected() {
		return errors.New("not connected to any server")
	}
	_, err := in.ZooKeeper.Exists(ctx, "/")
	return err
}

// askEtcd reads a missing key. This succeeds only if a majority of the servers is up.
func (in *Instance) askEtcd(ctx context.Context) error {
	_, err := in.Etcd.Get(ctx, "seckill/status")
	return err
}
