//go:build unix

package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"database/sql"
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

// A foreigner is a client of somebody else's making. It takes key at once and
// says how to give it back; nil: somebody has it.
type foreigner struct {
	who  string
	take func(t testing.TB, c backend.Config, key string) (free func())
}

// foreigners are those who know a lock's recipe, by strategy.
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
// key, whoever comes first.
func TestLockAmongForeigners(t *testing.T) {
	for _, info := range locks(t) {
		if info.Broken() {
			continue // it does not even exclude itself
		}
		if len(foreigners[info.Name]) == 0 {
			t.Errorf("%s: nobody else's client is tried with it", info.Name)
		}
		for _, f := range foreigners[info.Name] {
			t.Run(info.Name+"/"+f.who, func(t *testing.T) {
				t.Parallel()
				lockScripts(t, info, f.commands(labtest.Only(labtest.Start(t, info.Needs...).Config(), info.Needs...)), "foreign")
			})
		}
	}
}

// commands are takes, which takes the key of the script, and frees.
func (f foreigner) commands(c backend.Config) map[string]scriptCommand {
	var free func()
	return map[string]scriptCommand{
		"takes": func(ts *testscript.TestScript, neg bool, _ []string) {
			if free = f.take(of(ts), c, ts.Getenv("KEY")); (free == nil) != neg {
				ts.Fatalf("%s took %s: %v", f.who, ts.Getenv("KEY"), free != nil)
			}
		},
		"frees": func(*testscript.TestScript, bool, []string) { free() },
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

// setNX is what everybody writes himself: SET key value NX PX, and DEL.
func setNX(value func() string) foreigner {
	return foreigner{"SET NX PX", func(t testing.TB, c backend.Config, key string) func() {
		r := redisAt(t, c.RedisAddrs[0])
		ok, err := r.SetNX(t.Context(), key, value(), time.Minute).Result()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return nil
		}
		return func() {
			if n, err := r.Del(t.Context(), key).Result(); n != 1 || err != nil {
				t.Errorf("our lock was taken away: %d, %v", n, err)
			}
		}
	}}
}

var redsyncClient = foreigner{"redsync", func(t testing.TB, c backend.Config, key string) func() {
	return withRedsync(t, key, c.RedisAddrs[:1])
}}

var redlockClient = foreigner{"redsync", func(t testing.TB, c backend.Config, key string) func() {
	return withRedsync(t, key, c.RedlockAddrs)
}}

func withRedsync(t testing.TB, key string, addrs []string) func() {
	var pools []redsyncpool.Pool
	for _, addr := range addrs {
		pools = append(pools, goredis.NewPool(redisAt(t, addr)))
	}
	m := redsync.New(pools...).NewMutex(key, redsync.WithExpiry(time.Minute), redsync.WithTries(1))
	if m.Lock() != nil {
		return nil
	}
	return func() {
		if ok, err := m.Unlock(); !ok || err != nil {
			t.Errorf("our lock was taken away: %v, %v", ok, err)
		}
	}
}

// redisson is its RLock as it looks in Redis: a hash of the owner and his
// depth, and a channel on which the end is told.
var redisson = foreigner{"Redisson's hash", func(t testing.TB, c backend.Config, key string) func() {
	r, owner := redisAt(t, c.RedisAddrs[0]), rand.Text()+":1"
	taken, err := r.Eval(t.Context(), `if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
		redis.call('hincrby', KEYS[1], ARGV[2], 1) redis.call('pexpire', KEYS[1], ARGV[1]) return 1 end return 0`,
		[]string{key}, time.Minute.Milliseconds(), owner).Int()
	if err != nil && !strings.Contains(err.Error(), "WRONGTYPE") {
		t.Fatal(err)
	}
	if taken == 0 {
		return nil
	}
	return func() {
		n, err := r.Eval(t.Context(), `if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return 0 end
			redis.call('del', KEYS[1]) redis.call('publish', KEYS[2], 0) return 1`,
			[]string{key, "redisson_lock__channel:{" + key + "}"}, owner).Int()
		if n != 1 || err != nil {
			t.Errorf("our lock was taken away: %d, %v", n, err)
		}
	}
}}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func zooKeeperAt(t testing.TB, c backend.Config) *zk.Conn {
	conn, _, err := zk.Connect(c.ZooKeeperAddrs, 10*time.Second, zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// goZooKeeper's Lock can only wait. So it is let wait, and if it has not got
// the lock although somebody else is in the queue, it is told to go.
var goZooKeeper = foreigner{"zk.NewLock", func(t testing.TB, c backend.Config, key string) func() {
	conn := zooKeeperAt(t, c)
	l := zk.NewLock(conn, key, zk.WorldACL(zk.PermAll))
	got := make(chan error, 1)
	go func() { got <- l.Lock() }()
	return inTheQueue(t, got, func() int {
		names, _, err := conn.Children(key)
		if err != nil && err != zk.ErrNoNode {
			t.Fatal(err)
		}
		return len(names)
	}, func() {
		if err := l.Unlock(); err != nil {
			t.Errorf("our lock was taken away: %v", err)
		}
	}, conn.Close)
}}

// inTheQueue waits until a lock was got, or has not been although there has
// been a queue for a while.
func inTheQueue(t testing.TB, got <-chan error, length func() int, free, leave func()) func() {
	t.Helper()
	var queue time.Time
	for end := time.Now().Add(patience); ; {
		select {
		case err := <-got:
			if err != nil {
				t.Fatal(err)
			}
			return free
		case <-time.After(10 * time.Millisecond):
		}
		switch {
		case length() >= 2 && queue.IsZero():
			queue = time.Now()
		case !queue.IsZero() && time.Since(queue) > 300*time.Millisecond:
			leave()
			return nil
		case time.Now().After(end):
			t.Fatalf("neither in the queue nor first in %v", patience)
		}
	}
}

// curator names its nodes otherwise; the number behind them counts.
var curator = foreigner{"Curator's names", func(t testing.TB, c backend.Config, key string) func() {
	conn := zooKeeperAt(t, c)
	for i := 1; i <= len(key); i++ {
		if i == len(key) || key[i] == '/' {
			if _, err := conn.Create(key[:i], nil, 0, zk.WorldACL(zk.PermAll)); err != nil && err != zk.ErrNodeExists {
				t.Fatal(err)
			}
		}
	}
	own, err := conn.Create(fmt.Sprintf("%s/_c_%s-lock-", key, uuid()), nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		t.Fatal(err)
	}
	remove := func() {
		if err := conn.Delete(own, -1); err != nil {
			t.Errorf("our node was taken away: %v", err)
		}
	}
	names, _, err := conn.Children(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if name[len(name)-10:] < own[len(own)-10:] {
			remove()
			return nil
		}
	}
	return remove
}}

func uuid() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

var oneNode = foreigner{"one ephemeral node", func(t testing.TB, c backend.Config, key string) func() {
	conn := zooKeeperAt(t, c)
	for i := 1; i < len(key); i++ {
		if key[i] == '/' {
			if _, err := conn.Create(key[:i], nil, 0, zk.WorldACL(zk.PermAll)); err != nil && err != zk.ErrNodeExists {
				t.Fatal(err)
			}
		}
	}
	_, err := conn.Create(key, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	if err == zk.ErrNodeExists {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := conn.Delete(key, -1); err != nil {
			t.Errorf("our node was taken away: %v", err)
		}
	}
}}

func etcdAt(t testing.TB, c backend.Config) *clientv3.Client {
	e, err := clientv3.New(clientv3.Config{Endpoints: c.EtcdEndpoints, DialTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

var concurrencyMutex = foreigner{"concurrency.Mutex", func(t testing.TB, c backend.Config, key string) func() {
	s, err := concurrency.NewSession(etcdAt(t, c))
	if err != nil {
		t.Fatal(err)
	}
	m := concurrency.NewMutex(s, key)
	err = m.TryLock(t.Context())
	if err != nil {
		s.Close()
		if err != concurrency.ErrLocked {
			t.Fatal(err)
		}
		return nil
	}
	return func() {
		if err := m.Unlock(t.Context()); err != nil {
			t.Errorf("our lock was taken away: %v", err)
		}
		s.Close()
	}
}}

// etcdctl is the program, from Debian's etcd-client or etcd's own releases.
var etcdctl = foreigner{"etcdctl lock", func(t testing.TB, c backend.Config, key string) func() {
	path, err := exec.LookPath("etcdctl")
	if err != nil {
		t.Fatalf("this test needs etcdctl: run seckill deps --tests (%v)", err)
	}
	e := etcdAt(t, c)
	cmd := exec.Command(path, "--endpoints", strings.Join(c.EtcdEndpoints, ","), "lock", key)
	cmd.Env = append(cmd.Environ(), "ETCDCTL_API=3")
	cmd.SysProcAttr = labtest.Together()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
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
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return inTheQueue(t, got, func() int {
		r, err := e.Get(t.Context(), key+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil {
			t.Fatal(err)
		}
		return int(r.Count)
	}, end, end)
}}

var oneKey = foreigner{"one key", func(t testing.TB, c backend.Config, key string) func() {
	e := etcdAt(t, c)
	lease, err := e.Grant(t.Context(), 60)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Txn(t.Context()).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, "foreign", clientv3.WithLease(lease.ID))).Commit()
	if err != nil {
		t.Fatal(err)
	}
	if !r.Succeeded {
		return nil
	}
	return func() {
		if r, err := e.Delete(t.Context(), key); err != nil || r.Deleted != 1 {
			t.Errorf("our key was taken away: %+v, %v", r, err)
		}
	}
}}

// mysqlAt is a session of a plain client.
func mysqlAt(t testing.TB, c backend.Config) *sql.Conn {
	db, err := sql.Open("mysql", c.MySQLDSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func does(t testing.TB, conn *sql.Conn, query string, args ...any) (rows int64) {
	t.Helper()
	r, err := conn.ExecContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	rows, _ = r.RowsAffected()
	return rows
}

var getLock = foreigner{"GET_LOCK", func(t testing.TB, c backend.Config, key string) func() {
	conn := mysqlAt(t, c)
	got := 0
	if err := conn.QueryRowContext(t.Context(), "SELECT GET_LOCK(?, 0)", key).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if got == 0 {
		return nil
	}
	return func() {
		if err := conn.QueryRowContext(t.Context(), "SELECT RELEASE_LOCK(?)", key).Scan(&got); err != nil || got != 1 {
			t.Errorf("our lock was taken away: %d, %v", got, err)
		}
	}
}}

// tables is a session after the lock has made its tables.
func tables(t testing.TB, c backend.Config, name string) *sql.Conn {
	cmd := exec.Command("seckill", "lock", name, "tables", "--", "true")
	cmd.Env = append(os.Environ(), inEnvironment(c)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v %s", cmd.Args, err, out)
	}
	return mysqlAt(t, c)
}

var lockedRow = foreigner{"FOR UPDATE", func(t testing.TB, c backend.Config, key string) func() {
	conn := tables(t, c, "lock-row")
	does(t, conn, "SET innodb_lock_wait_timeout = 1")
	does(t, conn, "SET autocommit = 1")
	there := 0
	if err := conn.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM lock_row WHERE name = ?", key).Scan(&there); err != nil {
		t.Fatal(err)
	}
	if there == 0 {
		does(t, conn, "INSERT IGNORE INTO lock_row (name) VALUES (?)", key)
	}
	does(t, conn, "BEGIN")
	name := ""
	if conn.QueryRowContext(context.WithoutCancel(t.Context()), "SELECT name FROM lock_row WHERE name = ? FOR UPDATE", key).Scan(&name) != nil {
		does(t, conn, "ROLLBACK")
		return nil
	}
	return func() { does(t, conn, "COMMIT") }
}}

var insertedRow = foreigner{"INSERT", func(t testing.TB, c backend.Config, key string) func() {
	conn := tables(t, c, "lock-insert")
	if does(t, conn, "INSERT IGNORE INTO distributed_lock (name, owner, expire) VALUES (?, 'foreign', NOW(6) + INTERVAL 60 SECOND)", key) == 0 {
		return nil
	}
	return func() {
		if does(t, conn, "DELETE FROM distributed_lock WHERE name = ? AND owner = 'foreign'", key) != 1 {
			t.Error("our row was taken away")
		}
	}
}}

// lockRecord has one name in B's table; what is locked before it is a matter
// between those who come at the same moment.
var lockRecord = foreigner{"the lock's record", func(t testing.TB, c backend.Config, key string) func() {
	conn := tables(t, c, "lock-table-central")
	does(t, conn, "SET time_zone = '+00:00'")
	does(t, conn, "INSERT IGNORE INTO lock_record (name) VALUES (?)", key)
	if does(t, conn, "UPDATE lock_record SET status = 1, deadline = NOW(6) + INTERVAL 60 SECOND "+
		"WHERE name = ? AND (status <> 1 OR deadline < NOW(6))", key) == 0 {
		return nil
	}
	return func() { does(t, conn, "UPDATE lock_record SET status = 0 WHERE name = ?", key) }
}}
