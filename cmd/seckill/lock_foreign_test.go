//go:build unix

package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncpool "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	_ "github.com/go-sql-driver/mysql"
	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
)

// A foreigner is a client of another make. It takes the key at once and says
// how to give it back, or returns errTaken.
type foreigner struct {
	who  string
	take func(m meeting) (free func() error, err error)
}

// A meeting is of ours and a foreign client on one key.
type meeting struct {
	testing.TB
	backend.Config
	key string
}

var errTaken = errors.New("another has the lock")

// granted is errTaken unless the lock was granted, or given back by its holder.
func granted(ok bool, err error) error {
	if err == nil && !ok {
		return errTaken
	}
	return err
}

// foreigners are the clients that know a lock's recipe, by strategy.
var foreigners = map[string][]foreigner{
	"redis-setnx":           {setNX(anything), redsyncClient},
	"redis-setnx-expire":    {setNX(anything), redsyncClient},
	"redis-setnx-timestamp": {setNX(itsEnd), redsyncClient},
	"redis-getset":          {setNX(itsEnd), redsyncClient},
	"redis-set-nx-px":       {setNX(anything), redsyncClient},
	"redis-renew":           {setNX(anything), redsyncClient},
	"redis-token":           {setNX(anything), redsyncClient},
	"redis-lua":             {setNX(anything), redsyncClient},
	"redis-registry":        {setNX(anything), redsyncClient},
	"redis-watchdog":        {redisson, setNX(anything)},
	"redis-blpop":           {setNX(anything), redsyncClient},
	"redis-multi-lock":      {setNX(anything), redsyncClient},
	"redsync":               {redsyncClient, setNX(anything)},
	"redlock":               {redlockClient},
	"redis-fenced":          {setNX(anything), redsyncClient},
	"zk":                    {goZooKeeper, curator},
	"zk-norecheck":          {goZooKeeper, curator},
	"zk-herd":               {goZooKeeper, curator},
	"zk-node":               {oneNode},
	"zk-fenced":             {goZooKeeper, curator},
	"etcd":                  {concurrencyMutex, etcdctl},
	"etcd-node":             {oneKey},
	"etcd-fenced":           {concurrencyMutex, etcdctl},
	"get-lock":              {getLock},
	"lock-row":              {lockedRow},
	"lock-insert":           {insertedRow},
	"lock-insert-plain":     {insertedRow},
	"lock-insert-by-name":   {insertedRow},
	"lock-table-v1":         {lockRecord},
	"lock-table-central":    {lockRecord},
	"lock-table-segmented":  {lockRecord},
}

// Ours and a foreign client of the same recipe exclude each other on the same
// key, whichever comes first.
func TestLockAmongForeigners(t *testing.T) {
	for _, info := range locks(t) {
		if info.Broken() {
			continue // it does not even exclude itself
		}
		if len(foreigners[info.Name]) == 0 {
			t.Errorf("%s: no foreign client is tried with it", info.Name)
		}
		for _, f := range foreigners[info.Name] {
			t.Run(info.Name+"/"+f.who, func(t *testing.T) {
				t.Parallel()
				lockScripts(t, info, f.commands(labtest.Config(t, info.Needs...)), "foreign")
			})
		}
	}
}

// commands are takes, which takes the key of the script, and frees.
func (f foreigner) commands(c backend.Config) map[string]scriptCommand {
	var free func() error
	return map[string]scriptCommand{
		"takes": func(ts *testscript.TestScript, neg bool, _ []string) {
			var err error
			if free, err = f.take(meeting{of(ts), c, ts.Getenv("KEY")}); !neg || !errors.Is(err, errTaken) {
				ts.Check(err)
			}
			if neg && err == nil {
				ts.Fatalf("%s took the lock that was ours", f.who)
			}
		},
		"frees": func(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(free()) },
	}
}

func anything() string { return rand.Text() }
func itsEnd() string   { return strconv.FormatInt(time.Now().Add(time.Minute).UnixMilli(), 10) }

func redisAt(t testing.TB, addr string) *redis.Client {
	a, err := backend.ParseRedis(addr)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(a.Options())
	t.Cleanup(func() { c.Close() })
	return c
}

// setNX is the recipe that everyone knows: SET key value NX PX, and DEL.
func setNX(value func() string) foreigner {
	return foreigner{"SET NX PX", func(m meeting) (func() error, error) {
		r := redisAt(m, m.RedisAddrs[0])
		free := func() error {
			n, err := r.Del(m.Context(), m.key).Result()
			return granted(n == 1, err)
		}
		return free, granted(r.SetNX(m.Context(), m.key, value(), time.Minute).Result())
	}}
}

var redsyncClient = foreigner{"redsync", func(m meeting) (func() error, error) { return m.withRedsync(m.RedisAddrs[:1]) }}
var redlockClient = foreigner{"redsync", func(m meeting) (func() error, error) { return m.withRedsync(m.RedlockAddrs) }}

func (m meeting) withRedsync(addrs []string) (free func() error, err error) {
	var pools []redsyncpool.Pool
	for _, addr := range addrs {
		pools = append(pools, goredis.NewPool(redisAt(m, addr)))
	}
	l := redsync.New(pools...).NewMutex(m.key, redsync.WithExpiry(time.Minute), redsync.WithTries(1))
	return func() error { return granted(l.Unlock()) }, granted(l.Lock() == nil, nil)
}

// redisson is its RLock as it looks in Redis: a hash of the owner and its
// depth, and a channel on which the end is told.
var redisson = foreigner{"Redisson's hash", func(m meeting) (func() error, error) {
	r, owner := redisAt(m, m.RedisAddrs[0]), rand.Text()+":1"
	free := func() error {
		return granted(r.Eval(m.Context(), `if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return 0 end
			redis.call('del', KEYS[1]) redis.call('publish', KEYS[2], 0) return 1`,
			[]string{m.key, "redisson_lock__channel:{" + m.key + "}"}, owner).Bool())
	}
	ok, err := r.Eval(m.Context(), `if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
		redis.call('hincrby', KEYS[1], ARGV[2], 1) redis.call('pexpire', KEYS[1], ARGV[1]) return 1 end return 0`,
		[]string{m.key}, time.Minute.Milliseconds(), owner).Bool()
	if err != nil && strings.Contains(err.Error(), "WRONGTYPE") {
		return nil, errTaken
	}
	return free, granted(ok, err)
}}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func (m meeting) zooKeeper() *zk.Conn {
	conn, _, err := zk.Connect(m.ZooKeeperAddrs, 10*time.Second, zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(conn.Close)
	return conn
}

// makePath makes the node of a path, and those above it.
func (m meeting) makePath(conn *zk.Conn, path string) {
	for i := 1; i <= len(path); i++ {
		if i == len(path) || path[i] == '/' {
			if _, err := conn.Create(path[:i], nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
				m.Fatal(err)
			}
		}
	}
}

var goZooKeeper = foreigner{"zk.NewLock", func(m meeting) (func() error, error) {
	conn := m.zooKeeper()
	l := zk.NewLock(conn, m.key, zk.WorldACL(zk.PermAll))
	got := make(chan error, 1)
	go func() { got <- l.Lock() }()
	return l.Unlock, m.inTheQueue(got, func() int {
		names, _, err := conn.Children(m.key)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			m.Fatal(err)
		}
		return len(names)
	}, conn.Close)
}}

// inTheQueue is for clients that can only wait. If one has not got the lock
// although there has been a queue for a while, it has to leave.
func (m meeting) inTheQueue(got <-chan error, length func() int, leave func()) error {
	var queue time.Time
	for end := time.Now().Add(patience); time.Now().Before(end); {
		select {
		case err := <-got:
			return err
		case <-time.After(10 * time.Millisecond):
		}
		switch {
		case length() >= 2 && queue.IsZero():
			queue = time.Now()
		case !queue.IsZero() && time.Since(queue) > 300*time.Millisecond:
			leave()
			return errTaken
		}
	}
	return fmt.Errorf("neither in the queue nor first in %v", patience)
}

// curator names its nodes otherwise; the number behind them counts.
var curator = foreigner{"Curator's names", func(m meeting) (func() error, error) {
	conn := m.zooKeeper()
	m.makePath(conn, m.key)
	own, err := conn.Create(m.key+"/_c_0b1e3c54-3a2f-4d3c-9c5e-5f6a7b8c9d0e-lock-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		return nil, err
	}
	remove := func() error { return conn.Delete(own, -1) }
	names, _, err := conn.Children(m.key)
	for _, name := range names {
		if name[len(name)-10:] < own[len(own)-10:] {
			return nil, errors.Join(errTaken, remove())
		}
	}
	return remove, err
}}

var oneNode = foreigner{"one ephemeral node", func(m meeting) (func() error, error) {
	conn := m.zooKeeper()
	m.makePath(conn, m.key[:strings.LastIndexByte(m.key, '/')])
	_, err := conn.Create(m.key, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	if errors.Is(err, zk.ErrNodeExists) {
		return nil, errTaken
	}
	return func() error { return conn.Delete(m.key, -1) }, err
}}

func (m meeting) etcd() *clientv3.Client {
	e, err := clientv3.New(clientv3.Config{Endpoints: m.EtcdEndpoints, DialTimeout: 5 * time.Second})
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() { e.Close() })
	return e
}

var concurrencyMutex = foreigner{"concurrency.Mutex", func(m meeting) (func() error, error) {
	s, err := concurrency.NewSession(m.etcd())
	if err != nil {
		return nil, err
	}
	m.Cleanup(func() { s.Close() })
	l := concurrency.NewMutex(s, m.key)
	if err = l.TryLock(m.Context()); errors.Is(err, concurrency.ErrLocked) {
		return nil, errTaken
	}
	return func() error { return l.Unlock(m.Context()) }, err
}}

// etcdctl is the program, from Debian's etcd-client or etcd's own releases.
var etcdctl = foreigner{"etcdctl lock", func(m meeting) (func() error, error) {
	path, err := exec.LookPath("etcdctl")
	if err != nil {
		return nil, fmt.Errorf("this test needs etcdctl: run seckill deps --tests (%w)", err)
	}
	e := m.etcd()
	cmd := exec.Command(path, "--endpoints", strings.Join(m.EtcdEndpoints, ","), "lock", m.key)
	cmd.Env = append(cmd.Environ(), "ETCDCTL_API=3")
	cmd.SysProcAttr = labtest.Together()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	got := make(chan error, 1)
	go func() { // it prints its key when it has the lock
		if s := bufio.NewScanner(out); s.Scan() {
			got <- nil
		}
	}()
	end := func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	}
	m.Cleanup(func() { _ = cmd.Process.Kill() })
	return func() error { end(); return nil }, m.inTheQueue(got, func() int {
		r, err := e.Get(m.Context(), m.key+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil {
			m.Fatal(err)
		}
		return int(r.Count)
	}, end)
}}

var oneKey = foreigner{"one key", func(m meeting) (func() error, error) {
	e := m.etcd()
	lease, err := e.Grant(m.Context(), 60)
	if err != nil {
		return nil, err
	}
	r, err := e.Txn(m.Context()).If(clientv3.Compare(clientv3.CreateRevision(m.key), "=", 0)).
		Then(clientv3.OpPut(m.key, "foreign", clientv3.WithLease(lease.ID))).Commit()
	if err != nil {
		return nil, err
	}
	return func() error {
		r, err := e.Delete(m.Context(), m.key)
		return granted(err == nil && r.Deleted == 1, err)
	}, granted(r.Succeeded, nil)
}}

// mysql is a session of a plain client.
func (m meeting) mysql() *sql.Conn {
	db, err := sql.Open("mysql", m.MySQLDSN)
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() { db.Close() })
	conn, err := db.Conn(m.Context())
	if err != nil {
		m.Fatal(err)
	}
	return conn
}

// tables is a session after a lock has made its tables.
func (m meeting) tables(lock string) *sql.Conn {
	cmd := exec.Command("seckill", "lock", lock, "tables", "--", "true")
	cmd.Env = append(os.Environ(), inEnvironment(m.Config)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		m.Fatalf("%v: %v %s", cmd.Args, err, out)
	}
	return m.mysql()
}

// changes executes a statement and reports whether it has changed a row.
func (m meeting) changes(conn *sql.Conn, query string, args ...any) (bool, error) {
	r, err := conn.ExecContext(context.WithoutCancel(m.Context()), query, args...)
	if err != nil {
		return false, fmt.Errorf("%s: %w", query, err)
	}
	n, err := r.RowsAffected()
	return n > 0, err
}

var getLock = foreigner{"GET_LOCK", func(m meeting) (func() error, error) {
	conn := m.mysql()
	asks := func(query string) error {
		got := false
		err := conn.QueryRowContext(m.Context(), query, m.key).Scan(&got)
		return granted(got, err)
	}
	return func() error { return asks("SELECT RELEASE_LOCK(?)") }, asks("SELECT GET_LOCK(?, 0)")
}}

// lockedRow makes its row only if it is not there: an INSERT would wait for
// the holder of the row.
var lockedRow = foreigner{"FOR UPDATE", func(m meeting) (func() error, error) {
	conn := m.tables("lock-row")
	there := false
	if err := conn.QueryRowContext(m.Context(), "SELECT COUNT(*) FROM lock_row WHERE name = ?", m.key).Scan(&there); err != nil {
		return nil, err
	}
	if !there {
		if _, err := m.changes(conn, "INSERT IGNORE INTO lock_row (name) VALUES (?)", m.key); err != nil {
			return nil, err
		}
	}
	for _, begin := range []string{"SET innodb_lock_wait_timeout = 1", "BEGIN"} {
		if _, err := m.changes(conn, begin); err != nil {
			return nil, err
		}
	}
	if name := ""; conn.QueryRowContext(m.Context(), "SELECT name FROM lock_row WHERE name = ? FOR UPDATE", m.key).Scan(&name) != nil {
		_, err := m.changes(conn, "ROLLBACK")
		return nil, errors.Join(errTaken, err)
	}
	return func() error { _, err := m.changes(conn, "COMMIT"); return err }, nil
}}

var insertedRow = foreigner{"INSERT", func(m meeting) (func() error, error) {
	conn := m.tables("lock-insert")
	return func() error {
			return granted(m.changes(conn, "DELETE FROM distributed_lock WHERE name = ? AND owner = 'foreign'", m.key))
		}, granted(m.changes(conn,
			"INSERT IGNORE INTO distributed_lock (name, owner, expire) VALUES (?, 'foreign', NOW(6) + INTERVAL 60 SECOND)", m.key))
}}

// lockRecord has one name in B's table; what is locked before it is a matter
// between those who come at the same moment.
var lockRecord = foreigner{"the lock's record", func(m meeting) (func() error, error) {
	conn := m.tables("lock-table-central")
	for _, first := range []string{"SET time_zone = '+00:00'", "INSERT IGNORE INTO lock_record (name) VALUES ('" + m.key + "')"} {
		if _, err := m.changes(conn, first); err != nil {
			return nil, err
		}
	}
	return func() error {
			return granted(m.changes(conn, "UPDATE lock_record SET status = 0 WHERE name = ?", m.key))
		}, granted(m.changes(conn, "UPDATE lock_record SET status = 1, deadline = NOW(6) + INTERVAL 60 SECOND "+
			"WHERE name = ? AND (status <> 1 OR deadline < NOW(6))", m.key))
}}
